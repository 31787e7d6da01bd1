"""These tests need Debian's prometheus and prometheus-alertmanager."""

from __future__ import annotations

import shutil

import pytest

NEEDED = ("prometheus", "prometheus-alertmanager")


@pytest.fixture(autouse=True)
def _daemons() -> None:
    if missing := [name for name in NEEDED if not shutil.which(name)]:
        pytest.skip(f"not installed: {', '.join(missing)} (Debian packages)")
