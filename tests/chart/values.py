"""Every value of the chart: name, type, limits, default and help, declared once.

`chart/values.yaml`, its schema and `docs/kubernetes.md` are generated from this folder,
and the limits of the settings come from `bundle/settings.py`.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, create_model

from bundle.model import Family
from bundle.settings import Settings
from tests.chart.around import (
    Gateway,
    HttpRoute,
    InferencePool,
    Keda,
    Kthena,
    Monitoring,
    NetworkPolicy,
)
from tests.chart.form import Image, Name, Tree, Values, Words

# Settings that an operator tunes; all others are the chart's own doing.
TUNED = (
    *("weights_format", "dtype", "max_model_len", "max_num_seqs", "memory_utilization"),
    *("tensor_parallel_size", "data_parallel_size", "drain_seconds", "extra_args"),
    *("preset", "probe_interval_seconds"),
)


_fields: Tree = {
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
    server: Image = Field("", description="Unset: REGISTRY/ascend-chat-bundle/server.")
    exporter: Image = Field("", description="Unset: likewise.")
    smoke: Image = Field("", description="Unset: likewise.")
    gateway: Image = Field(
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
    pull_secrets: list[Name] = Field([], description="Names of Secrets.")


class ModelSource(Values):
    """Which model, and where its weights come from; never from a hub at pod start."""

    name: str = Field("qwen-1_8b-chat", description="Folder in models/.")
    source: Literal["image", "pvc", "oci"] = Field(
        "image", description="image: baked in; pvc and oci use the server-slim image."
    )
    claim: Name = Field("", description="PersistentVolumeClaim that holds /models.")
    oci: Image = Field(
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
    selector: Words = Field({}, description="More labels that a node must have.")
    tolerations: list[Tree] = Field([], description="As Kubernetes has them.")


class Stop(Values):
    """A stop: preStop, then the drain, then 15 s in which the engine frees its memory."""

    pre_stop_seconds: int = Field(
        10, ge=0, le=600, description="Time for routers to hear that the pod goes."
    )
    grace_seconds: int = Field(
        60, ge=1, le=7200, description="At least preStopSeconds + drainSeconds + 15."
    )


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
    env: Words = Field({}, description="More environment of the engine; no secrets.")
    model: ModelSource = ModelSource()
    images: Images = Images()
    npu: Npu = Npu()
    nodes: Nodes = Nodes()
    runtime_class: Name = Field("", description="RuntimeClass of the server's pods.")
    volcano: bool = Field(
        default=False, description="Let Volcano place the pods, as MindCluster has it."
    )
    resources: Tree = Field(
        {}, description="CPU and memory of the server; unset: by family."
    )
    shm_size: str = Field(
        "1Gi", pattern=r"^\d+(Mi|Gi)$", description="Shared memory between processes."
    )
    cache_claim: Name = Field(
        "", description="PersistentVolumeClaim of the compile cache; unset: per pod."
    )
    startup_seconds: int = Field(
        900, ge=900, le=7200, description="Until a first answer; a cold start compiles."
    )
    stop: Stop = Stop()
    pod_labels: Words = Field({}, description="More labels of the server's pods.")
    pod_annotations: Words = Field({}, description="More annotations of them.")
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
