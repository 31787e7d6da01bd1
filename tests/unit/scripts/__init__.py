"""Unit tests of scripts."""
