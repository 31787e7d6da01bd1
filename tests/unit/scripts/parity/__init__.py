"""Tests of scripts.parity."""
