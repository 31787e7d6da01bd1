"""The status page at `/`: for a person without Grafana."""
