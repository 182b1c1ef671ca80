"""Admission control: bounded, fair between tenants, and left at once by a client that goes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import Message, Receive, Scope, Send

from quoth.core.errors import Busy
from quoth.interfaces.http.middleware.concurrency_limit import (
    Bounds,
    BufferedConnection,
    ConcurrencyLimit,
    OverloadMiddleware,
)


async def hold(limit: ConcurrencyLimit, name: str, served: list[str], turns: int = 1) -> None:
    """Hold a slot for some turns of the loop; the tenant is the first letter of the name."""
    async with limit.slot(name[0]):
        served.append(name)
        for _ in range(turns):
            await asyncio.sleep(0)


async def queue(
    limit: ConcurrencyLimit, names: Sequence[str], served: list[str]
) -> list[asyncio.Task[None]]:
    """Let the named queries arrive in this order."""
    tasks = []
    for name in names:
        tasks.append(asyncio.create_task(hold(limit, name, served)))
        await asyncio.sleep(0)
    return tasks


@pytest.mark.parametrize(
    ("arrive", "expected"),
    [
        ([f"a{at}" for at in range(9)], [f"a{at}" for at in range(9)]),
        (["a0", "a1", "a2", "b0"], ["a0", "b0", "a1", "a2"]),
        (["a0", "a1", "b0", "b1", "c0"], ["a0", "b0", "c0", "a1", "b1"]),
    ],
    ids=["one tenant in order", "two tenants in turn", "three tenants"],
)
async def test_tenants_are_served_in_turn(arrive: list[str], expected: list[str]) -> None:
    limit, served = ConcurrencyLimit(Bounds(in_flight=1)), list[str]()
    async with limit.slot("first"):
        tasks = await queue(limit, arrive, served)
    await asyncio.gather(*tasks)
    assert served == expected


async def refused_at_once(limit: ConcurrencyLimit) -> Busy:
    with pytest.raises(Busy) as error:
        async with asyncio.timeout(1), limit.slot("b"):
            pass
    return error.value


async def test_a_full_queue_refuses_at_once_with_a_time_to_retry() -> None:
    limit = ConcurrencyLimit(Bounds(in_flight=1, waiting=1, wait_s=60))
    async with limit.slot("a"):
        [waiter] = await queue(limit, ["a"], [])
        error = await refused_at_once(limit)
        waiter.cancel()
    assert error.retry_after_s is not None
    assert error.retry_after_s >= 1


async def test_a_query_that_waits_too_long_is_refused_and_leaves_the_queue() -> None:
    limit = ConcurrencyLimit(Bounds(in_flight=1, wait_s=0.01))
    async with limit.slot("a"):
        await refused_at_once(limit)
    assert (limit.waiting, limit.shed, limit.in_flight) == (0, 1, 0)


async def test_a_hopeless_wait_is_refused_at_once() -> None:
    now = 0.0
    limit = ConcurrencyLimit(Bounds(in_flight=1, wait_s=10), clock=lambda: now)
    for _ in range(20):
        async with limit.slot("a"):
            now += 100.0
    async with limit.slot("a"):
        assert limit.expected_wait_s > 80
        assert (await refused_at_once(limit)).retry_after_s == 60


@pytest.mark.parametrize("slot_is_free", [False, True], ids=["while waiting", "as a slot is freed"])
async def test_a_client_that_goes_takes_no_slot(slot_is_free: bool) -> None:
    limit, served = ConcurrencyLimit(Bounds(in_flight=1)), list[str]()
    async with limit.slot("first"):
        tasks = await queue(limit, ["gone", "next"], served)
        if not slot_is_free:
            tasks[0].cancel()
            await asyncio.sleep(0)
            assert limit.waiting == 1
    tasks[0].cancel()  # its slot may be free, but it has not run yet
    await asyncio.wait(tasks)
    assert (served, limit.in_flight, limit.waiting) == (["next"], 0, 0)


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3), st.booleans()), max_size=40),
    st.integers(1, 4),
    st.integers(0, 8),
)
def test_every_slot_is_free_in_the_end(
    queries: list[tuple[str, int, bool]], in_flight: int, waiting: int
) -> None:
    async def serve_all() -> ConcurrencyLimit:
        limit = ConcurrencyLimit(Bounds(in_flight=in_flight, waiting=waiting, wait_s=5))

        async def ask(tenant: str, turns: int) -> None:
            try:
                await hold(limit, tenant, [], turns)
            except Busy:
                assert limit.waiting >= waiting
            assert limit.in_flight <= in_flight

        tasks = []
        for tenant, turns, goes in queries:
            tasks.append(asyncio.create_task(ask(tenant, turns)))
            if turns % 2:
                await asyncio.sleep(0)
            if goes:
                tasks[-1].cancel()
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            assert result is None or isinstance(result, asyncio.CancelledError)
        return limit

    limit = asyncio.run(serve_all())
    assert (limit.in_flight, limit.waiting) == (0, 0)


async def test_a_disconnect_while_waiting_leaves_the_queue() -> None:
    limit, left = ConcurrencyLimit(Bounds(in_flight=1)), asyncio.Event()
    messages: list[Message] = [{"type": "http.request", "body": b"{}", "more_body": False}]

    async def receive() -> Message:
        if messages:
            return messages.pop()
        await left.wait()
        return {"type": "http.disconnect"}

    async def send(_message: Message) -> None:
        raise AssertionError("the client is gone")

    connection = BufferedConnection(receive, send)

    async def ask() -> None:
        assert await connection.read_body()
        async with connection.cancel_on_disconnect(), limit.slot("a"):
            raise AssertionError("no slot was free")

    async with limit.slot("first"):
        asking = asyncio.create_task(ask())
        await asyncio.sleep(0.01)
        assert limit.waiting == 1
        left.set()
        await asking
        assert limit.waiting == 0


async def test_a_query_without_hope_is_refused_before_anything_else() -> None:
    limit, served = ConcurrencyLimit(Bounds(in_flight=1, waiting=0)), list[str]()

    async def app(scope: Scope, _receive: Receive, send: Send) -> None:
        served.append(scope["path"])
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    transport = httpx.ASGITransport(OverloadMiddleware(app, limit=limit))
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        async with limit.slot("a"):
            refused = await client.post("/v1/query", json={"query": "What?"})
            assert (refused.status_code, refused.json()["code"]) == (503, "busy")
            assert int(refused.headers["retry-after"]) >= 1
            assert (await client.get("/healthz")).status_code == 200
        assert (await client.post("/v1/query", json={"query": "What?"})).status_code == 200
    assert (served, limit.shed) == (["/healthz", "/v1/query"], 1)
