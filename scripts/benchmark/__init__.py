"""Serving benchmark: a client that streams, and numbers with the checks they rest on."""
