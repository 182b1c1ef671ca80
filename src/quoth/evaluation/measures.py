"""Measures of rankings, computed by ir-measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import ir_measures
from ir_measures import RR, R, nDCG

from quoth.evaluation.datasets import Judgments

MEASURES = {
    "ndcg@10": nDCG @ 10,
    "recall@20": R @ 20,
    "recall@100": R @ 100,
    "mrr@10": RR @ 10,
}
"""nDCG has linear gains (the grade) and the logarithm to base 2 of rank + 1 as discount (Järvelin
and Kekäläinen, TOIS 2002); recall and reciprocal rank count every grade above 0 as relevant."""


def mean(rows: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Average every measure over the questions."""
    return {
        name: sum(row[name] for row in rows.values()) / len(rows) if rows else 0.0
        for name in MEASURES
    }


def per_question(
    runs: Mapping[str, Sequence[str]], *, judgments: Judgments
) -> dict[str, dict[str, float]]:
    """Return every measure for each judged question of the run.

    ``runs`` gives document ids, best first, per question; a question whose list is empty counts
    with 0, one without judgments does not count.
    """
    judged = {question: dict(judgments[question]) for question in runs if question in judgments}
    scored = {
        question: {each: float(-rank) for rank, each in enumerate(runs[question])}
        for question in judged
    }
    rows = {question: dict.fromkeys(MEASURES, 0.0) for question in judged}
    names = {each: name for name, each in MEASURES.items()}
    for value in ir_measures.iter_calc(list(names), judged, scored):
        rows[value.query_id][names[value.measure]] = float(value.value)
    return rows


def document_ranking(chunks: Sequence[str], *, document_of: Mapping[str, str]) -> list[str]:
    """Turn ranked chunk ids into ranked documents: a document stands where its best chunk does."""
    return list(dict.fromkeys(document_of[each] for each in chunks))
