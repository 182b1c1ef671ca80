"""A thousand clients at once, a signal among hundreds, and models under many threads."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections import Counter
from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from bench.crowd import SETTLE_S, Weighed, figures, weighed
from bench.load import REFUSED, Orders
from bench.service import Pace, ask_engine, cpu_seconds
from quoth.bootstrap import default_model, open_embedder
from quoth.core.settings import Settings
from tests.support.counting import samples
from tests.support.many_clients import (
    Library,
    crowd,
    foreign,
    make_library,
    questions,
    running,
    torn,
)

pytestmark = [pytest.mark.soak, pytest.mark.timed]

CLIENTS = 1000
DOCUMENTS, OF_FIRST = 400, 10_000
"""The library is large for one tenant, who has 10,000 chunks, and small for the others."""
FEW = 8
"""Clients at once whose questions fill everything that is kept to be quick."""
LATE_S = 2.5


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    home = tmp_path_factory.mktemp("load")
    return asyncio.run(make_library(home, documents=DOCUMENTS, of_first=OF_FIRST))


async def crowds(library: Library, count: int, *, wait_s: float) -> list[Weighed]:
    """Let a few ask until what is kept is full; then so many crowds, each with other questions."""
    other = questions((count + 1) * CLIENTS)
    async with running(library, {"QUOTH_WAIT_SECONDS": str(wait_s)}) as (port, pid):
        await crowd(port, library, clients=FEW, bodies=other[-CLIENTS:])
        await asyncio.sleep(SETTLE_S)
        return [
            await weighed(
                pid,
                Orders(
                    port,
                    other[turn * CLIENTS : (turn + 1) * CLIENTS],
                    CLIENTS,
                    tokens=library.tokens,
                    probe=True,
                    keep_texts=True,
                ),
            )
            for turn in range(count)
        ]


async def test_a_thousand_who_can_wait_are_all_answered(library: Library) -> None:
    first, second = await crowds(library, 2, wait_s=60)
    for found in (first, second):
        assert Counter(each.status for each in found.report.told) == {200: CLIENTS}, figures(found)
        assert not foreign(found.report)
        assert not torn(found.report)
        assert found.most - found.before <= 500e6, figures(found)
        assert found.grown <= 1.10, figures(found)
    assert figures(second)["healthz_p99"] <= 0.2, figures(second)
    assert second.after <= second.before * 1.05, figures(second)


async def test_a_thousand_who_cannot_wait_are_answered_or_told_soon(library: Library) -> None:
    _first, found = await crowds(library, 2, wait_s=2)
    told = figures(found)
    assert set(told["told"]) <= {200, 503}, told
    assert told["told"][200] > 0, told
    assert told["answered_p95"] <= 3, told
    assert told["shed_slowest"] < LATE_S, told
    assert not told["shed_without_retry_after"], told
    assert not foreign(found.report)


async def test_many_at_once_find_what_one_finds_alone(library: Library) -> None:
    one = Library(library.home, library.tokens[:1])
    asked = [{"query": each["query"]} for each in questions(10)]
    async with running(library) as (port, _pid):
        alone = await crowd(port, one, clients=1, bodies=asked, path="/v1/search")
        together = await crowd(port, one, clients=10, bodies=asked * 3, path="/v1/search")
    first = {each.number: chunks(each.text) for each in alone.told}
    assert all(chunks(each.text) == first[each.number % 10] for each in together.told)


async def test_those_of_a_crowd_who_hang_up_hold_up_nobody(library: Library) -> None:
    one = Library(library.home, library.tokens[:1])
    # The metrics are for the operator, an admin of the service's own tenant.
    settings = {"QUOTH_QUESTIONS_AT_ONCE": "1", "QUOTH_TENANT": "acme"}
    async with running(library, settings) as (port, _pid):
        gone = [await begun(port, one.tokens[0], body) for body in questions(200)]
        for writer in gone:
            writer.close()
        (found,) = (await crowd(port, one, clients=1, bodies=questions(201)[200:])).told
        answered = await told_as_answered(port, one.tokens[0])
    # Those whose turn came before they hung up may have been answered; all two hundred of them
    # would be nine seconds of waiting.
    assert (found.status, answered < 20, found.seconds < 5) == (200, True, True)


async def told_as_answered(port: int, token: str) -> float:
    """Read off the service's own counters how many answers it gave."""
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {token}"}) as asking:
        found = samples((await asking.get(f"http://127.0.0.1:{port}/metrics")).text)
    told = [count for name, count in found.items() if name.startswith("quoth_questions_total{")]
    assert told
    return sum(told)


async def begun(port: int, token: str, body: Mapping[str, Any]) -> asyncio.StreamWriter:
    """Ask a question, and do not wait for its answer."""
    _reader, writer = await asyncio.open_connection("127.0.0.1", port)
    sent = json.dumps(body).encode()
    head = f"Host: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\nContent-Length: {len(sent)}"
    kind = "Content-Type: application/json"
    writer.write(f"POST /v1/query HTTP/1.1\r\n{head}\r\n{kind}\r\n\r\n".encode() + sent)
    await writer.drain()
    return writer


def chunks(text: str) -> list[str]:
    """The ids of the chunks that a search found, in their order."""
    return [each["chunk_id"] for each in json.loads(text)["hits"]]


async def test_a_signal_among_hundreds_tears_no_answer(library: Library) -> None:
    bodies = [*questions(200), *questions(200, stream=True)]
    for after_s in (0.3, 1.0, 2.0):
        async with running(library, {"QUOTH_STOP_SECONDS": "1"}) as (port, _pid):
            asking = asyncio.create_task(crowd(port, library, clients=400, bodies=bodies))
            await asyncio.sleep(after_s)
        # The service was told to stop, once: a second signal would end it at once.
        found = await asking
        assert not torn(found)
        assert {each.status for each in found.told} <= {0, 200, 503}
        assert all(each.text == REFUSED for each in found.told if not each.status)


async def test_a_killed_service_leaves_nothing_broken(library: Library) -> None:
    for after_s in (0.2, 0.5, 1.0):
        with pytest.raises(RuntimeError, match="did not end well"):
            await kill_among_questions(library, after_s=after_s)
    async with running(library) as (port, _pid):
        found = await crowd(port, library, clients=20, bodies=questions(60))
    assert Counter(each.status for each in found.told) == {200: 60}


async def kill_among_questions(library: Library, *, after_s: float) -> None:
    async with running(library) as (port, pid):
        asking = asyncio.create_task(crowd(port, library, clients=100, bodies=questions(200)))
        await asyncio.sleep(after_s)
        os.kill(pid, signal.SIGKILL)
        await asking


async def test_the_service_gives_most_of_what_its_engine_gives(library: Library) -> None:
    asked = [each["query"] for each in questions(300)]
    settings = Settings(home=library.home, embedder="fake", tenant="acme")
    alone: Pace = await ask_engine(library.home, asked, clients=64, settings=settings)
    one = Library(library.home, library.tokens[:1])
    async with running(library) as (port, pid):
        await crowd(port, one, clients=20, bodies=questions(420)[300:])
        used = cpu_seconds(pid)
        found = await crowd(port, one, clients=64, bodies=questions(300))
        used = cpu_seconds(pid) - used
    assert len(asked) / found.seconds >= 0.6 * alone.a_second or (
        alone.cpu_ms >= 0.6 * 1000 * used / len(asked)
    )


def test_sixteen_threads_embed_as_one_does() -> None:
    settings = Settings()
    if not default_model(settings)[1]:
        pytest.skip("the model is not built")
    embedder = open_embedder(settings)
    texts = [each["query"] for each in questions(200)]

    def embed() -> list[bytes]:
        async def all_of_them() -> list[bytes]:
            return [(await embedder.embed([each], role="query")).tobytes() for each in texts]

        return asyncio.run(all_of_them())

    async def together() -> list[list[bytes]]:
        return await asyncio.gather(*(asyncio.to_thread(embed) for _ in range(16)))

    alone = embed()
    try:
        assert all(each == alone for each in asyncio.run(together()))
    finally:
        embedder.close()
