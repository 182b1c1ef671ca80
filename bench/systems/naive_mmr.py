"""The naive design with diversity: the first twenty are embedded again, one by one, for MMR."""

# mypy: disable-error-code="import-not-found"

from __future__ import annotations

from pathlib import Path

from sklearn.metrics.pairwise import cosine_similarity

from bench.corpus import Matrix
from bench.embedder import Embedder
from bench.system import Found, Retrieve, Tools, found
from bench.systems.naive import build, ranker

__all__ = ["build", "load"]

POOL = 20
RELEVANCE = 0.7


def load(folder: Path, *, tools: Tools) -> Retrieve:
    """Open what the naive design built."""
    embedder = Embedder(tools.model)
    rank = ranker(folder, tools=tools)

    def retrieve(query: str, limit: int) -> Found:
        with tools.stages("embed"):
            vector = embedder.query(query)
        hits = rank(query, vector, max(POOL, limit))
        with tools.stages("embed again"):
            rows = [embedder.passages([hit.text])[0] for hit in hits]
        with tools.stages("mmr"):
            chosen = diverse(vector, rows, limit=limit)
        return found([hits[at] for at in chosen])

    return retrieve


def diverse(query: Matrix, rows: list[Matrix], *, limit: int) -> list[int]:
    """Maximal marginal relevance with a library call per pair, as tutorials write it."""
    relevance = cosine_similarity([query], rows)[0]
    chosen: list[int] = []
    left = list(range(len(rows)))
    while left and len(chosen) < limit:
        likeness = {
            at: max(cosine_similarity([rows[at]], [rows[other] for other in chosen])[0])
            if chosen
            else 0.0
            for at in left
        }
        best = max(left, key=lambda at: RELEVANCE * relevance[at] - (1 - RELEVANCE) * likeness[at])
        chosen.append(best)
        left.remove(best)
    return chosen
