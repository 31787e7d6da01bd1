"""Tests, by tier: unit, process, monitoring, container, device."""
