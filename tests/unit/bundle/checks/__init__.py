"""Unit tests of scripts.up."""
