"""Unit tests of scripts.charts."""
