"""Unit tests of scripts.report."""
