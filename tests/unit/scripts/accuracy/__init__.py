"""Unit tests of scripts.accuracy."""
