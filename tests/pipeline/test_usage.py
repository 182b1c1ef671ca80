"""What a request used is counted, small tasks and all."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from quoth.core.protocols import (
    Finish,
    GenerationParams,
    Message,
    Written,
)
from quoth.core.types import Usage
from quoth.core.usage import StageUsage
from quoth.pipeline.budget import MeteredGenerator, UsageMeter


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


async def test_streams_and_small_tasks_are_counted_together() -> None:
    meter, unused = UsageMeter(), UsageMeter()
    generator = MeteredGenerator(Parrot(), meter, stage="generate")
    pieces = generator.stream(
        (Message("user", "hello you"),), writing=GenerationParams(max_tokens=7)
    )
    assert [piece async for piece in pieces][:2] == ["hello ", "you "]
    assert meter.total == Usage(9, 7, 0.5, {"generate": StageUsage(9, 7, 0.5)})
    reading = generator.at_stage("expand")
    assert await reading.complete("say", "hello", max_tokens=7) == "hello "
    meter.add(Usage(100, usd=0.25), stage="embed")
    whole = meter.total
    assert (whole.input_tokens, whole.output_tokens, whole.usd) == (17, 14, 1.25)
    assert whole.stages["expand"] == StageUsage(8, 7, 0.5)
    assert whole.stages["embed"] == StageUsage(100, 0, 0.25)
    assert meter.tokens == 31
    assert unused.total == Usage()


async def test_closing_ends_the_call_inside() -> None:
    parrot, meter = Parrot(), UsageMeter()
    generator = MeteredGenerator(parrot, meter, stage="generate")
    pieces = generator.stream((Message("user", "hello you"),), writing=GenerationParams())
    await anext(pieces)
    await pieces.aclose()  # type: ignore[attr-defined]
    assert parrot.open == 0
    assert meter.tokens == len("hello youhello ")
