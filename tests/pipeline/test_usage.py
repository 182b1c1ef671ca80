"""What a question used is counted stage by stage, small tasks and all."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import pytest

from quoth.core.messages import (
    Finish,
    GenerationParams,
    Message,
    Written,
)
from quoth.core.types import Usage
from quoth.pipeline.usage import UsageMeter


class Parrot:
    """Says what it was told last."""

    provider, model, window, endpoint, local = "here", "parrot", 100, "", True
    open = 0

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text) for text in texts]

    async def stream(
        self, messages: Sequence[Message], *, writing: GenerationParams
    ) -> AsyncIterator[Written]:
        self.open += 1
        try:
            for word in messages[-1].text.split():
                yield f"{word} "
            told = sum(len(each.text) for each in messages)
            yield Finish("end", Usage(told, writing.max_tokens, 0.5), self.provider, self.model)
        finally:
            self.open -= 1

    async def complete(self, instructions: str, text: str, *, max_tokens: int) -> str:
        raise NotImplementedError

    async def close(self) -> None:
        pass


async def test_a_stream_is_counted() -> None:
    ledger = UsageMeter()
    generator = ledger.wrap_generator(Parrot(), stage="generate")
    pieces = generator.stream(
        (Message("user", "hello you"),), writing=GenerationParams(max_tokens=7)
    )
    assert [each async for each in pieces][:2] == ["hello ", "you "]
    assert ledger.by_stage == {"generate": Usage(9, 7, 0.5)}


async def test_a_small_task_is_counted() -> None:
    ledger = UsageMeter()
    generator = ledger.wrap_generator(Parrot(), stage="expand")
    assert await generator.complete("say", "hello", max_tokens=7) == "hello "
    assert ledger.by_stage == {"expand": Usage(8, 7, 0.5)}


async def test_the_total_is_that_of_all_stages() -> None:
    ledger = UsageMeter()
    for stage in ("expand", "expand", "generate"):
        await ledger.wrap_generator(Parrot(), stage=stage).complete("say", "hello", max_tokens=7)
    assert ledger.total == Usage(24, 21, 1.5)


async def test_two_questions_do_not_share_a_ledger() -> None:
    parrot, one, other = Parrot(), UsageMeter(), UsageMeter()
    await one.wrap_generator(parrot, stage="expand").complete("say", "hello", max_tokens=7)
    assert other.total == Usage()


async def test_closing_ends_the_call_inside() -> None:
    parrot = Parrot()
    pieces = (
        UsageMeter()
        .wrap_generator(parrot, stage="generate")
        .stream((Message("user", "hello you"),), writing=GenerationParams())
    )
    await anext(pieces)
    await pieces.aclose()  # type: ignore[attr-defined]
    assert parrot.open == 0


@pytest.mark.parametrize("name", ["provider", "model", "window", "endpoint", "local"])
def test_it_looks_like_the_generator(name: str) -> None:
    parrot = Parrot()
    assert getattr(UsageMeter().wrap_generator(parrot, stage="x"), name) == getattr(parrot, name)
