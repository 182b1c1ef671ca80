"""Token usage of language models in one request."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
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
    """Accumulates the language model usage of one request."""

    def __init__(self) -> None:
        self.total = Usage()
        self._interrupted = 0

    @property
    def tokens(self) -> int:
        """Return the tokens of all calls, with estimates for interrupted ones."""
        return self.total.input_tokens + self.total.output_tokens + self._interrupted

    def add_interrupted(self, tokens: int) -> None:
        """Count a call that was interrupted before its usage was reported."""
        self._interrupted += tokens

    def add(self, usage: Usage) -> None:
        """Count a call."""
        self.total = Usage(
            input_tokens=self.total.input_tokens + usage.input_tokens,
            output_tokens=self.total.output_tokens + usage.output_tokens,
            usd=self.total.usd + usage.usd,
        )


class MeteredGenerator:
    """Wraps a `Generator` and counts the usage of each call."""

    def __init__(self, generator: Generator, meter: UsageMeter) -> None:
        self.provider = generator.provider
        self.model = generator.model
        self.window = generator.window
        self.endpoint = generator.endpoint
        self.local = generator.local
        self._generator = generator
        self._meter = meter

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text."""
        return self._generator.count_tokens(texts)

    def usd(self, usage: Usage) -> float | None:
        """Return the maximum cost of a usage in dollars."""
        return self._generator.usd(usage)

    async def stream(
        self, messages: Sequence[Message], *, writing: GenerationParams
    ) -> AsyncIterator[Written]:
        """Stream the answer and count its usage, also when interrupted."""
        pieces = self._generator.stream(messages, writing=writing)
        texts, prompt_length = [message.text for message in messages], len(messages)
        counted = left = False
        try:
            async with aclosing(cast(AsyncGenerator[Written, None], pieces)):
                async for piece in pieces:
                    if isinstance(piece, Finish):
                        self._meter.add(piece.usage)
                        counted = True
                    else:
                        texts.append(piece)
                    yield piece
        except (asyncio.CancelledError, GeneratorExit):
            left = True
            raise
        finally:
            # A model that failed before its first word has used nothing.
            if not counted and (left or len(texts) > prompt_length):
                self._meter.add_interrupted(sum(self._generator.count_tokens(texts)))

    async def complete(self, instructions: str, text: str, *, max_tokens: int) -> str:
        """Do a small task on a text, such as rewording it."""
        messages = (Message("system", instructions), Message("user", text))
        pieces = self.stream(messages, writing=GenerationParams(0.0, max_tokens))
        return "".join([piece async for piece in pieces if isinstance(piece, str)])

    async def close(self) -> None:
        """Close the generator."""
        await self._generator.close()
