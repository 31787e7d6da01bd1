"""Tests of the chart."""
