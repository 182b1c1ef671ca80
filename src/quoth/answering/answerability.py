"""Does the collection say something on the question? The decision, and the words for it.

Where a calibration applies, the probability that the collection answers decides
(docs/decisions/017). Elsewhere a rule does that claims no probability: it compares two plain signs
with thresholds chosen on one half of the measured questions (docs/decisions/008).
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
"""The probability from which an answer needs no reservation: 95 in 100 such questions, half of
them about something else, were answerable, by the exact bound."""
MIN_STATEMENT_PROBABILITY = 0.4
"""The probability, by the best sentence, below which nothing is said: seven in ten questions near
to what is there stay unanswered, and one in twenty of the others (docs/decisions/025)."""
FEW_TERMS = 3
"""Words below which a question tells little by those that are missing."""
NOTHING = 0.56
"""Coverage + gap below which a question in the collection's language is not answered."""
SOME = 0.7
"""Coverage + gap below which its answer is called partial."""
FLOOR = 0.12
"""The gap below which everyday words alone make no answer ("How do I change my card?")."""
SPOKEN = 0.85
"""The coverage from which the words prove enough, whatever the gap."""
FOREIGN_NOTHING = 0.17
"""The gap below which a question in another language is not answered."""
FOREIGN_SOME = 0.23
"""The gap below which its answer is called partial."""
WORDS_NOTHING = 0.36
"""Coverage below which a question is not answered when there are no vectors."""
WORDS_SOME = 0.5
"""Coverage below which its answer is called partial."""
FEWEST = 20
"""Passages that must be compared before the gap between them means anything."""

_NAME = re.compile(r"(?<=\s)[\"'«“(]?(?:[^\W\d_]['’])?([A-ZÀ-ÖØ-Þ][\w.-]*\w)|\b(\w*\d[\w.,]*)\b")
_CAPITALS_NAME = frozenset({"en", "fr", "es", "it", "pt"})

Notice = Literal[
    "no_results", "partial", "low_relevance", "degraded", "missing", "empty", "nothing"
]


@dataclass(frozen=True, slots=True)
class AnswerEvidence:
    """What speaks for an answer.

    ``coverage`` is the part of the question's words, weighed by rarity, that the best chunk
    holds with its titles. ``gap`` is how far the best chunk's cosine stands out from the median
    of those compared, as a part of what is possible: (best − median) / (1 − median); None when
    too few were compared. ``foreign`` says that no passage speaks the question's language, so
    that its words prove nothing. ``missing`` are names and numbers of the question that no
    passage holds. ``terms`` is how many words of the question count.
    """

    coverage: float
    gap: float | None
    cross_lingual: bool
    missing: tuple[str, ...] = ()
    terms: int = 0


def weigh_evidence(
    query: Query, chosen_from: Shortlist, *, cosines: Sequence[float] | None
) -> AnswerEvidence:
    """Weigh what was found; ``cosines`` are the semantic leg's, None without one."""
    material = chosen_from.material
    foreign = bool(material.sentences) and all(
        each.language != query.language for each in material.sentences
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
    """What speaks for the sentences that would be said.

    ``cosine`` is that of the one nearest to the question; ``held`` is 1 without the share of the
    heaviest word of the question that the best one's passage and titles lack. A question of one
    or two words counts as one of `FEW_TERMS`: its verb may well stand there in another word.
    """

    cosine: float
    held: float


def weigh_statements(
    listed: Shortlist, statements: Sequence[Statement]
) -> StatementEvidence | None:
    """Weigh the chosen sentences; None where no vector tells, and in another language.

    A comparison finds its words in the passages of all its sentences together.
    """
    material = listed.material
    cosines = [each.cosine for each in statements if each.cosine is not None]
    best = max(statements, key=lambda each: each.score, default=None)
    languages = {each.chunk_id: each.language for each in material.sentences}
    if best is None or not cosines or languages[best.chunk_id] != listed.query.language:
        return None
    compared = len(listed.query.aspects) > 1
    passages = {each.passage for each in statements} if compared else {best.passage}
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
    """Return whether the collection says something on the question.

    ``probability`` is the calibrated one, None where no calibration applies: the evidence decides
    there. With one, a question is answered from the probability ``answer_from``.
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
    """Decide the status of an answer, once everything is known that speaks for it.

    ``statement_probability`` is that of the sentences that were chosen, None where nothing is
    known of it; below `MIN_STATEMENT_PROBABILITY` there is no answer, nor is there without a
    citation. Below `SURE` the passages are only loosely related. An answer that lacks a name or
    number of the question is partial, one made while a part of the search had failed is degraded.
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
            # A shared name or number is all there is to go by: answer with a reservation.
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
    if len(cosines) < FEWEST:
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
    """Return an outcome as a sentence; ``names`` are put into the notice ``missing``."""
    quoted = (translate("answering.quoted_name", language, name=name) for name in names)
    return translate(f"answering.{kind}", language, names=", ".join(quoted))


def status_notices(
    status: AnswerStatus, evidence: AnswerEvidence, *, language: str
) -> tuple[str, ...]:
    """Return the sentences that go with a status, for the answer's warnings."""
    found: list[str] = []
    if evidence.missing and status != "no_results":
        found.append(notice("missing", language=language, names=evidence.missing))
    if status != "answered" and not (status == "partial" and evidence.missing):
        found.append(notice(status, language=language))
    return tuple(found)
