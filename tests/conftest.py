"""For all tests."""

from __future__ import annotations

from hypothesis import settings

# A deadline for each example tells of a busy machine, and of nothing else.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
