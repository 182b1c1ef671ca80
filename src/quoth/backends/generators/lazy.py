"""Language model that is loaded on first use.

Its packages take two seconds to load, more than an extractive answer needs.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from typing import cast

from quoth.backends.generators.access import Access, destination
from quoth.backends.registry import backend, require
from quoth.core.messages import GenerationParams, Message, Written
from quoth.core.prices import price
from quoth.core.protocols import Generator
from quoth.core.types import Usage


class LazyGenerator:
    """Proxy for the model of an `Access`, which opens it on the first call.

    Installed packages are checked at once: raises ConfigError and MissingExtra.
    """

    def __init__(self, access: Access) -> None:
        require("generator", access.provider)
        self.provider = access.provider
        self.model = access.model
        self.window = access.window
        self.endpoint, self.local = destination(access)
        self._access = access
        self._inner: Generator | None = None
        self._alone = asyncio.Lock()

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text with the set tokenizer, or over-estimate them."""
        return self._access.count_tokens(texts)

    def usd(self, usage: Usage) -> float | None:
        """Return the price in dollars by the dated price table, None where unknown."""
        return price(usage, provider=self.provider, model=self.model, local=self.local)

    async def stream(
        self, messages: Sequence[Message], *, writing: GenerationParams
    ) -> AsyncIterator[Written]:
        """Stream the answer, then `Finish`; raises GenerationError."""
        inner = await self.opened()
        pieces = cast(AsyncGenerator[Written, None], inner.stream(messages, writing=writing))
        async with aclosing(pieces):
            async for piece in pieces:
                yield piece

    async def complete(self, instructions: str, text: str, *, max_tokens: int) -> str:
        """Do a small task on a text, such as rewording it; raises GenerationError."""
        inner = await self.opened()
        return await inner.complete(instructions, text, max_tokens=max_tokens)

    async def close(self) -> None:
        """Close the connections."""
        if self._inner is not None:
            await self._inner.close()

    async def opened(self) -> Generator:
        """Return the model itself, with its packages loaded."""
        async with self._alone:
            if self._inner is None:
                make = await asyncio.to_thread(backend, "generator", self.provider)
                self._inner = cast(Generator, make(self._access))
            return self._inner
