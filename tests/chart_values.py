"""Every value of the chart: name, type, limits, default and help, declared once.

`chart/values.yaml`, its schema and `docs/kubernetes.md` are generated from this file, and
the limits of the settings come from `bundle/settings.py`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.alias_generators import to_camel

from bundle.model import Family
from bundle.settings import Settings

# A whole reference with a tag or digest, or nothing for the bundle's own image.
_Image = Annotated[str, Field(pattern=r"^$|^\S+(:[\w][\w.-]*|@sha256:[0-9a-f]{64})$")]
_Name = Annotated[str, Field(pattern=r"^$|^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$")]
_Count = Annotated[int, Field(ge=1, le=1000)]
_Words = dict[str, str]
_Tree = dict[str, Any]

# Settings that an operator tunes; all others are the chart's own doing.
TUNED = (
    *("weights_format", "dtype", "max_model_len", "max_num_seqs", "memory_utilization"),
    *("tensor_parallel_size", "data_parallel_size", "drain_seconds", "extra_args"),
    *("preset", "probe_interval_seconds"),
)


class Values(BaseModel):
    """Names in camel case, as Helm's are; an unknown one is an error."""

    model_config = ConfigDict(
        extra="forbid",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_default=True,
    )


_fields: _Tree = {
    name: (Settings.model_fields[name].annotation, Settings.model_fields[name])
    for name in TUNED
}
Tuned = create_model(
    "Tuned",
    __base__=Values,
    __doc__="Settings of the server, as docs/configuration.md has them.",
    **_fields,
)


class Images(Values):
    """What is pulled."""

    registry: str = Field(
        "",
        pattern=r"^$|^[\w.:/-]*\w$",
        description="Where the bundle's images lie, as in registry.example.com/team.",
    )
    server: _Image = Field("", description="Unset: REGISTRY/ascend-chat-bundle/server.")
    exporter: _Image = Field("", description="Unset: likewise.")
    smoke: _Image = Field("", description="Unset: likewise.")
    gateway: _Image = Field(
        "docker.io/library/nginx:1.28-bookworm", description="nginx, for the gateway."
    )
    engine: str = Field(
        "0.23.0",
        pattern=r"^\d+\.\d+\.\d+$",
        description="Release of vLLM in the server's image.",
    )
    pull_policy: Literal["Always", "IfNotPresent", "Never"] = Field(
        "IfNotPresent", description="As Kubernetes has it."
    )
    pull_secrets: list[_Name] = Field([], description="Names of Secrets.")


class ModelSource(Values):
    """Which model, and where its weights come from; never from a hub at pod start."""

    name: str = Field("qwen-1_8b-chat", description="Folder in models/.")
    source: Literal["image", "pvc", "oci"] = Field(
        "image", description="image: baked in; pvc and oci use the server-slim image."
    )
    claim: _Name = Field("", description="PersistentVolumeClaim that holds /models.")
    oci: _Image = Field(
        "", description="Image that holds /models, as a volume; Kubernetes 1.31 or newer."
    )


class Npu(Values):
    """What is asked of the device plugin, and the driver's files; not for cpu."""

    resource: str = Field(
        "",
        pattern=r"^$|^[a-z0-9.-]+/[\w.-]+$",
        description="Unset: MindCluster's name for the family. CCE has "
        "huawei.com/ascend-1980; a static vNPU is, say, huawei.com/Ascend310P-2c.",
    )
    count: int = Field(
        0,
        ge=0,
        le=16,
        description="0: as many as the engine spans, tensor by data parallel size.",
    )
    labels: bool = Field(
        default=True, description="Select nodes by MindCluster's labels; CCE has none."
    )
    driver: Literal["mount", "runtime"] = Field(
        "mount", description="runtime: Ascend Docker Runtime mounts most of it."
    )
    npu_smi: str = Field(
        "/usr/local/bin/npu-smi",
        pattern=r"^/[\w./-]+$",
        description="Its place on the node.",
    )


class Nodes(Values):
    """Where pods may run."""

    arch: Literal["", "arm64", "amd64"] = Field("", description="Unset: any.")
    selector: _Words = Field({}, description="More labels that a node must have.")
    tolerations: list[_Tree] = Field([], description="As Kubernetes has them.")


class Stop(Values):
    """A stop: preStop, then the drain, then 15 s in which the engine frees its memory."""

    pre_stop_seconds: int = Field(
        10, ge=0, le=600, description="Time for routers to hear that the pod goes."
    )
    grace_seconds: int = Field(
        60, ge=1, le=7200, description="At least preStopSeconds + drainSeconds + 15."
    )


class Kthena(Values):
    """Kthena's router, installed on its own, which is sent to our pods."""

    namespace: _Name = Field("kthena-system", description="Where its router runs.")


class InferencePool(Values):
    """Gateway API InferencePool; the llm-d endpoint picker is installed on its own."""

    picker: _Name = Field("llm-d-epp", description="Service of the endpoint picker.")
    port: int = Field(9002, ge=1, le=65535, description="Its gRPC port.")


class Gateway(Values):
    """nginx with a key and a rate limit, as in compose.yaml."""

    enabled: bool = Field(default=False, description="Run it.")
    replicas: _Count = Field(1, description="Pods; each counts its own rate limit.")
    key_secret: _Name = Field("", description="Secret whose `api-key` clients must send.")
    tls_secret: _Name = Field("", description="Secret of type tls; unset: plain HTTP.")
    resolver: str = Field(
        "kube-dns.kube-system.svc.cluster.local",
        pattern=r"^[a-zA-Z0-9.:\[\]-]+$",
        description="The cluster's name server.",
    )


class HttpRoute(Values):
    """Gateway API HTTPRoute to the server, or to the InferencePool."""

    enabled: bool = Field(default=False, description="Make it.")
    gateway: _Name = Field("", description="Name of the Gateway.")
    namespace: _Name = Field("", description="Its namespace; its pods run there.")
    hostnames: list[str] = Field([], description="Unset: any.")


class NetworkPolicy(Values):
    """Who reaches the server: gateway, router, Prometheus, smoke test, and these."""

    enabled: bool = Field(default=True, description="Also refuse every way out.")
    prometheus: list[_Tree] = Field(
        [
            {
                "namespaceSelector": {
                    "matchLabels": {"kubernetes.io/metadata.name": "monitoring"}
                }
            }
        ],
        description="Peers that read metrics.",
    )
    clients: list[_Tree] = Field([], description="Peers that ask the model directly.")


class Keda(Values):
    """Replicas by the queue, summed over all pods; never by CPU."""

    enabled: bool = Field(default=False, description="Make a ScaledObject.")
    min_replicas: _Count = Field(1, description="Not 0: a queue needs a pod.")
    max_replicas: _Count = Field(4, description="Cards that it may take.")
    waiting: int = Field(4, ge=1, description="Queued requests for one replica more.")
    running: int = Field(
        24, ge=1, description="Running requests that keep one replica; see scale.md."
    )
    prometheus: str = Field(
        "http://prometheus-operated.monitoring:9090",
        pattern=r"^https?://\S+$",
        description="Where KEDA asks.",
    )
    fallback_replicas: _Count = Field(
        2, description="Replicas while Prometheus does not answer."
    )


class Monitoring(Values):
    """For the Prometheus operator and Grafana's sidecar."""

    pod_monitor: bool = Field(default=False, description="Scrape engine and exporter.")
    rules: bool = Field(default=False, description="The model's alerts.")
    dashboards: bool = Field(default=False, description="As a ConfigMap.")
    labels: _Words = Field({}, description="By which the operator finds them.")


class Chart(Values):
    """All values of the chart."""

    family: Family = Field(
        "atlas-a2", description="What computes; cpu needs no NPU and serves a demo."
    )
    replicas: int = Field(
        1, ge=0, le=1000, description="Pods; not read where keda.enabled."
    )
    doctor: bool = Field(
        default=True, description="Check node, card and model before the server starts."
    )
    settings: Tuned = Tuned()
    env: _Words = Field({}, description="More environment of the engine; no secrets.")
    model: ModelSource = ModelSource()
    images: Images = Images()
    npu: Npu = Npu()
    nodes: Nodes = Nodes()
    runtime_class: _Name = Field("", description="RuntimeClass of the server's pods.")
    volcano: bool = Field(
        default=False, description="Let Volcano place the pods, as MindCluster has it."
    )
    resources: _Tree = Field(
        {}, description="CPU and memory of the server; unset: by family."
    )
    shm_size: str = Field(
        "1Gi", pattern=r"^\d+(Mi|Gi)$", description="Shared memory between processes."
    )
    cache_claim: _Name = Field(
        "", description="PersistentVolumeClaim of the compile cache; unset: per pod."
    )
    startup_seconds: int = Field(
        900, ge=900, le=7200, description="Until a first answer; a cold start compiles."
    )
    stop: Stop = Stop()
    pod_labels: _Words = Field({}, description="More labels of the server's pods.")
    pod_annotations: _Words = Field({}, description="More annotations of them.")
    router: Literal["none", "kthena", "inferencepool"] = Field(
        "none", description="Which existing router spreads requests; none: the Service."
    )
    kthena: Kthena = Kthena()
    inference_pool: InferencePool = InferencePool()
    gateway: Gateway = Gateway()
    http_route: HttpRoute = HttpRoute()
    network_policy: NetworkPolicy = NetworkPolicy()
    keda: Keda = Keda()
    monitoring: Monitoring = Monitoring()
