"""A guarded generator tries again with care, never says a thing twice, and keeps its limits."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import aclosing
from dataclasses import replace
from itertools import repeat
from typing import Any

import pytest

from quoth.backends.embedders.cached import CachedEmbedder
from quoth.backends.generators import registry
from quoth.backends.generators.fallback import FallbackGenerator
from quoth.backends.generators.guarded import (
    GuardedGenerator,
    guard_generator,
    limit_chain,
)
from quoth.backends.generators.limited import Limits, model_breaker, open_models
from quoth.backends.rerankers.registry import GuardedReranker
from quoth.core.circuit_breaker import CircuitBreaker
from quoth.core.errors import (
    EmbeddingError,
    GenerationCode,
    GenerationError,
    RerankError,
)
from quoth.core.protocols import (
    Finish,
    GenerationParams,
    Message,
    Written,
)
from quoth.core.settings import Settings
from quoth.core.types import Usage
from quoth.retrieval.rerank import ProgressiveReranker
from quoth.testing import WordReranker
from tests.support.clock import Clock
from tests.support.failing_backends import FailingEmbedder, FailingReranker, SlowReranker

MESSAGES = (Message("user", "When does it boil?"),)
END = Finish("end", Usage(20, 6), "openai", "gpt-5.6-luna")
Step = Written | Exception | float
"""What a scripted model does next: say, end, fail, or wait so many seconds."""


class Scripted:
    """Follows a script for each call, the last one for all that come after."""

    provider, model, window, endpoint = "openai", "gpt-5.6-luna", 8192, "api"
    local = False

    def __init__(self, *scripts: Iterable[Step]) -> None:
        self.scripts = scripts
        self.calls = 0
        self.open = 0

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text) // 4 for text in texts]

    async def stream(
        self, messages: Sequence[Message], *, writing: GenerationParams
    ) -> AsyncIterator[Written]:
        self.calls += 1
        self.open += 1
        try:
            for step in self.scripts[min(self.calls, len(self.scripts)) - 1]:
                if isinstance(step, Exception):
                    raise step
                if isinstance(step, float):
                    await asyncio.sleep(step)
                else:
                    yield step
        finally:
            self.open -= 1

    async def complete(self, instructions: str, text: str, *, max_tokens: int) -> str:
        pieces = self.stream((), writing=GenerationParams())
        return "".join([piece async for piece in pieces if isinstance(piece, str)])

    async def close(self) -> None:
        pass


def failed(
    code: GenerationCode = "llm_unavailable",
    *,
    retryable: bool = True,
    retry_after_s: float | None = None,
) -> GenerationError:
    return GenerationError("No.", code=code, retryable=retryable, retry_after_s=retry_after_s)


def guard(
    inner: Scripted,
    *,
    clock: Clock | None = None,
    breaker: CircuitBreaker | None = None,
    **limits: float,
) -> GuardedGenerator:
    clock = clock or Clock()
    return GuardedGenerator(
        inner,
        breaker=breaker,
        limits=replace(Limits(), **limits),  # type: ignore[arg-type]
        clock=clock,
        sleep=clock.sleep,
        random=lambda: 0.5,
    )


async def collect(pieces: AsyncIterator[Written]) -> list[Written]:
    return [piece async for piece in pieces]


async def said(generator: GuardedGenerator, *, max_tokens: int = 1024) -> tuple[list[str], str]:
    """The pieces of a stream, and how it ended: the code of its error, or the reason."""
    pieces = []
    try:
        async for piece in generator.stream(
            MESSAGES, writing=GenerationParams(max_tokens=max_tokens)
        ):
            if isinstance(piece, Finish):
                return pieces, piece.reason
            pieces.append(piece)
    except GenerationError as error:
        return pieces, error.code
    return pieces, "nothing"


async def completed(generator: GuardedGenerator) -> tuple[list[str], str]:
    try:
        return [await generator.complete("Reword.", "When?", max_tokens=9)], "end"
    except GenerationError as error:
        return [], error.code


WAYS = {"stream": said, "complete": completed}
Ways = pytest.mark.parametrize("way", WAYS)


# --- tries ------------------------------------------------------------------------------------


@Ways
async def test_what_fails_at_first_is_tried_again(way: str) -> None:
    inner = Scripted([failed()], [failed()], ["Yes.", END])
    assert await WAYS[way](guard(inner)) == (["Yes."], "end")


@Ways
async def test_there_are_three_tries_at_most(way: str) -> None:
    inner = Scripted(*[["Yes.", END]] * 100, [failed()])
    generator = guard(inner)
    for _ in range(100):  # They earn more tries than two.
        await WAYS[way](generator)
    assert (await WAYS[way](generator), inner.calls) == (([], "llm_unavailable"), 103)


async def test_nothing_is_tried_again_behind_the_first_piece() -> None:
    inner = Scripted(["Water ", "boils", failed()])
    assert await said(guard(inner)) == (["Water ", "boils"], "llm_unavailable")
    assert inner.calls == 1


@Ways
async def test_the_provider_may_ask_to_wait(way: str) -> None:
    clock = Clock()
    inner = Scripted([failed("llm_limited", retry_after_s=4)], ["Yes.", END])
    assert await WAYS[way](guard(inner, clock=clock)) == (["Yes."], "end")
    assert clock.slept == [4.25]


@Ways
async def test_who_asks_to_wait_too_long_is_not_waited_for(way: str) -> None:
    clock = Clock()
    inner = Scripted([failed("llm_limited", retry_after_s=3600)])
    assert await WAYS[way](guard(inner, clock=clock)) == ([], "llm_limited")
    assert (inner.calls, clock.slept) == (1, [])


# --- the breaker ------------------------------------------------------------------------------


@Ways
async def test_a_model_that_keeps_failing_is_left_alone_at_no_cost(way: str) -> None:
    clock, inner = Clock(), Scripted([failed(retryable=False)])
    generator = guard(inner, clock=clock, breaker=model_breaker(inner, clock=clock))
    for _ in range(1000):
        await WAYS[way](generator)
    assert inner.calls == 5
    assert await WAYS[way](generator) == ([], "llm_unavailable")
    assert (inner.calls, clock.slept) == (5, [])


@Ways
async def test_a_model_that_is_back_is_asked_again(way: str) -> None:
    clock, inner = Clock(), Scripted(*[[failed(retryable=False)]] * 5, ["Yes.", END])
    breaker = model_breaker(inner, clock=clock)
    generator = guard(inner, clock=clock, breaker=breaker)
    for _ in range(5):
        await WAYS[way](generator)
    clock.now += 15
    assert await WAYS[way](generator) == (["Yes."], "end")
    assert breaker.state == "closed"


@pytest.mark.parametrize(
    "code", ["llm_denied", "llm_empty", "llm_refused", "llm_too_long", "llm_unknown_model"]
)
async def test_a_wrong_set_up_keeps_its_own_message(code: GenerationCode) -> None:
    clock, inner = Clock(), Scripted([failed(code, retryable=False)])
    generator = guard(inner, clock=clock, breaker=model_breaker(inner, clock=clock))
    codes = {(await said(generator))[1] for _ in range(9)}
    assert codes == {code}


@Ways
async def test_the_failure_that_opens_it_is_told_as_it_is(way: str) -> None:
    clock, inner = Clock(), Scripted([failed("llm_limited")])
    breaker = CircuitBreaker("The model", failures=1, clock=clock)
    assert await WAYS[way](guard(inner, clock=clock, breaker=breaker)) == ([], "llm_limited")
    assert clock.slept == []


async def test_an_asker_who_stops_says_nothing_about_the_model() -> None:
    inner = Scripted(["Water ", "boils", END])
    breaker = model_breaker(inner)
    generator = guard(inner, breaker=breaker)
    for _ in range(9):
        pieces = generator.stream(MESSAGES, writing=GenerationParams())
        assert await anext(pieces) == "Water "
        await pieces.aclose()  # type: ignore[attr-defined]
    assert (breaker.state, inner.open) == ("closed", 0)


# --- limits -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "limits"),
    [
        ([9.0], Limits(first_token_s=0.1)),
        (["Water ", 9.0], Limits(between_tokens_s=0.1)),
        (["Water ", 9.0], Limits(total_s=0.1)),
        (["Water ", *([0.01, "and "] * 900)], Limits(total_s=0.1)),
    ],
    ids=["first token", "between tokens", "in all, silent", "in all, talking"],
)
async def test_each_wait_has_its_limit(script: list[Step], limits: Limits) -> None:
    inner, began = Scripted(script), time.monotonic()
    _pieces, ended = await said(GuardedGenerator(inner, limits=limits))
    assert ended == "llm_timeout"
    assert (time.monotonic() - began < 5, inner.open) == (True, 0)


@pytest.mark.parametrize(
    ("given", "script"),
    [
        ({"llm_first_seconds": 0.1}, [0.4, "Water ", END]),
        ({"llm_first_seconds": 0.05, "llm_seconds": 0.1}, [0.4, "Water ", END]),
        ({"llm_first_seconds": 9, "llm_seconds": 0.1}, ["Water ", 0.4, END]),
    ],
)
async def test_a_limit_that_is_set_holds_for_a_local_model(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, Any], script: list[Step]
) -> None:
    inner = Scripted(script)
    inner.local = True
    monkeypatch.setattr(registry, "LazyGenerator", lambda _access: inner)
    settings = Settings(generator="ollama:m", llm_retries=0, **given)
    generator = open_models(settings, breakers=[]).generator
    assert generator is not None
    long = (Message("user", "water " * 2000),)
    with pytest.raises(GenerationError) as caught:
        await collect(generator.stream(long, writing=GenerationParams()))
    assert caught.value.code == "llm_timeout"


async def test_a_local_model_has_time_to_read_by_default() -> None:
    inner = Scripted([0.3, "Water ", END])
    inner.local = True
    short = Limits(first_token_s=0.01, total_s=0.01)
    long = (Message("user", "water " * 2000),)
    pieces = GuardedGenerator(inner, limits=short).stream(long, writing=GenerationParams())
    assert await collect(pieces) == ["Water ", END]


async def test_a_model_that_never_waits_is_cut_in_time() -> None:
    limits = Limits(total_s=0.1, max_bytes=1 << 40)
    inner, began = Scripted(repeat("word ")), time.monotonic()
    _pieces, ended = await said(GuardedGenerator(inner, limits=limits), max_tokens=1 << 40)
    assert ended == "llm_timeout"
    assert time.monotonic() - began < 5


@Ways
async def test_an_endless_answer_is_cut_by_its_size(way: str) -> None:
    inner = Scripted(["wörd " * 1000] * 100)
    pieces, ended = await WAYS[way](guard(inner, max_bytes=20_000))
    assert ended == "llm_too_long"
    assert sum(len(each.encode()) for each in pieces) <= 20_000


@pytest.mark.parametrize(("max_tokens", "most"), [(10, 4096), (1000, 32_000), (10**6, 1 << 20)])
async def test_who_does_not_count_tokens_is_cut(max_tokens: int, most: int) -> None:
    piece = "wörd " * 50
    pieces, ended = await said(guard(Scripted(repeat(piece))), max_tokens=max_tokens)
    assert ended == "llm_too_long"
    assert most - len(piece.encode()) < len("".join(pieces).encode()) <= most


async def test_several_models_together_have_the_time_of_one() -> None:
    limits = Limits(first_token_s=0.15, total_s=0.2)
    several = [guard_generator(Scripted([9.0]), breakers=[], limits=limits) for _ in range(4)]
    generator, began = limit_chain(FallbackGenerator(*several), limits=limits), time.monotonic()
    assert isinstance(generator, GuardedGenerator)
    assert (await said(generator))[1] == "llm_timeout"
    assert time.monotonic() - began < 5


# --- ends -------------------------------------------------------------------------------------


async def test_a_stream_without_an_end_broke_off() -> None:
    assert await said(guard(Scripted(["Water "]))) == (["Water "], "llm_garbled")


@pytest.mark.parametrize("blank", [[], [""], [" \n"]])
async def test_an_answer_without_a_word_is_an_error(blank: list[str]) -> None:
    assert (await said(guard(Scripted([*blank, END]))))[1] == "llm_empty"


async def test_cancelling_or_closing_ends_the_call_inside() -> None:
    inner = Scripted(["Water ", 9.0])
    task = asyncio.create_task(said(guard(inner)))
    await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert inner.open == 0
    async with aclosing(guard(inner).stream(MESSAGES, writing=GenerationParams())) as pieces:  # type: ignore[type-var]
        await anext(pieces)
    assert inner.open == 0


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (ZeroDivisionError("by nothing"), "failed: ZeroDivisionError: by nothing"),
        (TimeoutError("slow"), "failed: TimeoutError: slow"),
        (5, "gave a int where text was expected"),
    ],
)
async def test_what_a_model_does_wrong_becomes_an_error_in_a_sentence(
    step: Any, words: str
) -> None:
    inner = Scripted([step])
    with pytest.raises(GenerationError, match=f"^The model gpt-5.6-luna of openai {words}"):
        await collect(guard(inner).stream(MESSAGES, writing=GenerationParams()))
    assert inner.open == 0


async def test_a_stream_that_is_none_and_a_bug_in_a_small_task_are_errors_of_the_model() -> None:
    inner: Any = Scripted()
    inner.stream = lambda _messages, **_writing: "Yes."
    inner.complete = inner.count_tokens = inner.usd = lambda *_given, **_more: {}["absent"]
    guarded = guard(inner)
    with pytest.raises(GenerationError, match="failed: TypeError"):
        await collect(guarded.stream(MESSAGES, writing=GenerationParams()))
    with pytest.raises(GenerationError, match="failed: KeyError: 'absent'"):
        await guarded.complete("Reword.", "it", max_tokens=9)
    assert guarded.count_tokens(["When does it boil?"])[0] >= 4
    assert guarded.usd(Usage(1, 1)) is None


# --- figures ----------------------------------------------------------------------------------


async def test_the_end_has_a_price() -> None:
    pieces = guard(Scripted(["Yes.", END])).stream(MESSAGES, writing=GenerationParams())
    (finish,) = [each async for each in pieces if isinstance(each, Finish)]
    assert 0 < finish.usage.usd < 0.001


# --- other parts ------------------------------------------------------------------------------


async def test_a_reranker_that_keeps_failing_is_left_alone() -> None:
    reranker = GuardedReranker(FailingReranker())
    for _ in range(6):
        with pytest.raises(RerankError):
            await reranker.score("water", [])
    assert reranker.breaker.state == "open"


async def test_a_slow_reranker_fails_in_time() -> None:
    reranker = GuardedReranker(SlowReranker(9), limit_s=0.02)
    with pytest.raises(RerankError, match=r"took longer than 0.02 s\."):
        await reranker.score("water", [])


@pytest.mark.parametrize("block", [None, 8])
def test_a_guarded_reranker_is_asked_in_blocks_if_it_was(block: int | None) -> None:
    inner = WordReranker()
    if block:
        inner.block = block  # type: ignore[attr-defined]
    assert isinstance(GuardedReranker(inner), ProgressiveReranker) is bool(block)


async def test_an_embedder_that_keeps_failing_is_left_alone() -> None:
    embedder = CachedEmbedder(FailingEmbedder())
    for _ in range(6):
        with pytest.raises(EmbeddingError):
            await embedder.embed(["water"], role="query")
    assert embedder.breaker.state == "open"


async def test_documents_neither_open_the_breaker_nor_are_turned_away() -> None:
    embedder = CachedEmbedder(FailingEmbedder())
    for _ in range(9):
        with pytest.raises(EmbeddingError, match="made to fail"):
            await embedder.embed(["water"], role="document")
    assert embedder.breaker.state == "closed"
