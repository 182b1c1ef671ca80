"""Answerability: whether the collection answers a question, the status and its notices.

Where a calibration applies, the probability that the collection answers decides
(docs/decisions/017 and 042). Elsewhere a rule without probabilities compares two features with
thresholds chosen on one half of the measured questions (docs/decisions/008).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from quoth.answering.extractive.score import QueryContext
from quoth.core.translations import translate
from quoth.core.types import AnswerStatus, Query

UNSURE = 0.06
"""The probability from which passages that do not answer are shown as the closest ones."""
NOTHING = 0.56
"""Coverage + gap below which a same-language query is not answered."""
FLOOR = 0.12
"""The gap below which common words alone are no evidence ("How do I change my card?")."""
SPOKEN = 0.85
"""The coverage from which the words suffice, whatever the gap."""
FOREIGN_NOTHING = 0.17
"""The gap below which a cross-lingual query is not answered."""
WORDS_NOTHING = 0.36
"""Coverage below which a query is not answered when there are no vectors."""
UNSURE_SHARE = 0.6
"""The share of these thresholds from which passages are shown as the closest ones."""
MIN_COMPARED = 20
"""Minimum number of passages for a meaningful gap."""
MIN_NAME = 3
"""Minimum letters of a name whose absence is mentioned."""

_NAME = re.compile(r"(?<=\s)[\"'«“(]?(?:[^\W\d_]['’])?([A-ZÀ-ÖØ-Þ][\w.-]*\w)|\b(\w*\d[\w.,]*)\b")
_CAPITALS_NAME = frozenset({"en", "fr", "es", "it", "pt"})

Notice = Literal[
    "no_results", "partial", "low_relevance", "degraded", "missing", "empty", "nothing", "no_more"
]


@dataclass(frozen=True, slots=True)
class AnswerEvidence:
    """Features of the evidence for an answer.

    ``coverage`` is the share of the query's words, weighted by rarity, in the best chunk with its
    titles. ``gap`` is how far the best chunk's cosine exceeds the median of those compared, as a
    share of the maximum: (best − median) / (1 − median); None when too few were compared.
    ``cross_lingual`` means that no passage is in the query's language, so that word features are
    meaningless. ``missing`` are names and numbers of the query that no passage contains. ``terms``
    is the number of query words that count.
    """

    coverage: float
    gap: float | None
    cross_lingual: bool
    missing: tuple[str, ...] = ()
    terms: int = 0


def weigh_evidence(
    query: Query, material: QueryContext, *, cosines: Sequence[float] | None
) -> AnswerEvidence:
    """Compute the evidence from the passages; ``cosines`` are vector search's, None without it."""
    foreign = bool(material.sentences) and all(
        sentence.language != query.language for sentence in material.sentences
    )
    return AnswerEvidence(
        coverage=_best_coverage(material),
        gap=None if cosines is None else _gap(cosines),
        cross_lingual=foreign,
        missing=() if foreign else _missing(query, material),
        terms=len(material.terms),
    )


def decide_status(
    evidence: AnswerEvidence,
    *,
    probability: float | None = None,
    answer_from: float | None = None,
    degraded: bool = False,
    placed: bool = False,
) -> AnswerStatus:
    """Decide the status of an answer: answered, not sure ("low_relevance") or nothing found.

    ``probability`` is the calibrated one, None where no calibration applies: there the evidence
    decides. With one, ``answer_from`` is the threshold. An answer that lacks a name or number of
    the query is partial, one made while a part of the search had failed is degraded. What stands at
    an explicit place (``placed``) is the answer, whatever the evidence.
    """
    if probability is not None and answer_from is not None:
        strength, enough, some = probability, answer_from, UNSURE
    else:
        strength, enough = _strength(evidence)
        some = UNSURE_SHARE * enough
    if strength < enough and not placed:
        return "low_relevance" if strength >= some else "no_results"
    if degraded:
        return "degraded"
    return "partial" if evidence.missing else "answered"


def _strength(evidence: AnswerEvidence) -> tuple[float, float]:
    """Return the strength of the evidence, and its threshold for an answer."""
    if evidence.cross_lingual:
        if evidence.gap is not None:
            return evidence.gap, FOREIGN_NOTHING
        # With only a shared name or number as evidence.
        return (FOREIGN_NOTHING if evidence.coverage > 0 else 0.0), FOREIGN_NOTHING
    if evidence.gap is None:
        return evidence.coverage, WORDS_NOTHING
    if evidence.gap < FLOOR and evidence.coverage < SPOKEN:
        return 0.0, NOTHING
    return evidence.coverage + evidence.gap, NOTHING


def _best_coverage(material: QueryContext) -> float:
    held: dict[str, frozenset[str]] = {}
    for each, stems, around in zip(
        material.sentences, material.stems, material.around, strict=True
    ):
        held[each.chunk_id] = held.get(each.chunk_id, around) | stems
    return max((material.coverage(stems) for stems in held.values()), default=0.0)


def _gap(cosines: Sequence[float]) -> float | None:
    if len(cosines) < MIN_COMPARED:
        return None
    middle = median(cosines)
    return (max(cosines) - middle) / (1 - middle) if middle < 1 else 0.0


def _missing(query: Query, material: QueryContext) -> tuple[str, ...]:
    everything = frozenset().union(*material.stems, *material.around)
    absent = {term.word for term in material.terms if not term.among(everything)}
    named: list[str] = []
    for match in _NAME.finditer(query.standalone):
        name, number = match.group(1), match.group(2)
        if name and query.language not in _CAPITALS_NAME:
            continue
        shown = name or number
        if name and len(name) < MIN_NAME:
            continue
        if any(shown.casefold().startswith(word) or word == shown.casefold() for word in absent):
            named.append(shown)
    return tuple(dict.fromkeys(named))


def notice(kind: Notice, *, language: str, names: Sequence[str] = ()) -> str:
    """Return the notice of an outcome; ``names`` are put into the notice ``missing``."""
    quoted = (translate("answering.quoted_name", language, name=name) for name in names)
    return translate(f"answering.{kind}", language, names=", ".join(quoted))


def status_notices(
    status: AnswerStatus, evidence: AnswerEvidence, *, language: str
) -> tuple[str, ...]:
    """Return the notices of a status, for the answer's warnings."""
    found: list[str] = []
    if evidence.missing and status != "no_results":
        found.append(notice("missing", language=language, names=evidence.missing))
    if status != "answered" and not (status == "partial" and evidence.missing):
        found.append(translate(f"answering.{status}", language))
    return tuple(found)
