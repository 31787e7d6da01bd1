"""Unit tests of scripts.benchmark."""
