"""Whatever a provider does wrong, a caller gets one typed error in time, and no text twice."""

from __future__ import annotations

import re
import socket
import time
import tracemalloc
from dataclasses import dataclass, field, replace
from pkgutil import resolve_name

import pytest

from quoth.backends.generators.access import Access
from quoth.backends.generators.guarded import GuardedGenerator
from quoth.backends.generators.limited import Limits, model_breaker
from quoth.core.errors import GenerationError
from quoth.core.protocols import Finish, GenerationParams, Generator, Message
from tests.support.fault_server import (
    ANSWER,
    FAULTS,
    Fault,
    FaultServer,
    fault_server,
    no_such_host,
)

MESSAGES = (Message("system", "Answer from the sources."), Message("user", "When does it boil?"))
QUICK = Limits(first_token_s=0.3, between_tokens_s=0.3, total_s=0.5)
SLOW: tuple[Fault, ...] = (
    "hang_before_headers",
    "hang_after_headers",
    "drip",
    "endless",
    "endless_drip",
)
"""Faults that only the clock ends, or that take seconds to read: they get tighter limits."""
CODES: dict[Fault, set[str]] = {
    "refused": {"llm_unavailable"},
    "no_such_host": {"llm_unavailable"},
    "hang_before_headers": {"llm_timeout"},
    "hang_after_headers": {"llm_timeout"},
    "drip": {"llm_timeout"},
    "cut": {"llm_unavailable", "llm_garbled"},
    "cut_quietly": {"llm_garbled"},
    "garbage": {"llm_unavailable", "llm_garbled"},
    "garbage_body": {"llm_garbled"},
    "invalid_json": {"llm_garbled"},
    "invalid_events": {"llm_garbled"},
    "empty": {"llm_garbled", "llm_empty"},
    "html": {"llm_garbled"},
    "unknown_model": {"llm_unknown_model"},
    "limited": {"llm_limited"},
    "unavailable": {"llm_unavailable"},
    "broken": {"generation_failed"},
    "denied": {"llm_denied"},
    "endless": {"llm_too_long", "llm_timeout"},
    "endless_line": {"llm_too_long"},
    "endless_words": {"llm_too_long"},
    "endless_drip": {"llm_timeout"},
    "packed": {"llm_too_long"},
    "reset": {"llm_unavailable"},
    "reset_in_answer": {"llm_unavailable", "llm_garbled"},
}


@dataclass
class Call:
    """One call: the pieces that came, and how it ended."""

    pieces: list[str] = field(default_factory=list)
    finish: Finish | None = None
    error: GenerationError | None = None
    seconds: float = 0.0
    hung_up: bool = False

    @property
    def text(self) -> str:
        return "".join(self.pieces)


def guarded(
    server: FaultServer,
    *,
    limits: Limits | None = None,
    provider: str = "openai-compatible",
) -> GuardedGenerator:
    access = Access(provider=provider, model="tiny", url=server.url, window=8192, key="sk-secret")
    # The packages of the providers take seconds to import.
    inner: Generator = resolve_name(f"quoth.backends.generators.{OPENERS[provider]}")(access)
    limits = limits or (QUICK if server.fault in SLOW else Limits())
    return GuardedGenerator(inner, breaker=model_breaker(inner), limits=limits, random=lambda: 0.02)


async def stream(generator: GuardedGenerator) -> Call:
    call, began = Call(), time.monotonic()
    try:
        async for piece in generator.stream(MESSAGES, writing=GenerationParams(max_tokens=64)):
            if isinstance(piece, Finish):
                call.finish = piece
            else:
                call.pieces.append(piece)
    except GenerationError as error:
        call.error = error
    call.seconds = time.monotonic() - began
    return call


async def complete(generator: GuardedGenerator) -> Call:
    call, began = Call(), time.monotonic()
    try:
        call.pieces.append(await generator.complete("Reword.", "When?", max_tokens=64))
    except GenerationError as error:
        call.error = error
    call.seconds = time.monotonic() - began
    return call


OPENERS = {
    "openai-compatible": "openai:open_compatible",
    "anthropic": "anthropic:open_anthropic",
    "gemini": "google:open_gemini",
}
OF_ANY_PROTOCOL: tuple[Fault, ...] = (
    *("refused", "hang_before_headers", "garbage", "empty", "html", "unknown_model", "limited"),
    *("unavailable", "denied", "endless_line", "packed", "reset"),
)
WAYS = {"stream": stream, "complete": complete}
Ways = pytest.mark.parametrize("way", WAYS)
Faults = pytest.mark.parametrize("fault", FAULTS)


@pytest.fixture
def _no_names(monkeypatch: pytest.MonkeyPatch) -> None:
    found = socket.getaddrinfo

    def look_up(host: str | bytes | None, *rest: object, **named: object) -> object:
        if host in ("127.0.0.1", b"127.0.0.1"):
            return found(host, *rest, **named)  # type: ignore[arg-type]
        return no_such_host(host)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)


@Ways
async def test_a_sound_answer_passes_whole(way: str) -> None:
    async with fault_server("none") as server:
        generator = guarded(server)
        call = await WAYS[way](generator)
        await generator.close()
    assert (call.text, call.error) == (ANSWER, None)


@pytest.mark.usefixtures("_no_names")
@Ways
@Faults
async def test_a_fault_is_one_typed_error_in_time_and_without_secrets(
    fault: Fault, way: str
) -> None:
    async with fault_server(fault, drip_s=0.05) as server:
        generator = guarded(server)
        call = await WAYS[way](generator)
        assert await server.all_closed(), "a connection is left behind"
        await generator.close()
    assert call.error is not None
    assert call.error.code in CODES[fault]
    assert call.seconds < 5
    assert ANSWER.startswith(call.text) or fault.startswith("endless"), "text came twice"
    assert re.fullmatch(r"The [^\n]*\.", str(call.error))
    assert not re.search(r"Traceback|sk-secret|httpx|Error\(|127\.0\.0\.1", str(call.error))


@Ways
@pytest.mark.parametrize("fault", OF_ANY_PROTOCOL)
@pytest.mark.parametrize("provider", ["anthropic", "gemini"])
async def test_the_other_protocols_fail_alike(provider: str, fault: Fault, way: str) -> None:
    async with fault_server(fault) as server:
        limits = replace(QUICK if fault in SLOW else Limits(), retries=0)
        generator = guarded(server, limits=limits, provider=provider)
        call = await WAYS[way](generator)
        assert await server.all_closed()
        await generator.close()
    assert call.error is not None
    assert call.error.code in CODES[fault]


@Ways
@pytest.mark.parametrize(
    ("fault", "requests"),
    [("unavailable", 3), ("broken", 3), ("limited", 1), ("denied", 1), ("unknown_model", 1)],
)
async def test_only_what_may_pass_is_asked_again(fault: Fault, requests: int, way: str) -> None:
    async with fault_server(fault) as server:
        generator = guarded(server)
        await WAYS[way](generator)
        await generator.close()
    assert server.requests == requests


@Ways
@pytest.mark.parametrize("fault", ["endless_line", "endless_words"])
async def test_an_endless_body_takes_little_memory(fault: Fault, way: str) -> None:
    async with fault_server(fault) as server:
        generator = guarded(server, limits=Limits())
        tracemalloc.start()
        try:
            call = await WAYS[way](generator)
            _now, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        await generator.close()
    assert call.error is not None
    assert call.error.code == "llm_too_long"
    assert peak < 10_000_000 + 8 * len(call.text)


@pytest.mark.soak
@Ways
@pytest.mark.parametrize(
    "fault", ["hang_before_headers", "hang_after_headers", "drip", "endless_drip"]
)
async def test_who_says_nothing_is_cut_within_31_seconds(fault: Fault, way: str) -> None:
    async with fault_server(fault, drip_s=0.5) as server:
        generator = guarded(server, limits=Limits())
        call = await WAYS[way](generator)
        assert await server.all_closed()
        await generator.close()
    assert call.error is not None
    assert call.error.code == "llm_timeout"
    assert call.seconds < 31


async def test_what_was_said_before_time_was_over_stays() -> None:
    async with fault_server("endless_drip", drip_s=0.05) as server:
        generator = guarded(server)
        call = await stream(generator)
        await generator.close()
    assert call.error is not None
    assert call.error.code == "llm_timeout"
    assert len(call.pieces) > 3
