"""Pure functions by equality."""
