"""Unit tests of bundle."""
