"""Reranker by late interaction over the embedder's token vectors, without its own model."""

from __future__ import annotations

import asyncio
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from quoth.backends.late_interaction.token_space import (
    Packed,
    best_matches,
    normalize_rows,
    sum_matches,
    weighted_maxsim,
)
from quoth.backends.late_interaction.token_vectors import TokenVectors
from quoth.core.errors import EmbeddingError, RerankError
from quoth.core.protocols import Matrix
from quoth.core.sentence_scores import SpanScores
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
        sizes = [len(passage) for passage in passages]
        form = self._vectors.space.form
        return weighted_maxsim(
            best_matches(question, np.concatenate(passages), sizes=sizes, form=form)
        )


Span = tuple[int, int, int]
"""The place of a chunk in the list, and the characters of its text."""

_PIECE = re.compile(r"\w{1,5}|[^\w\s]")
"""About a token. Counting them exactly takes 20 ms instead of half a millisecond; the scores then
correlate by .98, since a word more or less at either end seldom is the nearest one."""

ASKED = 3
"""Tokens that tell what is asked for: the asking word and the two behind it."""


@lru_cache(maxsize=2048)
def _piece_starts(text: str) -> list[int]:
    return [match.start() for match in _PIECE.finditer(text)]


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
        asking: int = 0,
        tokens: Matrix | None = None,
    ) -> SpanScores:
        """Return the scores of each span, cosines, higher is better; raises EmbeddingError.

        ``asked`` is for `ASKED` tokens of the query from the character ``asking`` on.
        """
        if not spans:
            return SpanScores((), (), ())
        asked, kept = await asyncio.gather(
            self._vectors.space.question(question, tokens=tokens), self._vectors.passages(chunks)
        )
        matches, pooled = await asyncio.to_thread(
            self._matches, asked, kept, chunks=chunks, spans=spans
        )
        share = len(asked) / max(1, len(_PIECE.findall(question)))
        first = min(round(len(_PIECE.findall(question[:asking])) * share), len(asked) - 1)
        return SpanScores(
            weighted_maxsim(matches), sum_matches(matches[first : first + ASKED]), pooled
        )

    def _matches(
        self,
        asked: Matrix,
        kept: Sequence[Packed],
        *,
        chunks: Sequence[Chunk],
        spans: Sequence[Span],
    ) -> tuple[Matrix, list[float]]:
        form = self._vectors.space.form
        pieces = [_piece_starts(chunk.indexed) for chunk in chunks]
        found = []
        for place, start, end in spans:
            chunk, starts = chunks[place], pieces[place]
            ahead = len(chunk.indexed) - len(chunk.text)
            share = len(kept[place]) / max(1, len(starts))
            low = round(bisect_left(starts, ahead + start) * share)
            high = max(low + 1, round(bisect_left(starts, ahead + end) * share))
            found.append(kept[place][low:high])
        sizes = [len(span) for span in found]
        sums = np.array([form.unpack(span).sum(axis=0) for span in found])
        pooled = normalize_rows(sums) @ normalize_rows(asked.mean(axis=0))
        matches = best_matches(asked, np.concatenate(found), sizes=sizes, form=form)
        return matches, pooled.tolist()
