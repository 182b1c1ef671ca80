"""How well each sentence of the passages answers, by token vectors, vectors or words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from quoth.answering.extractive.score import (
    CandidateSentences,
    Scores,
    cosines_to,
    sentence_scores,
)
from quoth.answering.extractive.select import sentence_spans
from quoth.core.protocols import EncodedQuery
from quoth.core.sentence_scores import SpanScorer
from quoth.core.trace import Trace
from quoth.core.types import Passage
from quoth.pipeline.components import Components
from quoth.pipeline.retrieve import Retrieved

MAX_EMBEDDED = 12
"""Sentences that are embedded where there are no token vectors, the best by their words."""


async def score_sentences(
    parts: Components,
    found: Retrieved,
    passages: Sequence[Passage],
    candidates: CandidateSentences,
    *,
    trace: Trace,
) -> Scores:
    """Score the sentences by token vectors, else by their own vectors, else by words."""
    late: Sequence[float] | None = None
    cosines: Scores | None = None
    if parts.spans is not None and candidates.sentences:
        scoring = _score_spans(parts.spans, found, candidates, passages)
        late = await trace.attempt("read", scoring, otherwise=None, fallback="words")
    elif found.encoded is not None and candidates.sentences:
        scores = sentence_scores(found.query, candidates, passages=passages)
        best = np.argsort(-scores)[:MAX_EMBEDDED]
        texts = [candidates.titled_text(int(at)) for at in best]
        comparing = _sentence_cosines(parts, found.query.standalone, found.encoded, texts)
        close = await trace.attempt("quote", comparing, otherwise=None, fallback="words alone")
        if close is not None:
            cosines = np.full(len(scores), np.nan)
            cosines[best] = close
    return sentence_scores(found.query, candidates, passages=passages, late=late, cosines=cosines)


async def _sentence_cosines(
    parts: Components, question: str, encoded: EncodedQuery, texts: Sequence[str]
) -> Scores:
    """Return the cosine of each sentence to the question, all embedded on this machine."""
    local = parts.sentences
    if local is None:
        return cosines_to(encoded.vector, await parts.embedder.embed(texts, role="document"))
    own = await local.encode(question)
    return cosines_to(own.vector, await local.embed(texts, role="document"))


async def _score_spans(
    scorer: SpanScorer,
    found: Retrieved,
    candidates: CandidateSentences,
    passages: Sequence[Passage],
) -> Sequence[float]:
    """Score the sentences against the query; in a conversation also against its other wording.

    That is a follow-up as it was typed, or another question after the last turns; it counts half as
    much (docs/decisions/037).
    """
    chunks, places = sentence_spans(candidates, passages)
    query = found.query
    alone = await scorer.score(
        query.standalone,
        chunks,
        spans=places,
        tokens=None if found.encoded is None else found.encoded.tokens,
    )
    # "Why?" and "more" say nothing of what is searched for.
    says_some = query.is_followup and any(term.is_asked for term in candidates.terms)
    other = query.in_context or (query.original if says_some else "")
    if other in ("", query.standalone):
        return alone
    also = await scorer.score(other, chunks, spans=places)
    mean: list[float] = np.average([alone, also], axis=0, weights=(2, 1)).tolist()
    return mean
