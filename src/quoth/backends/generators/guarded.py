"""Holds a language model to limits: time, size, retries."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from math import isfinite
from random import random as uniform
from typing import TypeVar

from quoth.backends.generators.fallback import closable
from quoth.backends.generators.limited import Limits, model_breaker
from quoth.core.circuit_breaker import CircuitBreaker
from quoth.core.component_checks import backend_errors, checked_counts
from quoth.core.errors import GenerationCode, GenerationError
from quoth.core.prices import price
from quoth.core.protocols import Finish, GenerationParams, Generator, Message, Written
from quoth.core.types import Usage
from quoth.text.analyzer import estimate_tokens

T = TypeVar("T")

LOCAL_TOKENS_PER_S = 50.0
"""Tokens of a prompt that a slow computer reads per second; a local model gets that much longer."""
FIRST_PAUSE_S = 0.5
"""The longest wait before the first retry; twice as long before the second."""
MIN_BYTES = 4096
TOKEN_BYTES = 32
"""Five times the usual length of a token; more means that the server ignores the token limit."""


def guard_generator(
    generator: Generator,
    *,
    limits: Limits | None = None,
    breakers: list[CircuitBreaker] | None = None,
) -> Generator:
    """Guard one language model; its breaker is added to those that the health check shows."""
    breaker = model_breaker(generator)
    if breakers is not None:
        breakers.append(breaker)
    return GuardedGenerator(generator, breaker=breaker, limits=limits)


def limit_chain(generator: Generator, *, limits: Limits | None = None) -> Generator:
    """Apply the limits of one answer to a chain of fallback models."""
    if isinstance(generator, GuardedGenerator):
        return generator
    limits = limits or Limits()
    whole = replace(
        limits, first_token_s=limits.total_s, first_extends=limits.total_extends, retries=0
    )
    return GuardedGenerator(generator, limits=whole)


class GuardedGenerator:
    """A `Generator` wrapper with retries, time and size limits and a breaker.

    A call that fails before its first piece may be retried; after the first piece an error ends it,
    so that no text is repeated. A stream always ends with `Finish` or GenerationError, and closing
    it closes the inner one. This is where a model is called: any other exception becomes
    GenerationError, too. ``clock`` returns seconds.
    """

    def __init__(
        self,
        generator: Generator,
        *,
        breaker: CircuitBreaker | None = None,
        limits: Limits | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        random: Callable[[], float] = uniform,
    ) -> None:
        self.inner = generator
        self.breaker = breaker
        self.limits = limits or Limits()
        self.provider = generator.provider
        self.model = generator.model
        self.window = generator.window
        self.endpoint = generator.endpoint
        self.local = generator.local
        self._part = "The model " + " of ".join(filter(None, (self.model, self.provider)))
        self._clock = clock
        self._sleep = sleep
        self._random = random

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text as the model does, or over-estimate them."""
        try:
            with backend_errors(self._part, GenerationError):
                return checked_counts(self.inner.count_tokens(texts), count=len(texts))
        except GenerationError:
            return estimate_tokens(texts)

    def usd(self, usage: Usage) -> float | None:
        """Return the most that so many tokens cost in dollars, None where it is unknown."""
        with suppress(GenerationError), backend_errors(self._part, GenerationError):
            dollars = self.inner.usd(usage)
            return dollars if dollars is None or isfinite(dollars) else None
        return None

    async def stream(
        self, messages: Sequence[Message], *, writing: GenerationParams
    ) -> AsyncIterator[Written]:
        """Stream the answer, then `Finish`; raises GenerationError."""
        began, tries, written = self._clock(), 0, False
        while True:
            pieces = self._try(messages, writing=writing, began=began)
            try:
                async with aclosing(pieces):
                    async for piece in pieces:
                        written = True
                        yield piece
                return
            except GenerationError as error:
                pause = None if written else self._pause(error, tries=tries, began=began)
                if pause is None:
                    raise
            await self._sleep(pause)
            tries += 1

    async def complete(self, instructions: str, text: str, *, max_tokens: int) -> str:
        """Do a small task on a text, such as rewording it; raises GenerationError."""
        began, tries = self._clock(), 0
        while True:
            try:
                with self._passing():
                    reply = await self._in_time(
                        partial(self.inner.complete, instructions, text, max_tokens=max_tokens),
                        began=began,
                        limit_s=self.limits.total_s,
                    )
                    self._measure(reply, already=0, max_tokens=max_tokens)
                    return reply
            except GenerationError as error:
                pause = self._pause(error, tries=tries, began=began)
                if pause is None:
                    raise
            await self._sleep(pause)
            tries += 1

    async def close(self) -> None:
        """Close the connections."""
        await self.inner.close()

    async def _try(
        self, messages: Sequence[Message], *, writing: GenerationParams, began: float
    ) -> AsyncGenerator[Written, None]:
        """Make one call: yield its pieces, then `Finish`."""
        size, said = 0, False
        reading = self._reading_s(messages)
        limit_s = self.limits.first_token_s + self.limits.first_extends * reading
        began += self.limits.total_extends * reading
        inner = closable(self.inner, messages, writing)
        with self._passing():
            async with aclosing(inner):
                while True:
                    ahead = partial(anext, inner, None)
                    piece = await self._in_time(ahead, began=began, limit_s=limit_s)
                    if isinstance(piece, Finish):
                        break
                    if piece is None:
                        raise self._error("broke off in its answer", code="llm_garbled")
                    if piece == "":
                        continue
                    size = self._measure(piece, already=size, max_tokens=writing.max_tokens)
                    limit_s = self.limits.between_tokens_s
                    said = said or not piece.isspace()
                    yield piece
                if not said:
                    raise self._error("wrote nothing", code="llm_empty")
                finish = self._priced(piece)
        yield finish

    def _reading_s(self, messages: Sequence[Message]) -> float:
        """Return the time that a local model is given to read a prompt, in seconds."""
        if not self.local:
            return 0.0
        tokens = self.count_tokens([message.text for message in messages])
        return sum(tokens) / LOCAL_TOKENS_PER_S

    @contextmanager
    def _passing(self) -> Iterator[None]:
        passing = nullcontext() if self.breaker is None else self.breaker.call()
        with passing, backend_errors(self._part, GenerationError):
            yield

    async def _in_time(
        self, work: Callable[[], Awaitable[T]], *, began: float, limit_s: float
    ) -> T:
        """Await the work within its own and the total time limit; raises GenerationError."""
        left = began + self.limits.total_s - self._clock()
        # Work that completes immediately never lets the event loop fire the timeout.
        if left > 0:
            try:
                async with asyncio.timeout(min(limit_s, left)) as limit:
                    return await work()
            except TimeoutError:
                if not limit.expired():
                    raise
        what = (
            f"sent nothing for {limit_s:.3g} s (setting llm_first_seconds)"
            if limit_s < left
            else "was not done in time (setting llm_seconds)"
        )
        raise self._error(what, code="llm_timeout")

    def _measure(self, piece: object, *, already: int, max_tokens: int) -> int:
        """Count the bytes of a piece; raises GenerationError over the limit, or for no text."""
        if not isinstance(piece, str):
            kind = type(piece).__name__
            raise self._error(f"gave a {kind} where text was expected", code="llm_garbled")
        size = already + len(piece.encode("utf-8", "replace"))
        if size > min(self.limits.max_bytes, max(MIN_BYTES, TOKEN_BYTES * max_tokens)):
            raise self._error("wrote more than it was allowed to", code="llm_too_long")
        return size

    def _pause(self, error: GenerationError, *, tries: int, began: float) -> float | None:
        """Seconds to wait before the next try, at random; None where there is to be none."""
        if not error.retryable or tries >= self.limits.retries:
            return None
        if self.breaker is not None and self.breaker.state != "closed":
            return None
        pause: float = self._random() * FIRST_PAUSE_S * 2**tries
        asked = error.retry_after_s
        begins = self._clock() - began + pause + (asked or 0)
        room = self.limits.total_s - self.limits.first_token_s
        if begins > (self.limits.retry_within_s if asked is None else room):
            return None
        return pause + (asked or 0)

    def _priced(self, finish: Finish) -> Finish:
        if finish.provider != self.provider or finish.usage.usd:
            return finish  # Another generator wrote, or priced it.
        for model in (finish.model, self.model):
            usd = price(finish.usage, provider=self.provider, model=model, local=self.local)
            if usd is not None:
                return replace(finish, usage=replace(finish.usage, usd=usd))
        return finish

    def _error(self, what: str, *, code: GenerationCode) -> GenerationError:
        return GenerationError(
            f"{self._part} {what}. Ask again, or choose another model with --llm.",
            code=code,
        )
