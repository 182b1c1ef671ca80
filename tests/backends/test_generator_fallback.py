"""Models that stand in for each other: before the first piece, and never behind it."""

from __future__ import annotations

from pathlib import Path

import pytest

from quoth.backends.generators.fallback import FallbackGenerator
from quoth.core.errors import GenerationCode, GenerationError
from quoth.core.protocols import (
    Finish,
    GenerationParams,
    Message,
    Written,
)
from tests.support.replies import RepliesGenerator
from tests.support.small_library import add, open_tour, write_sources

WRITING = GenerationParams()


def fails(
    code: GenerationCode = "llm_unavailable", *, retryable: bool = False, wait: float | None = None
) -> GenerationError:
    return GenerationError(f"It is {code}.", code=code, retryable=retryable, retry_after_s=wait)


async def written(generator: FallbackGenerator) -> list[Written]:
    return [each async for each in generator.stream([Message("user", "?")], writing=WRITING)]


async def test_the_first_that_answers_is_the_only_one_asked() -> None:
    first, second = RepliesGenerator("a", "b"), RepliesGenerator("c")
    assert (await written(FallbackGenerator(first, second)))[:-1] == ["a", "b"]
    assert second.told == []


async def test_the_next_one_answers_when_one_fails_at_once() -> None:
    chain = FallbackGenerator(
        RepliesGenerator(fails()), RepliesGenerator(fails()), RepliesGenerator("c", model="third")
    )
    text, end = await written(chain)
    assert text == "c"
    assert isinstance(end, Finish)
    assert (end.provider, end.model) == ("scripted", "third")


async def test_nothing_stands_in_behind_the_first_piece() -> None:
    second = RepliesGenerator("c")
    chain = FallbackGenerator(RepliesGenerator("a", fails("llm_garbled")), second)
    pieces: list[Written] = []
    with pytest.raises(GenerationError, match="llm_garbled"):  # noqa: PT012
        async for each in chain.stream([Message("user", "?")], writing=WRITING):
            pieces.append(each)
    assert pieces == ["a"]
    assert second.told == []


async def test_when_all_fail_each_is_heard_and_the_first_has_the_code() -> None:
    chain = FallbackGenerator(
        RepliesGenerator(fails("llm_denied")),
        RepliesGenerator(fails("llm_limited", retryable=True, wait=3)),
    )
    with pytest.raises(GenerationError) as caught:
        await written(chain)
    error = caught.value
    assert (error.code, error.retryable, error.retry_after_s) == ("llm_denied", True, 3)
    assert str(error) == "It is llm_denied. It is llm_limited."


async def test_a_task_goes_to_the_next_one_too() -> None:
    chain = FallbackGenerator(RepliesGenerator(fails()), RepliesGenerator("done"))
    assert await chain.complete("Do it.", "this", max_tokens=5) == "done"


async def test_closing_the_iterator_closes_the_one_that_writes() -> None:
    first = RepliesGenerator("a", "b")
    pieces = FallbackGenerator(first, RepliesGenerator("c")).stream(
        [Message("user", "?")], writing=WRITING
    )
    await anext(pieces)
    await pieces.aclose()  # type: ignore[attr-defined]
    assert first.closed


async def test_one_that_the_text_is_too_long_for_is_passed_over() -> None:
    small, large = RepliesGenerator("b", window=100), RepliesGenerator("c", window=9000)
    chain = FallbackGenerator(RepliesGenerator(fails(), window=9000), small, large)
    written = chain.stream([Message("user", "x " * 51)], writing=GenerationParams(max_tokens=50))
    assert await anext(written) == "c"
    assert small.told == []


def test_every_host_is_named_and_one_far_host_makes_it_far() -> None:
    near = RepliesGenerator("a", endpoint="127.0.0.1")
    far = RepliesGenerator("b", endpoint="api.example.org", local=False)
    chain = FallbackGenerator(near, far, near)
    assert (chain.endpoint, chain.local) == ("127.0.0.1, api.example.org", False)


async def test_an_answer_that_another_model_of_the_same_provider_wrote_says_so(
    tmp_path: Path,
) -> None:
    text = "Honey is made from nectar, which the workers carry home in their stomachs. [1]"
    chain = FallbackGenerator(
        RepliesGenerator(fails(), model="large"), RepliesGenerator(text, model="small")
    )
    async with open_tour(tmp_path / "home", generator=chain) as engine:
        await add(engine, write_sources(tmp_path / "sources"))
        answer = await engine.answer("What is honey made from?")
    assert answer.model == "small"
    assert answer.degraded == ("generate:scripted:scripted:small",)
