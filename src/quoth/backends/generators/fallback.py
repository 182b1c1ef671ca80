"""Several language models, each the fallback of the one before."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import replace

from quoth.core.errors import GenerationError
from quoth.core.protocols import Finish, GenerationParams, Generator, Message, Written
from quoth.core.types import Usage


class FallbackGenerator:
    """Tries models in order until one produces output, and stays with that one.

    `Finish` names the model used. ``window`` and the token count are those of the first model, so
    that a smaller fallback does not reduce its context; a model whose window is too small is
    skipped. ``endpoint`` lists every host.
    """

    def __init__(self, *generators: Generator) -> None:
        first = generators[0]
        self.provider = first.provider
        self.model = first.model
        self.window = first.window
        self.endpoint = ", ".join(dict.fromkeys(generator.endpoint for generator in generators))
        self.local = all(generator.local for generator in generators)
        self.generators = generators

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text as the first model does."""
        return self.generators[0].count_tokens(texts)

    def usd(self, usage: Usage) -> float | None:
        """Return the most that so many tokens cost in dollars, None where it is unknown."""
        prices = [generator.usd(usage) for generator in self.generators]
        known = [price for price in prices if price is not None]
        return max(known) if len(known) == len(prices) else None

    async def stream(
        self, messages: Sequence[Message], *, writing: GenerationParams
    ) -> AsyncIterator[Written]:
        """Stream the answer of the first model that produces one; raises GenerationError.

        No switch after the first piece: the output would mix two answers.
        """
        failures: list[GenerationError] = []
        for generator in self.generators:
            begun = False
            try:
                if failures:
                    _require_room(
                        generator, [message.text for message in messages], writing.max_tokens
                    )
                async with aclosing(closable(generator, messages, writing)) as pieces:
                    async for piece in pieces:
                        begun = begun or not isinstance(piece, Finish)
                        if failures and isinstance(piece, Finish):
                            piece = replace(piece, stood_in=True)
                        yield piece
                return
            except GenerationError as error:
                if begun:
                    raise
                failures.append(error)
        raise _all_failed(failures)

    async def complete(self, instructions: str, text: str, *, max_tokens: int) -> str:
        """Do a small task on a text with the first that can; raises GenerationError."""
        failures: list[GenerationError] = []
        for generator in self.generators:
            try:
                if failures:
                    _require_room(generator, [instructions, text], max_tokens)
                return await generator.complete(instructions, text, max_tokens=max_tokens)
            except GenerationError as error:
                failures.append(error)
        raise _all_failed(failures)

    async def close(self) -> None:
        """Close all connections."""
        for generator in self.generators:
            await generator.close()


async def closable(
    generator: Generator, messages: Sequence[Message], writing: GenerationParams
) -> AsyncGenerator[Written]:
    """Yield a stream so that it can always be closed: an iterator may lack `aclose`."""
    pieces = generator.stream(messages, writing=writing)
    try:
        async for piece in pieces:
            yield piece
    finally:
        if isinstance(pieces, AsyncGenerator):
            await pieces.aclose()


def _require_room(generator: Generator, texts: Sequence[str], max_tokens: int) -> None:
    """Refuse a prompt over the context window; some servers truncate it silently."""
    if sum(generator.count_tokens(texts)) + max_tokens > generator.window:
        raise GenerationError(
            f"The text is longer than the {generator.window} tokens that the language model of "
            f"{generator.provider} takes. Set 'llm_window' if it takes more.",
            code="llm_too_long",
        )


def _all_failed(failures: Sequence[GenerationError]) -> GenerationError:
    """Return one error for all: the code of the first, in the words of each."""
    if len(failures) == 1:
        return failures[0]
    waits = [failure.retry_after_s for failure in failures if failure.retry_after_s is not None]
    return GenerationError(
        " ".join(str(failure) for failure in failures),
        code=failures[0].code,  # type: ignore[arg-type]
        retryable=any(failure.retryable for failure in failures),
        retry_after_s=min(waits, default=None),
    )
