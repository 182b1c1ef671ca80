"""The porch: a crowd waits where it costs little, and is told in time what became of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.types import Message, Receive, Scope, Send

from quoth.core.errors import Busy
from quoth.interfaces.http.middleware.admission import arrive
from quoth.interfaces.http.middleware.concurrency_limit import NEAR, Admission, Bounds
from quoth.interfaces.http.middleware.credentials import Credentials
from quoth.interfaces.http.middleware.fair_queue import FairQueue
from quoth.interfaces.http.middleware.front_queue import SMALL_BYTES, FrontQueue, token_of_small
from quoth.store.keys import ApiKey


def asked(path: str = "/v1/query", *, key: str = "one", method: str = "POST") -> Scope:
    headers = [(b"authorization", f"Bearer {key}".encode()), (b"content-length", b"20")]
    return {"type": "http", "method": method, "path": path, "headers": headers}


async def nothing() -> Message:
    return {"type": "http.request", "body": b""}


async def nowhere(_message: Message) -> None:
    return None


class Known(Credentials):
    """Knows every token but one; the part behind the colon is the key's, the other the tenant's."""

    def __init__(self) -> None:
        return None

    def known(self, token: str) -> ApiKey | None:
        tenant = token.partition(":")[0]
        never = "2026-01-01T00:00:00.000Z"
        return None if token == "unknown" else ApiKey(token, tenant, "", ("read",), never)


KNOWN = Known()


class House:
    """What is behind the porch: notes who comes in, and keeps him until he is let go."""

    def __init__(self, bounds: Bounds) -> None:
        self.admission = Admission(bounds)
        self.inside: list[str] = []
        self.states: list[dict[str, Any]] = []
        self.visits: list[asyncio.Task[None]] = []
        self._go: dict[str, asyncio.Event] = {}
        self.porch = FrontQueue(
            self._stay, admission=self.admission, credentials=KNOWN, most_of_a_key=100
        )

    async def _stay(self, scope: Scope, _receive: Receive, _send: Send) -> None:
        key = dict(scope["headers"])[b"authorization"].decode().removeprefix("Bearer ")
        self.inside.append(key)
        self.states.append(scope.get("state", {}))
        await self._go.setdefault(key, asyncio.Event()).wait()

    async def come(self, *keys: str) -> None:
        for key in keys:
            visit = self.porch(asked(key=key), nothing, nowhere)
            self.visits.append(asyncio.create_task(visit))
            await asyncio.sleep(0)

    async def let_go(self, key: str) -> None:
        self._go.setdefault(key, asyncio.Event()).set()
        await turn_over()


async def turn_over() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


@pytest.fixture
async def full() -> AsyncIterator[House]:
    """A house with no room near; the visitors are called a0, a1 and so on."""
    house = House(Bounds(in_flight=1, wait_s=60))
    await house.come(*(f"a{at}" for at in range(NEAR)))
    assert len(house.inside) == NEAR
    yield house
    for each in house.visits:
        each.cancel()


async def test_who_comes_when_many_are_near_waits_until_one_goes(full: House) -> None:
    await full.come("late")
    assert (full.inside[-1] != "late", full.admission.waiting) == (True, 1)
    await full.let_go("a0")
    assert (full.inside[-1], full.admission.waiting) == ("late", 0)
    assert full.states[-1]["may_wait"]
    await full.let_go("late")
    assert full.visits[-1].done()


async def test_who_is_through_the_walls_makes_room_even_if_his_body_is_slow(full: House) -> None:
    await full.come("late")
    for _ in range(2):  # once is enough, and more than once is no more
        arrive(full.states[0], full.admission)
    await full.come("later")
    await turn_over()
    assert (full.inside[NEAR:], full.admission.waiting) == (["late"], 1)


async def test_those_in_the_line_of_tenants_leave_less_room() -> None:
    house = House(Bounds(in_flight=1, wait_s=60))
    async with house.admission.turn("first"):
        waits = [asyncio.create_task(hold(house.admission)) for _ in range(NEAR)]
        await asyncio.sleep(0)
        await house.come("late")
        assert not house.inside
    await asyncio.gather(*waits)
    await turn_over()
    assert house.inside == ["late"]
    await house.let_go("late")


async def hold(admission: Admission) -> None:
    async with admission.turn("tenant"):
        await asyncio.sleep(0)


async def test_tenants_take_turns_whatever_their_keys(full: House) -> None:
    await full.come("many:1", "many:2", "many:3", "few")
    for at in range(2):
        await full.let_go(f"a{at}")
    assert full.inside[NEAR:] == ["many:1", "few"]


@pytest.mark.parametrize(
    ("path", "method"), [("/healthz", "GET"), ("/v1/uploads", "POST"), ("/v1/query", "OPTIONS")]
)
async def test_what_is_no_question_never_waits(full: House, path: str, method: str) -> None:
    await full.let_go("other")
    await full.porch(asked(path, key="other", method=method), nothing, nowhere)
    assert full.inside[-1] == "other"


@pytest.mark.parametrize(
    "header",
    [
        (b"content-length", str(SMALL_BYTES + 1).encode()),
        (b"content-length", b"9" * 5000),
        (b"content-length", "²".encode()),
        (b"transfer-encoding", b"chunked"),
        (b"expect", b"100-continue"),
    ],
)
def test_what_would_take_memory_or_an_answer_does_not_wait(header: tuple[bytes, bytes]) -> None:
    scope = asked()
    length = [] if header[0] != b"expect" else [(b"content-length", b"20")]
    assert token_of_small(scope) == "one"
    assert not token_of_small({**scope, "headers": [*scope["headers"][:1], header, *length]})


async def test_who_brings_no_key_that_is_known_goes_on_to_the_gate(full: House) -> None:
    await full.come("unknown")
    assert (full.inside[-1], "may_wait" in full.states[-1]) == ("unknown", False)


async def test_a_key_has_no_more_waiting_than_it_may_have_under_way(full: House) -> None:
    full.porch = FrontQueue(
        full.porch.app, admission=full.admission, credentials=KNOWN, most_of_a_key=2
    )
    await full.come("k:1", "k:1", "k:2", "k:1")
    assert (full.inside[NEAR:], full.admission.waiting) == (["k:1"], 3)
    for at in range(3):
        await full.let_go(f"a{at}")
    await full.come("k:1", "k:1")
    assert full.admission.waiting == 2


async def test_those_who_come_another_way_do_not_keep_the_others_out(full: House) -> None:
    async with full.admission.turn("first"):
        others = [asyncio.create_task(hold(full.admission)) for _ in range(3 * NEAR)]
        await asyncio.sleep(0)
        await full.come("late")
    await turn_over()
    assert full.inside[-1] == "late"
    await asyncio.gather(*others)


async def test_all_places_are_free_again_when_all_have_gone(full: House) -> None:
    await full.come(*(f"b{at}" for at in range(30)))
    full.visits[NEAR + 3].cancel()
    for at in range(30):
        await full.let_go(f"a{at}")
        await full.let_go(f"b{at}")
    assert len(full.inside) == NEAR + 29
    await full.come(*(f"c{at}" for at in range(NEAR + 1)))
    assert full.inside[-NEAR:] == [f"c{at}" for at in range(NEAR)]


async def test_who_is_not_called_in_time_goes_on_and_is_told_at_once() -> None:
    house = House(Bounds(in_flight=1, wait_s=0.05))
    await house.come(*(f"a{at}" for at in range(NEAR)))
    async with house.admission.turn("somebody"):
        await house.come("late")
        await asyncio.sleep(0.06)
        assert (house.inside[-1], house.states[-1]["may_wait"]) == ("late", False)
        house.admission.bounds = Bounds(in_flight=1, wait_s=60)
        async with asyncio.timeout(1):
            with pytest.raises(Busy):
                async with house.admission.turn("tenant", may_wait=False):
                    pass
    async with house.admission.turn("tenant", may_wait=False):
        pass  # where nobody is answered he need not wait
    for each in house.visits:
        each.cancel()


async def test_who_would_wait_in_vain_is_not_kept_in_front(full: House) -> None:
    full.admission.bounds = Bounds(in_flight=1, waiting=2, wait_s=60)
    await full.come("many", "many", "many")
    assert (full.inside[-1], full.states[-1]["may_wait"]) == ("many", False)


async def test_those_who_wait_outside_are_not_ahead_of_one_inside(full: House) -> None:
    full.admission.bounds = Bounds(in_flight=1, waiting=2, wait_s=60)
    await full.come("b0", "b1")
    async with full.admission.turn("other"):
        asking = asyncio.create_task(hold(full.admission))
        await asyncio.sleep(0)
    await asking


async def test_when_the_service_ends_nobody_waits_in_front(full: House) -> None:
    await full.come("b0", "b1")
    full.admission.close()
    await full.come("b2")
    assert sorted(full.inside[NEAR:]) == ["b0", "b1", "b2"]
    assert not any(each["may_wait"] for each in full.states[NEAR:])


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.integers(0, 3), st.booleans(), st.booleans()),
        max_size=80,
    ),
    st.integers(0, 40),
    st.sampled_from([0.0, 0.001, 5.0]),
)
@settings(deadline=None)
def test_whatever_comes_and_goes_there_is_room_for_all_in_the_end(
    visitors: list[tuple[str, int, bool, bool]], waiting: int, wait_s: float
) -> None:
    async def all_of_them() -> House:
        house = House(Bounds(in_flight=1, waiting=waiting, wait_s=wait_s))
        admission = house.admission

        async def walls(scope: Scope, _receive: Receive, _send: Send) -> None:
            takes, passes = scope["as"]
            for _ in range(takes):
                await asyncio.sleep(0)
            if not passes:
                raise Busy("refused at the gate")
            arrive(scope["state"], admission)
            async with admission.turn("t", may_wait=scope["state"]["may_wait"]):
                await asyncio.sleep(0)

        house.porch.app = walls
        for key, takes, passes, goes in visitors:
            visit = house.porch({**asked(key=key), "as": (takes, passes)}, nothing, nowhere)
            house.visits.append(asyncio.create_task(visit))
            if takes % 2:
                await asyncio.sleep(0)
            if goes:
                house.visits[-1].cancel()
        for found in await asyncio.gather(*house.visits, return_exceptions=True):
            assert found is None or isinstance(found, Busy | asyncio.CancelledError)
        assert (admission.in_flight, admission.waiting) == (0, 0)
        house.porch.app = house._stay
        await house.come(*(f"a{at}" for at in range(NEAR)))
        for each in house.visits:
            each.cancel()
        return house

    house = asyncio.run(all_of_them())
    assert len(house.inside) == NEAR


async def called_and_cancelled(line: FairQueue, give_back: Callable[[], object]) -> None:
    waits: Awaitable[bool] = line.wait("a", within_s=60, give_back=give_back)
    waiting = asyncio.ensure_future(waits)
    await asyncio.sleep(0)
    assert line.call_next()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_a_call_to_somebody_who_just_left_is_given_back() -> None:
    line, given = FairQueue(), list[bool]()
    await called_and_cancelled(line, lambda: given.append(True))
    assert (given, len(line), line.call_next()) == ([True], 0, False)


async def test_who_leaves_and_is_not_called_gives_nothing_back() -> None:
    line, given = FairQueue(), list[bool]()
    waits = line.wait("a", within_s=60, give_back=lambda: given.append(True))
    waiting = asyncio.ensure_future(waits)
    await asyncio.sleep(0)
    waiting.cancel()
    assert not line.call_next()  # he is still in the line, but not there any more
    await asyncio.wait([waiting])
    assert (given, len(line)) == ([], 0)
