"""The porch: a crowd waits where it costs little, and is told in time what became of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from starlette.types import Message, Receive, Scope, Send

from quoth.errors import Busy
from quoth.service.admission import NEAR, Admission, Bounds
from quoth.service.line import Line
from quoth.service.porch import Porch, name_of

ROOM = NEAR + 1
"""Places near, where one question is answered at once."""


def asked(path: str = "/v1/query", *, key: str = "one", method: str = "POST") -> Scope:
    headers = [(b"authorization", f"Bearer {key}".encode())]
    return {"type": "http", "method": method, "path": path, "headers": headers}


async def nothing() -> Message:
    return {"type": "http.request", "body": b""}


async def nowhere(_message: Message) -> None:
    return None


class House:
    """What is behind the porch: notes who comes in, and keeps him until he is let go."""

    def __init__(self, bounds: Bounds) -> None:
        self.admission = Admission(bounds)
        self.inside: list[str] = []
        self.places: list[str] = []
        self.visits: list[asyncio.Task[None]] = []
        self._go: dict[str, asyncio.Event] = {}
        self.porch = Porch(self._stay, admission=self.admission)

    async def _stay(self, scope: Scope, _receive: Receive, _send: Send) -> None:
        name = name_of(scope)
        assert isinstance(name, bytes)
        self.inside.append(name.decode().removeprefix("Bearer "))
        self.places.append(scope.get("state", {}).get("place", ""))
        await self._go.setdefault(self.inside[-1], asyncio.Event()).wait()

    async def come(self, *keys: str) -> None:
        for key in keys:
            visit = self.porch(asked(key=key), nothing, nowhere)
            self.visits.append(asyncio.create_task(visit))
            await asyncio.sleep(0)

    async def let_go(self, key: str) -> None:
        self._go.setdefault(key, asyncio.Event()).set()
        for _ in range(5):
            await asyncio.sleep(0)


@pytest.fixture
async def full() -> AsyncIterator[House]:
    """A house with no room near; the visitors are called a0, a1 and so on."""
    house = House(Bounds(in_flight=1, wait_s=60))
    await house.come(*(f"a{at}" for at in range(ROOM)))
    assert len(house.inside) == ROOM
    yield house
    for each in house.visits:
        each.cancel()


async def test_who_comes_when_many_are_inside_waits_until_one_goes(full: House) -> None:
    await full.come("late")
    assert (full.inside[-1] != "late", full.admission.waiting) == (True, 1)
    await full.let_go("a0")
    assert (full.inside[-1], full.places[-1], full.admission.waiting) == ("late", "called", 0)
    await full.let_go("late")
    assert full.visits[-1].done()


async def test_keys_take_turns(full: House) -> None:
    await full.come("many", "many", "many", "few")
    for at in range(2):
        await full.let_go(f"a{at}")
    assert full.inside[ROOM:] == ["many", "few"]


@pytest.mark.parametrize(
    ("path", "method"), [("/healthz", "GET"), ("/v1/uploads", "POST"), ("/v1/query", "OPTIONS")]
)
async def test_what_is_no_question_never_waits(full: House, path: str, method: str) -> None:
    await full.let_go("other")
    await full.porch(asked(path, key="other", method=method), nothing, nowhere)
    assert full.inside[-1] == "other"


async def test_all_places_are_free_again_when_all_have_gone(full: House) -> None:
    await full.come(*(f"b{at}" for at in range(30)))
    full.visits[ROOM + 3].cancel()
    for at in range(30):
        await full.let_go(f"a{at}")
        await full.let_go(f"b{at}")
    assert len(full.inside) == ROOM + 29
    await full.come(*(f"c{at}" for at in range(ROOM + 1)))
    assert full.inside[-ROOM:] == [f"c{at}" for at in range(ROOM)]


async def test_who_is_not_called_in_time_goes_on_and_is_told() -> None:
    house = House(Bounds(in_flight=1, wait_s=0.05))
    await house.come(*(f"a{at}" for at in range(ROOM)))
    async with house.admission.turn("somebody"):
        await house.come("late")
        await asyncio.sleep(0.06)
        assert (house.inside[-1], house.places[-1]) == ("late", "none")
        with pytest.raises(Busy):
            async with house.admission.turn("tenant", waited_s=0.05):
                pass


async def test_who_would_wait_in_vain_is_not_kept_in_front(full: House) -> None:
    full.admission.bounds = Bounds(in_flight=1, waiting=1, wait_s=60)
    await full.come("waits", "too many")
    assert (full.inside[-1], full.places[-1]) == ("too many", "none")


async def test_who_was_called_is_not_refused_for_those_behind_him(full: House) -> None:
    full.admission.bounds = Bounds(in_flight=1, waiting=2, wait_s=60)
    await full.come("b0", "b1")
    answered = asyncio.Event()

    async def ask(*, called: bool) -> None:
        async with full.admission.turn("tenant", called=called):
            answered.set()

    async with full.admission.turn("other"):
        with pytest.raises(Busy):
            await ask(called=False)
        asking = asyncio.create_task(ask(called=True))
        await asyncio.sleep(0)
    await asking
    assert answered.is_set()


async def test_when_the_service_ends_nobody_waits_in_front(full: House) -> None:
    await full.come("b0", "b1")
    full.admission.close()
    await full.come("b2")
    assert sorted(full.inside[ROOM:]) == ["b0", "b1", "b2"]
    assert full.places[ROOM:] == ["none"] * 3


@pytest.mark.parametrize("header", [b"authorization", b"x-api-key"])
def test_a_key_names_who_takes_turns_and_else_the_address(header: bytes) -> None:
    scope: Scope = {"headers": [(b"host", b"x"), (header, b"k")], "client": ("192.0.2.1", 5)}
    assert name_of(scope) == b"k"
    assert name_of({**scope, "headers": []}) == "192.0.2.1"
    assert name_of({"headers": [], "client": None}) == ""


async def called_and_cancelled(line: Line, give_back: Callable[[], object]) -> None:
    waits: Awaitable[bool] = line.wait("a", within_s=60, give_back=give_back)
    waiting = asyncio.ensure_future(waits)
    await asyncio.sleep(0)
    assert line.call_next()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_a_call_to_somebody_who_just_left_is_given_back() -> None:
    line, given = Line(), list[bool]()
    await called_and_cancelled(line, lambda: given.append(True))
    assert (given, len(line), line.call_next()) == ([True], 0, False)


async def test_who_leaves_and_is_not_called_gives_nothing_back() -> None:
    line, given = Line(), list[bool]()
    waits = line.wait("a", within_s=60, give_back=lambda: given.append(True))
    waiting = asyncio.ensure_future(waits)
    await asyncio.sleep(0)
    waiting.cancel()
    assert not line.call_next()  # he is still in the line, but not there any more
    await asyncio.wait([waiting])
    assert (given, len(line)) == ([], 0)
