"""Rerankers of providers: Cohere (rerank-v3.5) and Voyage (rerank-2.5), or a server like theirs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from quoth.backends.http_access import HttpAccess, sendable
from quoth.backends.http_json import JsonClient
from quoth.backends.rerankers.access import PROVIDERS
from quoth.core.errors import RerankError
from quoth.core.protocols import Matrix
from quoth.core.types import Chunk, Usage

MAX_CHARACTERS = 8000
"""Of one passage; both read four thousand tokens with the query."""


class RemoteReranker:
    """A `Reranker` that asks a provider; scores are its own, from 0 to 1."""

    def __init__(self, access: HttpAccess) -> None:
        self.name = f"{access.provider}:{access.model}"
        self.endpoint = access.endpoint
        self.local = access.local
        self._access = access
        self._client = JsonClient(access, error=RerankError)

    async def score(
        self, query: str, chunks: Sequence[Chunk], *, tokens: Matrix | None = None
    ) -> list[float]:
        """Return one score per chunk, higher is better; raises RerankError."""
        return (await self.score_counted(query, chunks, tokens=tokens))[0]

    async def score_counted(
        self, query: str, chunks: Sequence[Chunk], *, tokens: Matrix | None = None
    ) -> tuple[list[float], Usage]:
        """Return the scores, and the tokens and dollars that the provider charges."""
        if not chunks:
            return [], Usage()
        body = {
            "model": self._access.model,
            "query": sendable(query),
            "documents": [sendable(chunk.indexed)[:MAX_CHARACTERS] for chunk in chunks],
        }
        headers = {"Authorization": f"Bearer {self._access.key}"}
        reply = await self._client.post("/rerank", body, headers=headers)
        known = PROVIDERS[self._access.provider]
        try:
            rows = reply[known.results]
            scores = {int(row["index"]): float(row["relevance_score"]) for row in rows}
            made = [scores[at] for at in range(len(chunks))]
        except (LookupError, TypeError, ValueError):
            raise RerankError(
                f"The reranker {self.name} at {self.endpoint} did not score every passage."
            ) from None
        usage = known.usage(reply, model=self._access.model)
        return made, replace(usage, usd=0.0) if self.local else usage

    def close(self) -> None:
        """Do nothing: `aclose` closes the connections."""

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()
