"""What stands around a component: a wrapper, and checks of what it returns.

What it does wrong becomes an error that a stage has a fallback for.

A component may come from another package: it raises what it likes, and what it returns may not fit.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import isfinite
from typing import Any, NoReturn

import numpy as np

from quoth.core.errors import (
    BackendError,
    EmbeddingError,
    QuothError,
    RerankError,
    RetrievalError,
)
from quoth.core.protocols import CountsUsage, Embedder, Matrix, Role
from quoth.core.types import Scored, Usage

UNIT_TOLERANCE = 1e-3
"""How far the length of a vector may be from 1 before it is scaled."""

log = logging.getLogger("quoth.parts")


@contextmanager
def backend_errors(part: str, error: Callable[[str], BackendError]) -> Iterator[None]:
    """Raise an exception of the block that is no QuothError as ``error``, and log it.

    ``part`` is the component's name at the beginning of a sentence. The log has the traceback;
    that of the service leaves out the exception's text, which may repeat a question.
    """
    try:
        yield
    except Exception as problem:
        if isinstance(problem, QuothError):
            raise
        log.warning("part_failed: %s.", part, exc_info=problem)
        raise error(f"{part} failed: {type(problem).__name__}: {problem}") from problem


def unit_rows(rows: Any, *, shape: tuple[int, ...], name: str) -> Matrix:
    """Return the vectors of an embedder as unit vectors of ``shape``; raises EmbeddingError."""
    part = f"The embedder {name}"
    with np.errstate(all="ignore"):
        try:
            given = np.asarray(rows, np.float32)
        except (TypeError, ValueError, OverflowError):
            _refuse(EmbeddingError, f"{part} returned no vectors that can be read.")
        if given.shape != shape:
            _refuse(
                EmbeddingError,
                f"{part} returned vectors of shape {given.shape} where {shape} was expected.",
            )
        lengths = np.linalg.norm(given, axis=-1, keepdims=True)
        if not np.all((lengths > 0) & np.isfinite(lengths)):
            _refuse(EmbeddingError, f"{part} returned a vector without a direction (zero or NaN).")
        if np.all(np.abs(lengths - 1) <= UNIT_TOLERANCE):
            return given
        scaled: Matrix = (given / lengths).astype(np.float32)
        return scaled


def checked_scores(scores: Any, *, count: int, name: str) -> list[float]:
    """Return the scores of a reranker as a list of finite numbers; raises RerankError."""
    part = f"The reranker {name}"
    try:
        given = np.asarray(scores, np.float64)
    except (TypeError, ValueError, OverflowError):
        _refuse(RerankError, f"{part} returned no scores that can be read.")
    if given.shape != (count,):
        _refuse(
            RerankError,
            f"{part} returned scores of shape {given.shape} where {(count,)} was expected.",
        )
    if not np.isfinite(given).all():
        _refuse(RerankError, f"{part} returned a score that is not a finite number.")
    found: list[float] = given.tolist()
    return found


def checked_ranking(ranking: Any, *, name: str) -> list[Scored]:
    """Return what a store found as ids with finite scores; raises RetrievalError."""
    part = f"The store {name}"
    try:
        found = [(str(key), float(score)) for key, score in ranking]
    except (TypeError, ValueError, OverflowError):
        _refuse(RetrievalError, f"{part} returned no ids with scores.")
    if not all(isfinite(score) for _, score in found):
        _refuse(RetrievalError, f"{part} returned a score that is not a finite number.")
    return found


def checked_counts(counts: Sequence[int], *, count: int) -> list[int]:
    """Return the token counts of a model, one per text; raises ValueError and TypeError."""
    found = [int(each) for each in counts]
    if len(found) != count:
        raise ValueError(f"counted the tokens of {len(found)} texts where {count} were given")
    return found


def _refuse(error: Callable[[str], BackendError], message: str) -> NoReturn:
    log.warning("part_failed: %s", message)
    raise error(message)


class EmbedderWrapper:
    """An embedder within another one; a subclass has `embed` and `encode` of its own."""

    def __init__(self, inner: Embedder) -> None:
        self.inner = inner
        self.name = inner.name
        self.revision = inner.revision
        self.dimension = inner.dimension
        self.max_tokens = inner.max_tokens
        self.query_prefix = inner.query_prefix
        self.document_prefix = inner.document_prefix

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text, without the role's prefix and special tokens."""
        return self.inner.count_tokens(texts)

    async def embed_inner(self, texts: Sequence[str], *, role: Role) -> tuple[Matrix, Usage]:
        """Return the rows of the inner embedder, and what a provider charges for them."""
        if isinstance(self.inner, CountsUsage):
            return await self.inner.embed_counted(texts, role=role)
        return await self.inner.embed(texts, role=role), Usage()

    def close(self) -> None:
        """Do nothing: the embedder itself serves others."""
