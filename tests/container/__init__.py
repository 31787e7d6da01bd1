"""The images, built and run by a real Docker."""
