"""Write the files that are derived from code; `--check` fails if one is stale."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bundle.model import load_model
from bundle.settings import Settings, variable
from monitoring.dashboards import files
from monitoring.rules import file
from tests.chart import generate as chart
from tests.generate_metrics import metrics

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic.fields import FieldInfo

ROOT = Path(__file__).parents[1]


def env_example() -> str:
    """Give `.env.example`: every setting with its default, none set."""
    lines = ["# Every setting, none of them set. Written by `make generate`."]
    for name, field in Settings.model_fields.items():
        lines += ["", f"# {field.description}", f"#{variable(name)}={_default(field)}"]
    return "\n".join(lines) + "\n"


def configuration() -> str:
    """Give `docs/configuration.md`: a table of all settings."""
    lines = [
        "# Configuration",
        "",
        "Environment variables, read once at the start; an unknown one is an error.",
        "Written by `make generate` from `bundle/settings.py`.",
        "",
        "| variable | default | what it is for |",
        "|---|---|---|",
    ]
    for name, field in Settings.model_fields.items():
        default = f"`{_default(field)}`" if _default(field) else "(unset)"
        lines.append(f"| `{variable(name)}` | {default} | {field.description} |")
    return "\n".join(lines) + "\n"


def rules() -> dict[str, Callable[[], str]]:
    """Give a rule file per model."""
    names = (path.parent.name for path in (ROOT / "models").glob("*/model.yaml"))
    models = [load_model(ROOT / "models", name) for name in sorted(names)]
    return {
        f"monitoring/rules/{model.name}.yml": partial(file.text, model)
        for model in models
    }


def dashboards() -> dict[str, Callable[[], str]]:
    """Give a file per dashboard."""
    folder = "monitoring/grafana/provisioning/dashboards"
    return {f"{folder}/{name}": partial(files.text, name) for name in files.DASHBOARDS}


FILES: dict[str, Callable[[], str]] = {
    ".env.example": env_example,
    "chart/files/facts.yaml": chart.facts,
    "chart/values.yaml": chart.values,
    "chart/values.schema.json": chart.schema,
    "docs/configuration.md": configuration,
    "docs/kubernetes.md": chart.page,
    "docs/metrics.md": metrics,
    **rules(),
    **dashboards(),
}


def main(*, check: bool) -> int:
    """Write or check every file; 1 if one is stale."""
    stale = [
        name
        for name, text in FILES.items()
        if not (ROOT / name).exists() or (ROOT / name).read_text() != text()
    ]
    for name in stale:
        if not check:
            (ROOT / name).write_text(FILES[name]())
        print(f"{name} {'is stale: run `make generate`' if check else 'written'}")
    return int(check and bool(stale))


def _default(field: FieldInfo) -> str:
    default = field.default
    if isinstance(default, Path):
        return "models" if default.is_relative_to(ROOT) else str(default)
    return "" if default is None else str(default).replace("False", "false")


if __name__ == "__main__":
    sys.exit(main(check="--check" in sys.argv))
