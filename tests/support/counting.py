"""Figures that tests read or take: samples of `/metrics`, and the growth of a processing time."""

from __future__ import annotations

import time
from collections.abc import Callable


def samples(text: str) -> dict[str, float]:
    """Return the samples of `/metrics` by name and labels as they are written."""
    pairs = (line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, value in pairs}


def is_proportional(work: Callable[[str], object], text: str) -> bool:
    """Whether a text takes at most three times as long as six times a sixth of it.

    Time of the processor, so that a busy machine makes no difference. A quadratic growth would
    take 36 times as long as the sixth.
    """

    def seconds(part: str) -> float:
        start = time.process_time()
        work(part)
        return time.process_time() - start

    small = min(seconds(text[: len(text) // 6]) for _ in range(2))
    return seconds(text) <= 6 * 3 * small + len(text) / 600_000
