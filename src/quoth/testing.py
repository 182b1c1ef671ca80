"""Test doubles: an in-memory search engine without models, files or threads.

They satisfy the contracts of `protocols` and pass the same tests as the real backends, so that a
stage or the engine can be tested in a millisecond.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections import Counter
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from hashlib import blake2b
from itertools import pairwise

import numpy as np

from quoth.backends.indexes.rows import day_number, label_key, printed_labels, title_key
from quoth.core.protocols import (
    EncodedQuery,
    Finish,
    FinishReason,
    GenerationParams,
    Matrix,
    Message,
    Role,
    Written,
)
from quoth.core.types import Chunk, Filter, Pages, Scored, Seconds, Usage
from quoth.text.locators import speaker_key
from quoth.text.near_terms import MAX_NEAR, NEAR_WEIGHT, near_terms

WORDS = re.compile(r"\w+")
K1 = 1.2
B = 0.75

# --- embedders --------------------------------------------------------------------------------


class HashEmbedder:
    """Embeds by hashing words and word pairs: texts that share some are similar."""

    name = "hash"
    revision = "1"
    dimension = 64
    max_tokens = 512
    query_prefix = "query: "
    document_prefix = "passage: "

    async def embed(self, texts: Sequence[str], *, role: Role) -> Matrix:
        """Return one unit row per text, shape (texts, 64)."""
        prefix = self.query_prefix if role == "query" else self.document_prefix
        rows = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in zip(rows, texts, strict=True):
            words = _words(prefix + text)[: self.max_tokens]
            for gram in (*words, *map(" ".join, pairwise(words))):
                digest = blake2b(gram.encode("utf-8", "replace"), digest_size=2).digest()
                row[digest[0] % self.dimension] += 1 if digest[1] % 2 else -1
            length = np.linalg.norm(row)
            row[:] = row / length if length else np.eye(1, self.dimension)[0]
        return rows

    async def encode(self, query: str) -> EncodedQuery:
        """Return the query's vector; there are no token vectors."""
        return EncodedQuery((await self.embed([query], role="query"))[0])

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count words."""
        return [len(_words(text)) for text in texts]

    def close(self) -> None:
        """Do nothing; there is nothing to release."""


# --- indexes ----------------------------------------------------------------------------------


class MemoryIndex:
    """Both indexes in a dictionary: exact cosine, and BM25 over plain words.

    ``rows`` maps chunk ids to chunks and unit vectors; indexes given the same ``rows`` share their
    content.
    """

    def __init__(self, rows: dict[str, tuple[Chunk, Matrix]] | None = None) -> None:
        self.rows = {} if rows is None else rows

    async def upsert(self, chunks: Sequence[Chunk], *, vectors: Matrix) -> None:
        """Write chunks; writing a chunk again replaces it."""
        for chunk, vector in zip(chunks, vectors, strict=True):
            self.rows[chunk.chunk_id] = (chunk, vector)

    async def delete(self, document_ids: Sequence[str]) -> None:
        """Remove every chunk of the documents."""
        for chunk_id, (chunk, _) in list(self.rows.items()):
            if chunk.document_id in document_ids:
                del self.rows[chunk_id]

    async def nearest(
        self, vector: Matrix, *, limit: int, filters: Sequence[Filter] = ()
    ) -> list[Scored]:
        """Rank chunks by cosine, best first."""
        scores = {
            chunk_id: float(stored @ vector)
            for chunk_id, (chunk, stored) in self.rows.items()
            if passes(chunk, filters)
        }
        return _best(scores, limit=limit)

    async def vectors(
        self, chunk_ids: Sequence[str], *, exact: bool = False
    ) -> Mapping[str, Matrix]:
        """Return the stored vectors of the chunks that exist."""
        return {at: self.rows[at][1] for at in chunk_ids if at in self.rows}

    async def document_ids(self) -> Mapping[str, int]:
        """Return the number of chunks per document."""
        return Counter(chunk.document_id for chunk, _ in self.rows.values())

    async def count(self) -> int:
        """Return the number of chunks."""
        return len(self.rows)

    async def optimize(self) -> None:
        """Do nothing; every write is cheap to search."""

    async def needs_build(self) -> bool:
        """Return False."""
        return False

    async def build(self) -> bool:
        """Do nothing."""
        return False

    async def drop(self) -> None:
        """Remove everything."""
        self.rows.clear()

    def close(self) -> None:
        """Do nothing; there is nothing to close."""

    async def match(
        self, text: str, *, languages: Sequence[str], limit: int, filters: Sequence[Filter] = ()
    ) -> list[Scored]:
        """Rank chunks by BM25, best first; ``languages`` is ignored."""
        texts = {at: f"{chunk.prefix} {chunk.text}" for at, (chunk, _) in self.rows.items()}
        scores = bm25(text, texts)
        return _best(
            {at: score for at, score in scores.items() if passes(self.rows[at][0], filters)},
            limit=limit,
        )


# --- rerankers --------------------------------------------------------------------------------


class WordReranker:
    """Scores a chunk by the share of the query's words that it contains."""

    name = "words"

    async def score(
        self, query: str, chunks: Sequence[Chunk], *, tokens: Matrix | None = None
    ) -> list[float]:
        """Return one score per chunk, 0 to 1."""
        sought = set(_words(query))
        held = [set(_words(f"{chunk.prefix} {chunk.text}")) for chunk in chunks]
        return [len(sought & words) / max(1, len(sought)) for words in held]

    def close(self) -> None:
        """Do nothing; there is nothing to release."""


class ScriptedGenerator:
    """Streams scripted pieces and records the messages it received.

    A piece that is an error is raised at that point. ``pause_s`` passes before each piece.
    """

    provider = "scripted"
    model = "script"
    window = 32_000
    endpoint = ""
    local = True

    def __init__(
        self,
        *pieces: str | Exception,
        reason: FinishReason = "end",
        pause_s: float = 0.0,
    ) -> None:
        self._pieces = pieces
        self._reason: FinishReason = reason
        self._pause_s = pause_s
        self.told: list[tuple[Message, ...]] = []
        self.closed = 0
        """Number of closed streams, complete or not."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count words."""
        return [len(text.split()) for text in texts]

    def usd(self, usage: Usage) -> float | None:
        """Return a cost of zero."""
        return 0.0

    async def stream(
        self, messages: Sequence[Message], *, writing: GenerationParams
    ) -> AsyncIterator[Written]:
        """Yield the script."""
        self.told.append(tuple(messages))
        try:
            for piece in self._pieces:
                await asyncio.sleep(self._pause_s)
                if isinstance(piece, Exception):
                    raise piece
                yield piece
            told = sum(self.count_tokens([message.text for message in messages]))
            usage = Usage(told, sum(len(str(each).split()) for each in self._pieces))
            yield Finish(self._reason, usage, self.provider, self.model)
        finally:
            self.closed += 1

    async def complete(self, instructions: str, text: str, *, max_tokens: int) -> str:
        """Return the whole script."""
        return "".join(piece for piece in self._pieces if isinstance(piece, str))

    async def close(self) -> None:
        """Do nothing; there is nothing to release."""


def passes(chunk: Chunk, filters: Sequence[Filter]) -> bool:
    """Return whether a chunk meets every condition; a missing locator fails."""
    return all(_meets(chunk, condition) for condition in filters)


def bm25(query: str, texts: Mapping[str, str]) -> dict[str, float]:
    """Score the texts by BM25, k1 1.2, b .75, the idf never negative (Robertson, Zaragoza, 2009).

    https://doi.org/10.1561/1500000019
    """
    counts = {at: Counter(_words(text)) for at, text in texts.items()}
    mean = sum(count.total() for count in counts.values()) / max(1, len(counts))
    scores: dict[str, float] = {}
    known = {word for count in counts.values() for word in count}
    for word, weight in _weigh_terms(_words(query), known=known).items():
        holders = [at for at, count in counts.items() if word in count]
        idf = math.log(1 + (len(counts) - len(holders) + 0.5) / (len(holders) + 0.5))
        for at in holders:
            often = counts[at][word]
            norm = K1 * (1 - B + B * counts[at].total() / mean)
            scores[at] = scores.get(at, 0.0) + weight * idf * often * (K1 + 1) / (often + norm)
    return scores


def _weigh_terms(terms: Sequence[str], *, known: Collection[str]) -> dict[str, float]:
    """Return the terms to search for with their weights: how often each stands in the query.

    In place of an unknown term stand its nearest known ones, with `NEAR_WEIGHT` together.
    """
    weights: dict[str, float] = {}
    for term, times in Counter(terms).items():
        near = [term]
        if term not in known:
            near = [each for each in near_terms(term) if each in known][:MAX_NEAR]
        share = 1.0 if term in known else NEAR_WEIGHT / max(1, len(near))
        for each in near:
            weights[each] = weights.get(each, 0.0) + times * share
    return weights


def _meets(chunk: Chunk, condition: Filter) -> bool:
    place = chunk.locator
    if condition.operator == "overlaps":
        low, high = (float(value) for value in condition.values)
        if condition.field == "page" and isinstance(place, Pages):
            return place.first <= high and place.last >= low
        if condition.field == "seconds" and isinstance(place, Seconds):
            return place.start <= high and place.end >= low
        day = day_number(chunk.date)
        return condition.field == "date" and day > 0 and low <= day <= high
    if condition.field == "label":
        return not printed_labels(chunk).isdisjoint(
            label_key(str(value)) for value in condition.values
        )
    if condition.field == "section":
        return not {title_key(title) for title in chunk.section}.isdisjoint(
            title_key(str(value)) for value in condition.values
        )
    held = {
        "document": chunk.document_id,
        "kind": chunk.kind,
        "language": chunk.language,
        "speaker": speaker_key(chunk) or None,
        "chapter": chunk.chapter,
        "segment": chunk.segment,
    }
    return held.get(condition.field) in condition.values


def _best(scores: Mapping[str, float], *, limit: int) -> list[Scored]:
    return sorted(scores.items(), key=lambda scored: (-scored[1], scored[0]))[:limit]


def _words(text: str) -> list[str]:
    return WORDS.findall(text.casefold())
