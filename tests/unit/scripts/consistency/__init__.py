"""Unit tests of scripts.consistency."""
