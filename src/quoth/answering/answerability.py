"""Answerability: whether the collection answers a question, the status and its notices.

Where a calibration applies, the probability that the collection answers decides
(docs/decisions/017). Elsewhere a rule without probabilities compares two features with thresholds
chosen on one half of the measured questions (docs/decisions/008).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from quoth.answering.extractive.score import QueryContext
from quoth.answering.extractive.select import Shortlist, Statement
from quoth.core.translations import translate
from quoth.core.types import AnswerStatus, Query

SURE = 0.75
"""The probability from which an answer needs no reservation: 95 in 100 such questions, half of them
about something else, were answerable, by the exact bound."""
MIN_STATEMENT_PROBABILITY = 0.4
"""The probability, by the best sentence, below which no answer is given: seven in ten near-miss
questions are then unanswered, and one in twenty of the others (docs/decisions/025)."""
FEW_TERMS = 3
"""A query with fewer words is judged less by its missing ones."""
NOTHING = 0.56
"""Coverage + gap below which a same-language query is not answered."""
SOME = 0.7
"""Coverage + gap below which its answer is called partial."""
FLOOR = 0.12
"""The gap below which common words alone are no evidence ("How do I change my card?")."""
SPOKEN = 0.85
"""The coverage from which the words suffice, whatever the gap."""
FOREIGN_NOTHING = 0.17
"""The gap below which a cross-lingual query is not answered."""
FOREIGN_SOME = 0.23
"""The gap below which its answer is called partial."""
WORDS_NOTHING = 0.36
"""Coverage below which a query is not answered when there are no vectors."""
WORDS_SOME = 0.5
"""Coverage below which its answer is called partial."""
MIN_COMPARED = 20
"""Minimum number of passages for a meaningful gap."""

_NAME = re.compile(r"(?<=\s)[\"'«“(]?(?:[^\W\d_]['’])?([A-ZÀ-ÖØ-Þ][\w.-]*\w)|\b(\w*\d[\w.,]*)\b")
_CAPITALS_NAME = frozenset({"en", "fr", "es", "it", "pt"})

Notice = Literal[
    "no_results", "partial", "low_relevance", "degraded", "missing", "empty", "nothing"
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
    query: Query, chosen_from: Shortlist, *, cosines: Sequence[float] | None
) -> AnswerEvidence:
    """Compute the evidence from the passages; ``cosines`` are vector search's, None without it."""
    material = chosen_from.material
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


@dataclass(frozen=True, slots=True)
class StatementEvidence:
    """Features of the selected statements.

    ``cosine`` is that of the statement most similar to the query; ``held`` is 1 minus the share of
    the query's rarest word that the best statement's passage and titles lack. A query of one or two
    words counts as one of `FEW_TERMS`: its verb may well occur there as a synonym.
    """

    cosine: float
    held: float


def weigh_statements(
    listed: Shortlist, statements: Sequence[Statement]
) -> StatementEvidence | None:
    """Compute the features of the statements; None without vectors, and across languages.

    A comparison finds its words in the passages of all its sentences together.
    """
    material = listed.material
    cosines = [statement.cosine for statement in statements if statement.cosine is not None]
    best = max(statements, key=lambda each: each.score, default=None)
    languages = {sentence.chunk_id: sentence.language for sentence in material.sentences}
    if best is None or not cosines or languages[best.chunk_id] != listed.query.language:
        return None
    compared = len(listed.query.aspects) > 1
    passages = {statement.passage for statement in statements} if compared else {best.passage}
    stems = frozenset[str]().union(
        *(
            material.stems[place] | material.around[place]
            for place, each in enumerate(material.sentences)
            if each.passage in passages
        )
    )
    whole = sum(term.weight for term in material.terms)
    absent = max((term.weight for term in material.terms if not term.among(stems)), default=0.0)
    share = absent / whole * min(1.0, len(material.terms) / FEW_TERMS) if whole else 0.0
    return StatementEvidence(max(cosines), 1 - share)


def is_answerable(
    evidence: AnswerEvidence, *, probability: float | None = None, answer_from: float | None = None
) -> bool:
    """Return whether the collection answers the question.

    ``probability`` is the calibrated one, None where no calibration applies: there the evidence
    decides. With one, ``answer_from`` is the threshold.
    """
    if probability is not None and answer_from is not None:
        return probability >= answer_from
    strength, minimum, _ = _strength(evidence)
    return strength >= minimum


def decide_status(
    evidence: AnswerEvidence,
    *,
    probability: float | None = None,
    answer_from: float | None = None,
    statement_probability: float | None = None,
    degraded: bool = False,
    cited: bool = True,
) -> AnswerStatus:
    """Decide the status of an answer from all its evidence.

    ``statement_probability`` is that of the selected statements, None if unknown; below
    `MIN_STATEMENT_PROBABILITY` there is no answer, nor is there without a citation. Below `SURE`
    the passages are only loosely related. An answer that lacks a name or number of the query is
    partial, one made while a part of the search had failed is degraded.
    """
    unlikely = (
        statement_probability is not None and statement_probability < MIN_STATEMENT_PROBABILITY
    )
    answerable = is_answerable(evidence, probability=probability, answer_from=answer_from)
    if not cited or unlikely or not answerable:
        return "no_results"
    if degraded:
        return "degraded"
    if probability is not None and answer_from is not None:
        loose, partial = probability < max(SURE, answer_from), False
    else:
        strength, _, enough = _strength(evidence)
        loose, partial = False, strength < enough
    if loose:
        return "low_relevance"
    return "partial" if partial or evidence.missing else "answered"


def _strength(evidence: AnswerEvidence) -> tuple[float, float, float]:
    """Return the strength of the evidence, and its thresholds for any and for a full answer."""
    if evidence.cross_lingual:
        gap = evidence.gap
        if gap is None:
            # With only a shared name or number as evidence: answer with a reservation.
            gap = FOREIGN_NOTHING if evidence.coverage > 0 else 0.0
        return gap, FOREIGN_NOTHING, FOREIGN_SOME
    if evidence.gap is None:
        return evidence.coverage, WORDS_NOTHING, WORDS_SOME
    if evidence.gap < FLOOR and evidence.coverage < SPOKEN:
        return 0.0, NOTHING, SOME
    return evidence.coverage + evidence.gap, NOTHING, SOME


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
        found.append(notice(status, language=language))
    return tuple(found)
