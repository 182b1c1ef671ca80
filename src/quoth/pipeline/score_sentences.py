"""Scores of the candidate sentences: by token vectors and words, the best by a model as well."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from quoth.answering.extractive.candidates import question_word_offset
from quoth.answering.extractive.score import QueryContext, Scores, cosines_to, sentence_scores
from quoth.answering.extractive.select import sentence_spans
from quoth.core.protocols import EncodedQuery
from quoth.core.sentence_scores import SentenceScorer, SpanScorer, SpanScores
from quoth.core.trace import Trace
from quoth.core.types import Passage
from quoth.pipeline.components import Components
from quoth.pipeline.retrieve import Retrieved

COMPARED = 12
"""Sentences that are embedded where there are no token vectors."""
MAX_WINDOW_CHARACTERS = 750
"""Length of the neighbouring sentences that the sentence scorer reads at once."""
MAX_WINDOWS = 4
"""Windows that it reads, each in some 0.05 s."""


async def score_sentences(
    parts: Components,
    found: Retrieved,
    passages: Sequence[Passage],
    material: QueryContext,
    *,
    trace: Trace,
) -> tuple[Scores, float | None]:
    """Score the sentences by token vectors, else by their own vectors, else by words.

    The second value is the best log-odds of the sentence scorer, None without it.
    With the sentence scorer, which reads those around the best ones, all have other scores.
    """
    spans: SpanScores | None = None
    cosines: Scores | None = None
    if parts.spans is not None and material.sentences:
        scoring = _score_spans(parts.spans, found, material, passages)
        spans = await trace.attempt("read", scoring, otherwise=None, fallback="words")
    elif found.encoded is not None and material.sentences:
        scores = sentence_scores(found.query, material, passages=passages)
        best = np.argsort(-scores)[:COMPARED]
        texts = [material.titled_text(int(at)) for at in best]
        comparing = _sentence_cosines(parts, found.query.standalone, found.encoded, texts)
        close = await trace.attempt("quote", comparing, otherwise=None, fallback="words alone")
        if close is not None:
            cosines = np.full(len(scores), np.nan)
            cosines[best] = close
    scores = sentence_scores(found.query, material, passages=passages, spans=spans, cosines=cosines)
    if parts.sentence_scorer is None or spans is None or not found.plan.score_sentences:
        return scores, None
    reading = read_windows(parts.sentence_scorer, found.query.standalone, material, scores)
    answers = await trace.attempt("sentences", reading, otherwise=None, fallback="vectors")
    if answers is None:
        return scores, None
    scores = sentence_scores(found.query, material, passages=passages, spans=spans, answers=answers)
    return scores, float(np.nanmax(answers))


async def read_windows(
    scorer: SentenceScorer, question: str, material: QueryContext, scores: Scores
) -> Scores | None:
    """Return the scorer's log-odds of the sentences around the best ones, NaN elsewhere.

    None where it has read nothing.
    """
    windows = sorted(_windows(material), key=lambda window: -max(scores[window]))[:MAX_WINDOWS]
    texts = [[material.sentences[at].text for at in window] for window in windows]
    found = np.full(len(scores), np.nan)
    for window, each in zip(windows, await scorer.score(question, texts), strict=True):
        found[window] = each
    return None if np.isnan(found).all() else found


def _windows(material: QueryContext) -> list[list[int]]:
    """Return neighbouring sentences of a passage in groups of up to `MAX_WINDOW_CHARACTERS`."""
    found: list[list[int]] = []
    for at, sentence in enumerate(material.sentences):
        first = material.sentences[found[-1][0]] if found else None
        if (
            first is None
            or first.passage != sentence.passage
            or sentence.end - first.start > MAX_WINDOW_CHARACTERS
        ):
            found.append([])
        found[-1].append(at)
    return found


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
    scorer: SpanScorer, found: Retrieved, material: QueryContext, passages: Sequence[Passage]
) -> SpanScores:
    """Score the sentences against the query; in a conversation also after the last turn.

    Both count alike then, but for the question word (docs/decisions/037).
    """
    chunks, places = sentence_spans(material, passages)
    query = found.query
    alone = await scorer.score(
        query.standalone,
        chunks,
        spans=places,
        asking=question_word_offset(query.standalone) or 0,
        tokens=None if found.encoded is None else found.encoded.tokens,
    )
    if not query.in_context:
        return alone
    within = await scorer.score(query.in_context, chunks, spans=places)
    return replace(
        alone,
        whole=np.mean([alone.whole, within.whole], axis=0).tolist(),
        pooled=np.mean([alone.pooled, within.pooled], axis=0).tolist(),
    )
