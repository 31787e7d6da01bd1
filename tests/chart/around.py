"""Values of what is around the server: routers, doors, policy, scaling, monitoring."""

from __future__ import annotations

from pydantic import Field

from tests.chart.form import Count, Name, Tree, Values, Words


class Kthena(Values):
    """Kthena's router, installed on its own, which is sent to our pods."""

    namespace: Name = Field("kthena-system", description="Where its router runs.")


class InferencePool(Values):
    """Gateway API InferencePool; the llm-d endpoint picker is installed on its own."""

    picker: Name = Field("llm-d-epp", description="Service of the endpoint picker.")
    port: int = Field(9002, ge=1, le=65535, description="Its gRPC port.")


class Gateway(Values):
    """nginx with a key and a rate limit, as in compose.yaml."""

    enabled: bool = Field(default=False, description="Run it.")
    replicas: Count = Field(1, description="Pods; each counts its own rate limit.")
    key_secret: Name = Field("", description="Secret whose `api-key` clients must send.")
    tls_secret: Name = Field("", description="Secret of type tls; unset: plain HTTP.")
    resolver: str = Field(
        "kube-dns.kube-system.svc.cluster.local",
        pattern=r"^[a-zA-Z0-9.:\[\]-]+$",
        description="The cluster's name server.",
    )


class HttpRoute(Values):
    """Gateway API HTTPRoute to the server, or to the InferencePool."""

    enabled: bool = Field(default=False, description="Make it.")
    gateway: Name = Field("", description="Name of the Gateway.")
    namespace: Name = Field("", description="Its namespace; its pods run there.")
    hostnames: list[str] = Field([], description="Unset: any.")


class NetworkPolicy(Values):
    """Who reaches the server: gateway, router, Prometheus, smoke test, and these."""

    enabled: bool = Field(default=True, description="Also refuse every way out.")
    prometheus: list[Tree] = Field(
        [
            {
                "namespaceSelector": {
                    "matchLabels": {"kubernetes.io/metadata.name": "monitoring"}
                }
            }
        ],
        description="Peers that read metrics.",
    )
    clients: list[Tree] = Field([], description="Peers that ask the model directly.")


class Keda(Values):
    """Replicas by the queue, summed over all pods; never by CPU."""

    enabled: bool = Field(default=False, description="Make a ScaledObject.")
    min_replicas: Count = Field(1, description="Not 0: a queue needs a pod.")
    max_replicas: Count = Field(4, description="Cards that it may take.")
    waiting: int = Field(4, ge=1, description="Queued requests for one replica more.")
    running: int = Field(
        24, ge=1, description="Running requests that keep one replica; see scale.md."
    )
    prometheus: str = Field(
        "http://prometheus-operated.monitoring:9090",
        pattern=r"^https?://\S+$",
        description="Where KEDA asks.",
    )
    fallback_replicas: Count = Field(
        2, description="Replicas while Prometheus does not answer."
    )


class Monitoring(Values):
    """For the Prometheus operator and Grafana's sidecar."""

    pod_monitor: bool = Field(default=False, description="Scrape engine and exporter.")
    rules: bool = Field(default=False, description="The model's alerts.")
    dashboards: bool = Field(default=False, description="As a ConfigMap.")
    labels: Words = Field({}, description="By which the operator finds them.")
