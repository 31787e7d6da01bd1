"""The server that a command works on: asked first, so that a dead one ends it at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bundle.errors import CouldNotRun, Problem

if TYPE_CHECKING:
    from bundle.api import Server


def require_model(server: Server, name: str) -> list[str]:
    """Give the names the server serves; raises `CouldNotRun` if `name` is not one."""
    served = server.served_models()
    if name not in served:
        raise CouldNotRun(
            Problem(
                f"{server.url} serves {', '.join(served) or 'nothing'}, not {name}",
                "set BUNDLE_MODEL or BUNDLE_SERVER_URL so that they belong together",
            )
        )
    return served
