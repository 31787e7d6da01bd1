"""Unit tests of scripts.weights."""
