"""A live session with two hundred viewers, and one whose retrieval takes five seconds."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import quantiles

import httpx
import pytest

from bench.service import service
from quoth.bootstrap import open_engine
from quoth.core.lecture import TranscriptSegment
from quoth.core.settings import Settings
from quoth.pipeline.live_session import MAX_WAITING, LiveSession
from quoth.store.lectures import Lectures
from quoth.testing import SlowEmbedder
from tests.support.lectures import TOPICS, spoken, write_book
from tests.support.small_library import add, open_tour

pytestmark = pytest.mark.soak

VIEWERS, SEGMENTS = 200, 30
TITLES = tuple(TOPICS)
DELIVERED_S, ACKNOWLEDGED_S = 0.1, 0.05


async def _view(client: httpx.AsyncClient, session: str) -> list[tuple[str, float]]:
    """Return the data of every event, and when it came."""
    events = []
    async with client.stream("GET", f"/v1/sessions/{session}/events") as stream:
        assert stream.status_code == 200
        async for line in stream.aiter_lines():
            if line.startswith("data: "):
                events.append((line[6:], time.perf_counter()))
    return events


def _sent(segment: TranscriptSegment) -> dict[str, object]:
    names = ("segment_id", "start", "end", "text")
    return {name: getattr(segment, name) for name in names}


async def test_two_hundred_viewers_get_every_event_at_once(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    async with open_engine(Settings(home=tmp_path / "home", embedder="fake")) as engine:
        async for _ in engine.add([write_book(tmp_path / "sources")]):
            pass
    limits = httpx.Limits(max_connections=None)
    async with (
        service(tmp_path / "home", settings={"QUOTH_EMBEDDER": "fake"}) as (port, _pid),
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60, limits=limits) as client,
    ):
        made = await client.post("/v1/sessions", json={"collections": ["default"]})
        session = made.json()["session_id"]
        viewers = [asyncio.create_task(_view(client, session)) for _ in range(VIEWERS)]
        await asyncio.sleep(3)  # all of them are connected
        began = {}
        for segment in spoken(*(TITLES * 3)[:SEGMENTS]):
            began[segment.segment_id] = time.perf_counter()
            sent = await client.post(
                f"/v1/sessions/{session}/segments", json={"segments": [_sent(segment)]}
            )
            assert sent.status_code == 202
            await asyncio.sleep(0.3)
        await client.post(f"/v1/sessions/{session}/end")
        views = await asyncio.gather(*viewers)
    first = [data for data, _at in views[0]]
    assert all([data for data, _at in view] == first for view in views)
    waits = []
    for view in views:
        for data, at in view:
            event = json.loads(data)
            if event["event"] == "segment":
                waits.append(at - began[event["segment"]["segment_id"]])
    assert len(waits) == VIEWERS * SEGMENTS
    p95 = quantiles(waits, n=20)[-1]
    record_property("delivered_p95_ms", p95 * 1000)
    assert p95 <= DELIVERED_S


async def test_segments_are_acknowledged_at_once_however_slow_retrieval_is(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    async with open_tour(tmp_path / "home") as engine:
        await add(engine, write_book(tmp_path / "sources"))
        slow = replace(engine.parts, embedder=SlowEmbedder(5.0))
        lecture = Lectures.of(engine.parts.catalogue).start(title="", collections=["default"])
        session = LiveSession(slow, lecture)
        waits, longest = [], 0
        for segment in spoken(*TITLES * 50):
            began = time.perf_counter()
            await session.push([segment])
            waits.append(time.perf_counter() - began)
            longest = max(longest, session.waiting)
        await session.stop()
        stored = session.store.segments(lecture.session_id)
    p99 = quantiles(waits, n=100)[-1]
    record_property("acknowledged_p99_ms", p99 * 1000)
    assert len(stored) == len(waits)
    assert longest <= MAX_WAITING
    assert p99 <= ACKNOWLEDGED_S
