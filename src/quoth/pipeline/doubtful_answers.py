"""A doubtful answer is looked at again: the sentence scorer reads its best sentences.

Weights and figures: docs/decisions/060-doubtful-answers-are-read-again.md.
"""

from __future__ import annotations

import math

import numpy as np

from quoth.answering.extractive.score import CandidateSentences, Scores
from quoth.core.calibration import logistic
from quoth.core.sentence_scores import SentenceScorer
from quoth.core.trace import Trace
from quoth.pipeline.components import Components
from quoth.pipeline.retrieve import Retrieved

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
    candidates: CandidateSentences,
    scores: Scores,
    probability: float | None,
    *,
    trace: Trace,
) -> float | None:
    """Return the probability that the collection answers, after reading if it is doubtful."""
    scorer, left = parts.sentence_scorer, trace.remaining_ms()
    if scorer is None or not found.plan.read_doubtful or not candidates.sentences:
        return probability
    if probability is None or not DOUBTFUL[0] < probability < DOUBTFUL[1]:
        return probability
    if left is not None and left < READING_MS:
        return probability
    reading = read_sentences(scorer, found.query.standalone, candidates, scores)
    read = await trace.attempt("sentences", reading, otherwise=None, fallback="vectors")
    if read is None or np.isnan(read).all():
        return probability
    odds = math.log(probability / (1 - probability)) + ANSWERS_WEIGHT * float(np.nanmax(read))
    return logistic(odds)


async def read_sentences(
    scorer: SentenceScorer, question: str, candidates: CandidateSentences, scores: Scores
) -> Scores:
    """Return the log-odds that each sentence answers, NaN if it was not read.

    Only `MAX_WINDOWS` windows with the best ``scores`` are read. Raises RerankError.
    """
    windows = sorted(_windows(candidates), key=lambda window: -max(scores[window]))[:MAX_WINDOWS]
    texts = [[candidates.sentences[at].text for at in window] for window in windows]
    found = np.full(len(scores), np.nan)
    for window, row in zip(windows, await scorer.score(question, texts), strict=True):
        found[window] = row
    return found


def _windows(candidates: CandidateSentences) -> list[list[int]]:
    """Return neighbouring sentences of a passage in groups of up to `MAX_WINDOW_CHARACTERS`."""
    found: list[list[int]] = []
    for at, sentence in enumerate(candidates.sentences):
        first = candidates.sentences[found[-1][0]] if found else None
        if (
            first is None
            or first.passage != sentence.passage
            or sentence.end - first.start > MAX_WINDOW_CHARACTERS
        ):
            found.append([])
        found[-1].append(at)
    return found
