"""`make up`: from a bare host to a served, watched and proven model."""
