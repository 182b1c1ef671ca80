"""The probability that the collections answer a query, by the calibration of each."""

from __future__ import annotations

from quoth.answering.answerability import AnswerEvidence
from quoth.core.protocols import Reranker
from quoth.core.trace import Trace
from quoth.pipeline.retrieve import Retrieved
from quoth.retrieval.calibration import answer_probability, question_signals, reranker_scores


def is_calibrated(found: Retrieved) -> bool:
    """Return whether every collection that was searched has a calibration."""
    return bool(found.ranked) and all(ranking.tuning for ranking in found.ranked)


def estimate_probability(
    found: Retrieved, evidence: AnswerEvidence, *, reranker: Reranker | None, trace: Trace
) -> tuple[float | None, float | None]:
    """Return the probability that the collections answer, and the threshold for an answer.

    Of several collections it is that of the one that is the furthest above its threshold. None
    where a part of the search failed, or a collection has no calibration.
    """
    failed = any(entry.startswith(("embed:", "semantic:", "keyword:")) for entry in trace.degraded)
    if failed or not is_calibrated(found):
        return None, None
    estimates: list[tuple[float, float | None]] = []
    for ranking in found.ranked:
        signals = question_signals(
            keyword=ranking.legs.keyword,
            semantic=ranking.legs.semantic,
            coverage=evidence.coverage,
            terms=evidence.terms,
            gap=evidence.gap,
            foreign=evidence.cross_lingual,
            read=reranker_scores(ranking.pool, reranker=reranker),
        )
        probability = answer_probability(ranking.tuning, signals)
        if probability is not None and ranking.tuning is not None:
            estimates.append((probability, ranking.tuning.answer_from))
    return max(estimates, key=lambda pair: pair[0] - (pair[1] or 0), default=(None, None))
