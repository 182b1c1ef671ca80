"""Reads what `/metrics` says."""

from __future__ import annotations


def samples(text: str) -> dict[str, float]:
    """Give the samples by name and labels as they are written."""
    pairs = (line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, value in pairs}
