"""Weights: fetch, verify, convert to the native layout."""
