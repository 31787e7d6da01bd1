"""The doctor: whether this host can serve, and why an engine died."""
