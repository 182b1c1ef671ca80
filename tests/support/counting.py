"""Figures that tests read or take: samples of `/metrics`, growth of a processing time, memory."""

from __future__ import annotations

import ctypes
import gc
import os
import time
from collections.abc import Callable
from pathlib import Path


def samples(text: str) -> dict[str, float]:
    """Return the samples of `/metrics` by name and labels as they are written."""
    pairs = (line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, value in pairs}


def is_proportional(work: Callable[[str], object], text: str) -> bool:
    """Whether a text takes at most three times as long as six times a sixth of it.

    Processor time of this thread, and the best of three, so that other work and a collection of
    garbage make no difference. A quadratic growth would take 36 times as long as the sixth.
    """

    def seconds(part: str) -> float:
        start = time.thread_time()
        work(part)
        return time.thread_time() - start

    small = min(seconds(text[: len(text) // 6]) for _ in range(2))
    limit = 6 * 3 * small + len(text) / 600_000
    return any(seconds(text) <= limit for _ in range(3))


def resident_mb() -> float:
    """What is in use: what the allocator only keeps for later is given back first.

    Pages of mapped files, such as stored vectors, are not counted: the system takes them back.
    """
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    _size, resident, mapped, *_ = map(int, Path("/proc/self/statm").read_text().split())
    return (resident - mapped) * os.sysconf("SC_PAGE_SIZE") / (1 << 20)
