"""All checks, with the settings that a start here would have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bundle.api import server
from bundle.checks import container, engine, fit, start
from bundle.checks.finding import Check, failure
from bundle.checks.start import Start
from bundle.checks.table import BARE_HOST
from bundle.checks.world import World
from bundle.errors import BundleError
from bundle.host import device_family
from bundle.model import load_model
from bundle.settings import load
from scripts.doctor.examine import Result, examine, result

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bundle.settings import Settings

HERE = (*BARE_HOST, *container.CHECKS)
OF_A_START = (*start.CHECKS, *fit.CHECKS, *engine.CHECKS)
SETTINGS = Check("settings", lambda _: ())


def examine_all(environ: Mapping[str, str]) -> tuple[World, list[Result]]:
    """Check this host and the start; without good settings the host alone."""
    try:
        world = _start(environ)
    except BundleError as error:
        wrong = [failure(p.what, p.remedy) for p in error.problems]
        bare = World(environ)
        results = examine(HERE, bare)
        return bare, [*results, *(result(SETTINGS, one) for one in wrong)]
    return world, examine((*HERE, *OF_A_START), world)


def _start(environ: Mapping[str, str]) -> Start:
    settings = load(environ)
    model = load_model(settings.models_dir, settings.model)
    family = device_family(settings)
    return Start(
        environ,
        settings=settings,
        model=model,
        family=family,
        hashes=False,
        is_up=_is_up(settings),
    )


def _is_up(settings: Settings) -> bool:
    """Whether an engine answers; 200 for /health would come from any server."""
    return server(settings, timeout=3).version() is not None
