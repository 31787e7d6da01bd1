"""All rules of one model in the file that Prometheus reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from monitoring.rules import engine, monitoring, npu, slo
from monitoring.rules.form import dump, group

if TYPE_CHECKING:
    from bundle.model import Model
    from monitoring.rules.form import Alert

_HEAD = """\
# Written by `make generate` from models/{name}/model.yaml and monitoring/rules/*.py.
"""


def text(model: Model) -> str:
    """Give the file: what is recorded first, since the alerts read it."""
    return _HEAD.format(name=model.name) + dump(
        [
            group("slo", [*slo.records(model), *slo.alerts(model)]),
            group("engine", engine.alerts(model)),
            group("npu", [*npu.records(), *npu.alerts(model)]),
            group("monitoring", monitoring.alerts()),
        ]
    )


def alerts(model: Model) -> list[Alert]:
    """Give every alert."""
    return [
        *slo.alerts(model),
        *engine.alerts(model),
        *npu.alerts(model),
        *monitoring.alerts(),
    ]
