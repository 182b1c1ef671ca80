"""A live session whose retrieval takes five seconds."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from statistics import quantiles

import pytest

from quoth.live.queue import MAX_WAITING
from quoth.pipeline.live_session import LiveSession
from quoth.store.lectures import Lectures
from tests.support.counting import resident_mb
from tests.support.failing_backends import SlowEmbedder
from tests.support.lectures import TOPICS, spoken, write_book
from tests.support.small_library import add, open_tour

pytestmark = [pytest.mark.soak, pytest.mark.timed]

ACKNOWLEDGED_S = 0.05
MAX_GROWTH_MB = 5.0
"""The transcript itself and its windows, of 450 segments."""


async def test_segments_are_acknowledged_at_once_however_slow_retrieval_is(tmp_path: Path) -> None:
    async with open_tour(tmp_path / "home") as engine:
        await add(engine, write_book(tmp_path / "sources"))
        slow = replace(engine.parts, embedder=SlowEmbedder(5.0))
        lecture = Lectures.of(engine.parts.catalogue).start(title="", collections=["default"])
        session = LiveSession(slow, lecture)
        waits, longest, sizes = [], 0, []
        lectured = spoken(*tuple(TOPICS) * 50)
        for number, segment in enumerate(lectured):
            if number % (len(lectured) // 4) == 0:
                sizes.append(resident_mb())
            began = time.perf_counter()
            await session.push([segment])
            waits.append(time.perf_counter() - began)
            longest = max(longest, session.waiting)
        sizes.append(resident_mb())
        await session.stop()
        stored = session.store.segments(lecture.session_id)
    assert len(stored) == len(waits)
    assert longest <= MAX_WAITING
    assert sizes[-1] - sizes[1] <= MAX_GROWTH_MB, sizes
    assert quantiles(waits, n=100)[-1] <= ACKNOWLEDGED_S
