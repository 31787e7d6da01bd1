"""Unit tests of entrypoint."""
