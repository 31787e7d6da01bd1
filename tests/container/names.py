"""What the tests call the stack and its parts; addresses as an operator has them."""

from __future__ import annotations

from tests.container.engine import COMPOSE

URL = "http://127.0.0.1:8000"
PROMETHEUS = "http://127.0.0.1:9090/api/v1"
MODEL = "smollm2-135m-instruct"
STACK = [COMPOSE, "-f", "compose.yaml", "-f", "compose.cpu.yaml", "-p", "bundle-test"]
# All but Grafana, of which Debian has no package; its files are checked as files.
SERVICES = ("server", "exporter", "prometheus", "alertmanager", "gateway")
JOBS = {"engine", "exporter", "prometheus", "alertmanager"}
GATEWAY = "http://127.0.0.1:8443"
KEY = "sk-.test+Key/0123456789="
IMAGES = {
    "SERVER_IMAGE": "bundle-test/server",
    "EXPORTER_IMAGE": "bundle-test/exporter",
    "SMOKE_IMAGE": "bundle-test/smoke",
    "PROMETHEUS_IMAGE": "bundle-test/prometheus",
    "ALERTMANAGER_IMAGE": "bundle-test/alertmanager",
    "GATEWAY_IMAGE": "bundle-test/nginx",
}
