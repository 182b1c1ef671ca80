"""A crowd at the door, over real sockets: the small sizes; `tests/soak/test_load.py` has the large.

Clients are in a process of their own, and so is the service.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpx
import pytest
import pytest_asyncio

from bench.load import REFUSED
from bench.service import service
from tests.support.counting import samples
from tests.support.many_clients import (
    UNHURRIED,
    Library,
    crowd,
    foreign,
    make_library,
    questions,
    running,
    torn,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return await make_library(tmp_path_factory.mktemp("crowd"), documents=20)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def port(library: Library) -> AsyncIterator[int]:
    async with running(library) as (found, _pid):
        yield found


async def test_sixty_clients_are_answered_from_their_own_documents(
    library: Library, port: int
) -> None:
    found = await crowd(port, library, clients=60, bodies=questions(60), probe=True)
    assert Counter(each.status for each in found.told) == {200: 60}
    assert not foreign(found)
    assert all(seconds < 5 for seconds in found.probes)


async def test_many_at_once_find_what_one_finds_alone(library: Library, port: int) -> None:
    one = Library(library.home, library.tokens[:1])
    asked = [{"query": each["query"]} for each in questions(10)]
    alone = await crowd(port, one, clients=1, bodies=asked, path="/v1/search")
    together = await crowd(port, one, clients=10, bodies=asked * 3, path="/v1/search")
    first = {each.number: chunks(each.text) for each in alone.told}
    assert all(chunks(each.text) == first[each.number % 10] for each in together.told)


async def test_a_port_in_use_is_told_with_the_way_out(library: Library, port: int) -> None:
    with pytest.raises(RuntimeError, match=f"Port {port} of 127.0.0.1 is in use"):
        async with service(library.home, "--port", str(port), settings=UNHURRIED):
            pass


async def test_those_of_a_crowd_who_hang_up_hold_up_nobody(library: Library) -> None:
    one = Library(library.home, library.tokens[:1])
    async with running(library, {"QUOTH_QUESTIONS_AT_ONCE": "1"}) as (port, _pid):
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


async def test_a_signal_under_load_tears_no_answer(library: Library) -> None:
    bodies = [*questions(30), *questions(30, stream=True)]
    async with running(library, {"QUOTH_QUESTIONS_AT_ONCE": "2"}) as (port, pid):
        asking = asyncio.create_task(crowd(port, library, clients=60, bodies=bodies))
        await asyncio.sleep(0.6)
        os.kill(pid, signal.SIGTERM)
        found = await asking
    assert not torn(found)
    assert {each.status for each in found.told} <= {0, 200, 503}
    assert all(each.text == REFUSED for each in found.told if not each.status)


def chunks(text: str) -> list[str]:
    """The ids of the chunks that a search found, in their order."""
    return [each["chunk_id"] for each in json.loads(text)["hits"]]
