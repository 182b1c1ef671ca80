"""A doubtful answer is looked at again: the sentence scorer reads its best sentences.

Weights and figures: docs/decisions/060-doubtful-answers-are-read-again.md.
"""

from __future__ import annotations

import math

import numpy as np

from quoth.answering.extractive.score import QueryContext, Scores
from quoth.core.sentence_scores import SentenceScorer
from quoth.core.trace import Trace
from quoth.pipeline.components import Components
from quoth.pipeline.retrieve import Retrieved
from quoth.retrieval.calibration import logistic

DOUBTFUL = (0.1, 0.5)
"""Probabilities between which the collection may or may not answer."""
ANSWERS_WEIGHT = 0.2
"""What the scorer's best log-odds add to those of the answer."""
MAX_WINDOW_CHARACTERS = 750
"""Length of the neighbouring sentences that are read at once."""
MAX_WINDOWS = 4
"""Windows that are read, each in some 0.05 s."""
READING_MS = 1000
"""A request with less time left is answered without."""


async def read_again(
    parts: Components,
    found: Retrieved,
    material: QueryContext,
    scores: Scores,
    probability: float | None,
    *,
    trace: Trace,
) -> float | None:
    """Return the probability that the collection answers, after reading if it is doubtful."""
    scorer, left = parts.sentence_scorer, trace.remaining_ms()
    if scorer is None or not found.plan.read_doubtful or not material.sentences:
        return probability
    if probability is None or not DOUBTFUL[0] < probability < DOUBTFUL[1]:
        return probability
    if left is not None and left < READING_MS:
        return probability
    reading = _best_answer(scorer, found.query.standalone, material, scores)
    best = await trace.attempt("sentences", reading, otherwise=None, fallback="vectors")
    if best is None:
        return probability
    odds = math.log(probability / (1 - probability)) + ANSWERS_WEIGHT * best
    return logistic(odds)


async def _best_answer(
    scorer: SentenceScorer, question: str, material: QueryContext, scores: Scores
) -> float | None:
    """Return the best log-odds of the sentences around the best ones; None if none was read."""
    windows = sorted(_windows(material), key=lambda window: -max(scores[window]))[:MAX_WINDOWS]
    texts = [[material.sentences[at].text for at in window] for window in windows]
    found = np.concatenate(await scorer.score(question, texts))
    return None if np.isnan(found).all() else float(np.nanmax(found))


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
