"""Values that cannot work are refused when they are rendered, in a sentence."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import helm_python
import pytest

from tests.fixtures.chart import CHART, EXAMPLES, Json, render

if TYPE_CHECKING:
    from pathlib import Path

KEDA: Json = {"enabled": True}
REFUSED: list[tuple[Json, str]] = [
    ({"router": ["kthena", "inferencepool"]}, "/router"),
    ({"router": "both"}, "value must be one of 'none', 'kthena', 'inferencepool'"),
    (
        {"router": "kthena", "gateway": {"enabled": True, "keySecret": "k"}},
        "gateway.enabled would pass by the router kthena: enable only one",
    ),
    (
        {"router": "kthena", "httpRoute": {"enabled": True, "gateway": "g"}},
        "httpRoute.enabled would pass by the router kthena: route to Kthena's own",
    ),
    ({"router": "inferencepool"}, "nothing leads to it: set httpRoute.enabled to true"),
    ({"replicas": 0}, "nothing would ever serve: set replicas to 1 or more"),
    ({"family": "atlas-a9"}, "value must be one of 'cpu', 'atlas-a2', 'atlas-a3'"),
    (
        {"stop": {"graceSeconds": 54}},
        "preStopSeconds, drainSeconds and 15 s of ending need 55: set it to 55 or more",
    ),
    ({"settings": {"drainSeconds": 36}}, "need 61"),
    ({"gateway": {"apiKey": "sk-1"}}, "additional properties 'apiKey' not allowed"),
    ({"settings": {"apiKey": "sk-1"}}, "additional properties 'apiKey' not allowed"),
    ({"gateway": {"keySecret": "sk-.test+Key/0123="}}, "/gateway/keySecret"),
    ({"settings": {"extraArgs": "--api-key sk-1"}}, "settings.extraArgs holds a key"),
    ({"env": {"VLLM_API_KEY": "sk-1"}}, "env.VLLM_API_KEY would be a secret in plain"),
    ({"env": {"BUNDLE_DTYPE": "auto"}}, "env.BUNDLE_DTYPE is a setting: set it under"),
    (
        {"family": "atlas-310p", "settings": {"dtype": "bfloat16"}},
        "settings.dtype is bfloat16, which atlas-310p cannot compute",
    ),
    (
        {"settings": {"weightsFormat": "original"}, "images": {"engine": "0.24.0"}},
        "settings.weightsFormat is original, which vLLM 0.24.0 no longer loads",
    ),
    (
        {"settings": {"weightsFormat": "original"}},
        "the image has the native weights only: set it to native, or mount weights",
    ),
    (
        {"family": "atlas-310p", "settings": {"preset": "reference"}},
        "settings.preset is reference, which is bfloat16, which atlas-310p cannot",
    ),
    ({"images": {"engine": "main"}}, "/images/engine"),
    ({"model": {"name": "qwen-7b"}}, "models/ has qwen-1_8b-chat, smollm2-135m-instruct"),
    (
        {"model": {"name": "smollm2-135m-instruct"}},
        "models/smollm2-135m-instruct/model.yaml has no serving for the family atlas-a2",
    ),
    ({"model": {"source": "pvc"}}, "name the claim by model.claim"),
    ({"model": {"source": "oci"}}, "name the image by model.oci"),
    ({"settings": {"tensorParallelSize": 3}}, "it must be 1, 2, 4 or 8"),
    (
        {"npu": {"count": 1}, "settings": {"dataParallelSize": 2}},
        "npu.count is 1, and tensorParallelSize by dataParallelSize needs 2",
    ),
    ({"keda": KEDA}, "Prometheus would not know the queue"),
    (
        {"keda": {**KEDA, "minReplicas": 5}, "monitoring": {"podMonitor": True}},
        "keda.minReplicas is 5, more than keda.maxReplicas 4",
    ),
    ({"gateway": {"enabled": True}}, "gateway.enabled is true without a key"),
    ({"httpRoute": {"enabled": True}}, "name the Gateway by httpRoute.gateway"),
    ({"family": "cpu", "volcano": True}, "volcano is for NPUs"),
    ({"images": {"server": "registry.example.com/server"}}, "/images/server"),
    ({"startupSeconds": 60}, "minimum: got 60, want 900"),
    ({"settings": {"memoryUtilization": 0.99}}, "maximum: got 0.99, want 0.95"),
    ({"replica": 2}, "additional properties 'replica' not allowed"),
]


@pytest.mark.parametrize(("values", "sentence"), REFUSED, ids=str)
def test_it_is_refused_in_a_sentence(values: Json, sentence: str) -> None:
    with pytest.raises(helm_python.HelmError) as refused:
        render(values)

    assert sentence in str(refused.value)


def test_a_service_called_vllm_is_refused() -> None:
    with pytest.raises(helm_python.HelmError, match="a Service called vllm"):
        render({}, release="vllm")


def test_all_problems_are_told_at_once() -> None:
    with pytest.raises(helm_python.HelmError) as refused:
        render({"replicas": 0, "stop": {"graceSeconds": 1}, "model": {"source": "pvc"}})

    for word in ("replicas is 0", "stop.graceSeconds is 1", "model.claim"):
        assert word in str(refused.value)


def test_an_image_volume_is_refused_where_kubernetes_has_none(tmp_path: Path) -> None:
    """The library renders for one release only, so the limit is moved beyond it."""
    shutil.copytree(CHART, tmp_path / "chart")
    checks = tmp_path / "chart/templates/checks.yaml"
    text = checks.read_text()
    assert "<1.31.0-0" in text
    checks.write_text(text.replace("<1.31.0-0", "<1.99.0-0"))

    with pytest.raises(helm_python.HelmError, match="has no image volumes: use image or"):
        helm_python.Chart.load(tmp_path / "chart").render(EXAMPLES["atlas-950"])
