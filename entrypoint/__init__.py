"""From container start to a running server."""
