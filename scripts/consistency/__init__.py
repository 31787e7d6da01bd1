"""Whether a deployment answers as a reference does, token by token and by meaning."""
