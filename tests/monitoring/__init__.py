"""End to end: real Prometheus and Alertmanager over a server whose truth is known."""
