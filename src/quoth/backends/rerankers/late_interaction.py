"""Reranker by late interaction over the embedder's token vectors, without its own model."""

from __future__ import annotations

import asyncio
import re
from array import array
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from quoth.backends.late_interaction.encoding import Packed, best_matches, weighted_maxsim
from quoth.backends.late_interaction.token_vectors import TokenVectors
from quoth.core.errors import EmbeddingError, RerankError
from quoth.core.protocols import Matrix
from quoth.core.types import Chunk


@dataclass(frozen=True, slots=True)
class LateReranker:
    """A `Reranker` that scores passages by the similarity of their tokens to the query's.

    Query tokens are weighted by how well they discriminate, so all candidates are scored in one
    call. With stored token vectors that takes milliseconds; without, every passage
    is embedded again. Scores are cosines, mostly from 0.2 to 0.8.
    """

    _vectors: TokenVectors
    name: str = "late"

    async def score(
        self, query: str, chunks: Sequence[Chunk], *, tokens: Matrix | None = None
    ) -> list[float]:
        """Return one score per chunk, higher is better; raises RerankError."""
        if not chunks:
            return []
        try:
            question, passages = await asyncio.gather(
                self._vectors.space.question(query, tokens=tokens), self._vectors.passages(chunks)
            )
        except EmbeddingError as error:
            raise RerankError(
                f"The passages could not be compared with the question: {error}",
                retryable=error.retryable,
            ) from error
        return await asyncio.to_thread(self._weighed, question, passages)

    def close(self) -> None:
        """Do nothing: the embedder is closed by its owner."""

    def _weighed(self, question: Matrix, passages: Sequence[Packed]) -> list[float]:
        return weighted_maxsim(best_matches(question, passages, form=self._vectors.space.form))


Span = tuple[int, int, int]
"""The place of a chunk in the list, and the characters of its text."""

_PIECE = re.compile(r"\w{1,5}|[^\w\s]")
"""About a token. Counting them exactly takes 20 ms instead of half a millisecond; the scores then
correlate by .98, since a word more or less at either end seldom is the nearest one."""


@lru_cache(maxsize=1024)  # some 4 kB each, with the text
def _piece_starts(text: str) -> array[int]:
    # A list of numbers takes ten times as much memory.
    return array("I", [match.start() for match in _PIECE.finditer(text)])


@dataclass(frozen=True, slots=True)
class LateSpans:
    """Scores spans of chunks as the late reranker scores chunks; docs/decisions/042."""

    _vectors: TokenVectors

    async def score(
        self,
        question: str,
        chunks: Sequence[Chunk],
        *,
        spans: Sequence[Span],
        tokens: Matrix | None = None,
    ) -> list[float]:
        """Return one score per span, a cosine; raises EmbeddingError."""
        if not spans:
            return []
        asked, kept = await asyncio.gather(
            self._vectors.space.question(question, tokens=tokens), self._vectors.passages(chunks)
        )
        return await asyncio.to_thread(self._scored, asked, kept, chunks=chunks, spans=spans)

    def _scored(
        self,
        question: Matrix,
        kept: Sequence[Packed],
        *,
        chunks: Sequence[Chunk],
        spans: Sequence[Span],
    ) -> list[float]:
        pieces = [_piece_starts(chunk.indexed) for chunk in chunks]
        found = []
        for place, start, end in spans:
            chunk, starts = chunks[place], pieces[place]
            ahead = len(chunk.indexed) - len(chunk.text)
            share = len(kept[place]) / max(1, len(starts))
            low = round(bisect_left(starts, ahead + start) * share)
            high = max(low + 1, round(bisect_left(starts, ahead + end) * share))
            found.append(kept[place][low:high])
        return weighted_maxsim(best_matches(question, found, form=self._vectors.space.form))
