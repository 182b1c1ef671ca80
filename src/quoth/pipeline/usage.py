"""What language models used for one question, stage by stage."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from typing import cast

from quoth.core.messages import (
    Finish,
    GenerationParams,
    Message,
    Written,
)
from quoth.core.protocols import Generator
from quoth.core.types import Usage


class UsageMeter:
    """Adds up what passes through its generators; one request has one."""

    def __init__(self) -> None:
        self._used: dict[str, Usage] = {}
        self._broken_off = 0

    @property
    def by_stage(self) -> Mapping[str, Usage]:
        """What each stage used, for those that asked a model."""
        return dict(self._used)

    @property
    def total(self) -> Usage:
        """What all stages used."""
        total = Usage()
        for each in self._used.values():
            total = plus(total, each)
        return total

    @property
    def tokens(self) -> int:
        """The tokens of all stages; those of calls that broke off are reckoned."""
        return self.total.input_tokens + self.total.output_tokens + self._broken_off

    def interrupted(self, tokens: int) -> None:
        """Note a call that ended before anybody told what it used."""
        self._broken_off += tokens

    def add(self, stage: str, usage: Usage) -> None:
        """Note what a stage used."""
        self._used[stage] = plus(self._used.get(stage, Usage()), usage)

    def wrap_generator(self, generator: Generator, *, stage: str) -> Generator:
        """Give the generator as it is, except that what it uses is noted."""
        return _Counted(generator, ledger=self, stage=stage)


def plus(one: Usage, other: Usage) -> Usage:
    """Add two up."""
    return Usage(
        input_tokens=one.input_tokens + other.input_tokens,
        output_tokens=one.output_tokens + other.output_tokens,
        usd=one.usd + other.usd,
    )


class _Counted:
    """A `Generator` that notes the usage of each call; only a stream tells it."""

    def __init__(self, generator: Generator, *, ledger: UsageMeter, stage: str) -> None:
        self.provider = generator.provider
        self.model = generator.model
        self.window = generator.window
        self.endpoint = generator.endpoint
        self.local = generator.local
        self._generator = generator
        self._ledger = ledger
        self._stage = stage

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._generator.count_tokens(texts)

    def usd(self, usage: Usage) -> float | None:
        return self._generator.usd(usage)

    async def stream(
        self, messages: Sequence[Message], *, writing: GenerationParams
    ) -> AsyncIterator[Written]:
        pieces = self._generator.stream(messages, writing=writing)
        texts, told = [each.text for each in messages], len(messages)
        counted = left = False
        try:
            async with aclosing(cast(AsyncGenerator[Written, None], pieces)):
                async for piece in pieces:
                    if isinstance(piece, Finish):
                        self._ledger.add(self._stage, piece.usage)
                        counted = True
                    else:
                        texts.append(piece)
                    yield piece
        except (asyncio.CancelledError, GeneratorExit):
            left = True
            raise
        finally:
            # A model that failed before its first word has used nothing.
            if not counted and (left or len(texts) > told):
                self._ledger.interrupted(sum(self._generator.count_tokens(texts)))

    async def complete(self, instructions: str, text: str, *, max_tokens: int) -> str:
        messages = (Message("system", instructions), Message("user", text))
        pieces = self.stream(messages, writing=GenerationParams(0.0, max_tokens))
        return "".join([piece async for piece in pieces if isinstance(piece, str)])

    async def close(self) -> None:
        await self._generator.close()
