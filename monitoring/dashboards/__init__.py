"""Grafana dashboards as code; `make generate` writes their JSON for provisioning."""
