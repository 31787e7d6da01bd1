"""Unit tests of bundle.causes."""
