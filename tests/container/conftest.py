"""The images, built once, and the stack, brought up once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.container.engine import (
    alone,
    build,
    build_stand_ins,
    daemon,
    good,
    python_base,
)
from tests.container.names import IMAGES, KEY, SERVICES, STACK

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def images() -> Iterator[dict[str, str]]:
    """Build everything that is shipped, once."""
    with alone(), daemon() as why_not:
        if why_not:
            pytest.skip(why_not)
        base = python_base()
        build_stand_ins(base)
        yield {
            "server": build("server", base, WARM="1"),
            **{name: build(name, base) for name in ("exporter", "smoke")},
        }


@pytest.fixture(scope="session")
def stack(
    images: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, str]]:
    """Bring the stack up, and down again with its volumes."""
    key = tmp_path_factory.mktemp("key") / "key"
    key.write_text(f"{KEY}\n")
    key.chmod(0o444)  # the gateway is uid 1000, the tests may be anybody
    environ = {**IMAGES, "GATEWAY_KEY_FILE": str(key)}
    good(*STACK, "up", "--wait", "--wait-timeout", "900", *SERVICES, **environ)
    yield images
    good(*STACK, "--profile", "gateway", "down", "--volumes", **environ)
