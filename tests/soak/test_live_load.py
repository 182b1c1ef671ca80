"""Live sessions under load, with the built default model and a book of 900 pages.

Skipped where the lectures are not beside the repository. The figures are printed (``pytest -s``).
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median, quantiles

import httpx
import pytest

from quoth.bootstrap import open_engine
from quoth.core.lecture import TranscriptSegment
from quoth.core.settings import Settings
from quoth.engine import Engine
from quoth.live.sources import read_transcript
from quoth.pipeline.live_session import LiveSession
from quoth.store.lectures import Lectures
from tests.support.counting import resident_mb
from tests.support.web_app import PROGRAM, environment, serving

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data" / "sicp-lectures"
LECTURES = sorted((DATA / "srt").glob("*.srt"))
VIEWERS = 200
SESSIONS = 30
SECONDS = float(os.environ.get("LIVE_SECONDS", "60"))
"""Seconds for which thirty sessions speak at once."""
HOURS = float(os.environ.get("LIVE_HOURS", "2"))
SPEED = 20.0
pytestmark = [
    pytest.mark.soak,
    pytest.mark.timed,
    pytest.mark.timeout(3000),
    pytest.mark.skipif(not LECTURES, reason="the lectures are not there"),
]


def p95(values: list[float]) -> float:
    return quantiles(values, n=20)[-1]


def say(text: str) -> None:
    print(f"\n{text}; load {os.getloadavg()[0]:.1f}")  # noqa: T201


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library with the book; ``LIVE_HOME`` keeps it for another run."""
    kept = os.environ.get("LIVE_HOME")
    folder = Path(kept) if kept else tmp_path_factory.mktemp("live") / "home"
    env = environment(folder)
    del env["QUOTH_EMBEDDER"], env["QUOTH_CHUNK_TOKENS"]
    subprocess.run([*PROGRAM, "--quiet", "add", str(DATA / "sicp.pdf")], env=env, check=True)
    return folder


@asynccontextmanager
async def opened(home: Path) -> AsyncIterator[Engine]:
    async with open_engine(Settings(home=home)) as engine:
        yield engine


def started(engine: Engine) -> LiveSession:
    lecture = Lectures.of(engine.parts.catalogue).start(title="", collections=["default"])
    return LiveSession(engine.parts, lecture, early=False)


async def waits_of(session: LiveSession) -> list[float]:
    """Seconds from each window to its citations, until the session ends."""
    began: dict[int, float] = {}
    waits = []
    async for _number, event in session.events.read():
        if event.event == "window":
            began[event.window_index] = time.perf_counter()
        elif event.event == "citations" and event.window_index in began:
            waits.append(time.perf_counter() - began.pop(event.window_index))
    return waits


async def test_one_window_after_the_other(home: Path) -> None:
    async with opened(home) as engine:
        session = started(engine)
        watch = asyncio.create_task(waits_of(session))
        for segment in read_transcript(LECTURES[2])[:400]:
            await session.push([segment])
            await session.finish()
        await session.end()
        waits = (await watch)[3:]  # the first ones load models
        await session.stop()
    say(
        f"{len(waits)} windows one by one: p50 {1000 * median(waits):.0f} ms, "
        f"p95 {1000 * p95(waits):.0f} ms (bar 150)"
    )
    assert p95(waits) <= 0.150


async def test_thirty_sessions_at_once(home: Path) -> None:
    async def speak(session: LiveSession, segments: list[TranscriptSegment], late: float) -> None:
        began, first = time.monotonic() + late, segments[0].start
        for segment in segments:
            due = began + segment.end - first
            if due > began + SECONDS:
                break
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            await session.push([segment])
        await session.end()

    async with opened(home) as engine:
        sessions = [started(engine) for _ in range(SESSIONS)]
        watching = [asyncio.create_task(waits_of(each)) for each in sessions]
        speaking = []
        for at, session in enumerate(sessions):
            segments = read_transcript(LECTURES[at % len(LECTURES)])
            later = segments[100 + 20 * (at // len(LECTURES)) :]
            speaking.append(speak(session, later, late=at * 0.4))
        await asyncio.gather(*speaking)
        waits = [wait for each in watching for wait in await each]
        merged = sum(each.merged for each in sessions)
        await asyncio.gather(*(each.stop() for each in sessions))
    say(
        f"{SESSIONS} sessions for {SECONDS:.0f} s: {len(waits)} windows, p50 "
        f"{1000 * median(waits):.0f} ms, p95 {1000 * p95(waits):.0f} ms (bar 500), {merged} merged"
    )
    assert p95(waits) <= 0.500


async def test_two_hours_lose_nothing_and_do_not_grow(home: Path) -> None:
    segments: list[TranscriptSegment] = []
    for file in LECTURES:
        at = segments[-1].end if segments else 0.0
        segments += [
            replace(each, segment_id=f"{file.stem}-{each.segment_id}", start=at + each.start,
                    end=at + each.end)
            for each in read_transcript(file)
        ]  # fmt: skip
    segments = [each for each in segments if each.end <= HOURS * 3600]
    async with opened(home) as engine:
        session = started(engine)
        began, sizes = time.monotonic(), []
        for number, segment in enumerate(segments):
            await asyncio.sleep(max(0.0, began + segment.end / SPEED - time.monotonic()))
            await session.push([segment])
            if number % (len(segments) // 20) == 0:
                sizes.append(resident_mb())
        await session.end()
        late = time.monotonic() - began - segments[-1].end / SPEED
        spoken = [each for each in session.progress.segments.values() if each.text]
        stored = session.store.segments(session.lecture.session_id)
        windows = session.store.windows(session.lecture.session_id)
        await session.stop()
    # Caches fill until then and on: the places of 2,048 chunks (24 MB), encodings (8 MB).
    grown = sizes[-1] - sizes[len(sizes) // 2]
    say(
        f"{HOURS:g} hours at {SPEED:g}x: {len(stored)} segments, {len(windows)} windows, "
        f"{session.merged} merged, ended {late:.1f} s late; resident MB "
        f"{' '.join(f'{size:.0f}' for size in sizes)}"
    )
    assert len(stored) == len(spoken)
    assert [window.index for window in windows] == list(range(len(session.progress.windows)))
    assert grown <= 30


async def test_two_hundred_viewers_of_one_session(home: Path) -> None:
    env = environment(home)
    del env["QUOTH_EMBEDDER"], env["QUOTH_CHUNK_TOKENS"]
    received: dict[str, list[float]] = defaultdict(list)
    limits = httpx.Limits(max_connections=VIEWERS + 10, max_keepalive_connections=None)

    async def view(client: httpx.AsyncClient, path: str) -> None:
        async with client.stream("GET", f"{path}/events") as response:
            async for line in response.aiter_lines():
                if line.startswith("id: "):
                    received[line].append(time.perf_counter())

    with serving(env) as url:
        async with httpx.AsyncClient(base_url=url, limits=limits, timeout=120) as client:
            made = await client.post("/v1/sessions", json={"collections": ["default"]})
            path = f"/v1/sessions/{made.json()['session_id']}"
            viewers = [asyncio.create_task(view(client, path)) for _ in range(VIEWERS)]
            await asyncio.sleep(5)
            for segment in read_transcript(LECTURES[2])[100:180]:
                row = {"start": segment.start, "end": segment.end, "text": segment.text}
                await client.post(f"{path}/segments", json={"segments": [row]})
                await asyncio.sleep(0.25)
            await client.post(f"{path}/end")
            await asyncio.gather(*viewers)
            windows = (await client.get(path)).json()["windows"]
    late = [at - min(times) for times in received.values() for at in times]
    say(
        f"{VIEWERS} viewers, {len(received)} events, {len(windows)} windows: an event reaches all "
        f"within p50 {1000 * median(late):.0f} ms, p95 {1000 * p95(late):.0f} ms of the first "
        "(bar 100)"
    )
    assert {len(times) for times in received.values()} == {VIEWERS}
    assert p95(late) <= 0.100
