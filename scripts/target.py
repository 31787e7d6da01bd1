"""The server that a command works on: asked first, so that a dead one ends it at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bundle import served_by
from bundle.errors import CouldNotRun, Problem
from bundle.note import note_or_none
from bundle.served_by import ServedBy

if TYPE_CHECKING:
    from bundle.api import Server
    from bundle.settings import Settings


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


def on_card(settings: Settings) -> bool:
    """Whether the server beside us runs on a card; one elsewhere does not tell."""
    served = note_or_none(settings.run_dir / served_by.FILE, ServedBy)
    return served is not None and served.on_card
