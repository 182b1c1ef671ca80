"""Answerability: whether the collection answers a question, the status and its notices.

Where a calibration applies, the probability that the collection answers decides
(docs/decisions/017 and 057). Elsewhere a rule without probabilities compares two features with
thresholds chosen on one half of the measured questions (docs/decisions/008).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from quoth.answering.expected_value import values_of
from quoth.answering.extractive.score import CandidateSentences, Scores, prefer_language
from quoth.answering.generative.sanitize import plain_quotation
from quoth.core.translations import translate
from quoth.core.types import Answer, AnswerStatus, Query

CERTAIN = 0.45
"""The probability below which an answer says that it may be none (docs/decisions/057)."""


def is_doubtful(answer: Answer) -> bool:
    """Return whether an answer in the sources' own words may be none."""
    return bool(answer.citations) and answer.model is None and (answer.confidence or 1) < CERTAIN


def describe_degradation(entry: str, *, language: str) -> str:
    """Describe an entry ``stage:reason:fallback`` of `Answer.degraded`.

    An entry without a known sentence is shown unchanged.
    """
    stage, reason, fallback = [*entry.split(":", 2), "", ""][:3]
    why = _sentence(f"reason_{reason}", language)
    instead = _sentence(f"fallback_{stage}_{fallback.replace(' ', '_')}", language)
    if stage == "generate" and why is None:
        kind = "other"
    elif why is not None and stage.startswith("collection "):
        kind = "left_out"
    else:
        kind = "whole" if why is not None and instead is not None else "unknown"
    return translate(
        f"answering.degraded_{kind}",
        language,
        why=why,
        instead=instead,
        stage=stage,
        reason=reason,
        fallback=fallback,
    )


def _sentence(name: str, language: str) -> str | None:
    try:
        return translate(f"answering.{name}", language)
    except KeyError:
        return None


def notes(answer: Answer, *, language: str | None = None) -> Iterator[str]:
    """Yield the notes on an answer, each once; what failed in ``language`` or the question's."""
    asked = answer.query.language
    spoken = language or asked
    if is_doubtful(answer):
        yield translate("answering.uncertain", spoken)
    told: list[str] = []
    if any(entry.startswith("generate:") for entry in answer.degraded):
        told = [add_warning(each, language=asked) for each in ("failed", "cut", "refused", "empty")]
    yield from (warning for warning in answer.warnings if warning not in told)
    yield from (describe_degradation(entry, language=spoken) for entry in answer.degraded)


UNSURE, FOREIGN_UNSURE = 0.06, 0.02
"""The probability from which passages that do not answer are shown as the closest ones; the second
where they are in another language (docs/decisions/057 and 065)."""
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
MIN_WORDS = 3
"""Words of a question above which most of them in capitals are no names."""

_NAME = re.compile(r"(?<=\s)[\"'«“(]?(?:[^\W\d_]['’])?([A-ZÀ-ÖØ-Þ][\w.-]*\w)|\b(\w*\d[\w.,]*)\b")
_CAPITALS_NAME = frozenset({"en", "fr", "es", "it", "pt"})

Notice = Literal[
    "no_results",
    "partial",
    "low_relevance",
    "degraded",
    "missing",
    "unquoted",
    "empty",
    "nothing",
    "nothing_there",
    "no_more",
]


@dataclass(frozen=True, slots=True)
class AnswerEvidence:
    """Features of the evidence for an answer.

    ``coverage`` is the share of the query's words, weighted by rarity, in the best chunk with its
    titles and speakers. ``gap`` is how far the best chunk's cosine exceeds the median of those
    compared, as a share of the maximum: (best − median) / (1 − median); None when too few were
    compared.
    ``cross_lingual`` means that the best sentence is in another language than the query, or that
    all are, so that word features are meaningless. ``missing`` are names and numbers of the query
    that no passage contains. ``terms`` is the number of query words that count.
    """

    coverage: float
    gap: float | None
    cross_lingual: bool
    missing: tuple[str, ...] = ()
    terms: int = 0


def weigh_evidence(
    query: Query,
    candidates: CandidateSentences,
    *,
    cosines: Sequence[float] | None,
    scores: Scores | None = None,
) -> AnswerEvidence:
    """Compute the evidence from the passages.

    ``cosines`` are vector search's, None without it, ``scores`` those of `sentence_scores` where a
    calibration applies: the best sentence's language decides whether the evidence is cross-lingual.
    Without them it is where no passage is in the query's language.
    """
    foreign = [sentence.language != query.language for sentence in candidates.sentences]
    cross_lingual = bool(foreign) and all(foreign)
    if foreign and scores is not None:
        cross_lingual = foreign[int(prefer_language(query, candidates, scores).argmax())]
    held: dict[str, frozenset[str]] = {}
    for each, stems, around in zip(
        candidates.sentences, candidates.stems, candidates.around, strict=True
    ):
        held[each.chunk_id] = held.get(each.chunk_id, frozenset()) | around | stems
    gap = None
    if cosines is not None and len(cosines) >= MIN_COMPARED:
        middle = median(cosines)
        gap = (max(cosines) - middle) / (1 - middle) if middle < 1 else 0.0
    return AnswerEvidence(
        coverage=max((candidates.coverage(stems) for stems in held.values()), default=0.0),
        gap=gap,
        cross_lingual=cross_lingual,
        missing=() if cross_lingual else _missing(query, candidates, places=range(len(foreign))),
        terms=len(candidates.terms),
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
        strength, enough = probability, answer_from
        some = FOREIGN_UNSURE if evidence.cross_lingual else UNSURE
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


def are_rows_of_others(
    query: Query, candidates: CandidateSentences, *, quoted: Sequence[int]
) -> bool:
    """Return whether the best of the sentences that are quoted is a row about something else.

    Such a row has the right columns and a wrong value. What is quoted has then, with its titles,
    no name or number of the question, or lacks one that another row has: "April 1854", with all its
    words. Rows in another language than the question's need only its numbers.
    """
    sentences = candidates.sentences
    rows = [at for at, each in enumerate(sentences) if each.has_cells]
    if not quoted or quoted[0] not in rows:
        return False
    translated = any(sentences[at].language != query.language for at in quoted)
    names = [
        words
        for name in _names(query)
        if (words := {word for word in name.split() if not (translated and word.isalpha())})
    ]
    if not names:
        return False
    absent = {at: set(_missing(query, candidates, places=[at])) for at in {*rows, *quoted}}

    def has(at: int, name: set[str]) -> bool:
        return name.isdisjoint(absent[at])

    lacking = [name for name in names if not any(has(at, name) for at in quoted)]
    elsewhere = any(has(at, name) for name in lacking for at in rows)
    return elsewhere or len(lacking) == len(names)


def _names(query: Query) -> list[str]:
    """Return the names and numbers of a query, with the words of one separated by spaces.

    Of a query in capitals only the numbers.
    """
    found: list[str] = []
    end = -1
    words = [word for word in query.standalone.split() if word[0].isalpha()]
    shouted = sum(word[0].isupper() for word in words) > len(words) / 2
    for match in _NAME.finditer(query.standalone):
        shown = match.group(1) or match.group(2)
        if shouted and match.group(1) and len(words) > MIN_WORDS:
            continue
        if found and match.start() == end + 1:
            found[-1] += f" {shown}"
        else:
            found.append(shown)
        end = match.end()
    return found


def _missing(
    query: Query, candidates: CandidateSentences, *, places: Sequence[int]
) -> tuple[str, ...]:
    """Return the query's names and numbers that are neither in sentences nor around them."""
    everything = frozenset[str]().union(
        *(candidates.stems[at] | candidates.around[at] | candidates.speakers[at] for at in places)
    )
    absent = {term.word for term in candidates.terms if not term.among(everything)}
    said = "\n".join(candidates.sentences[at].text for at in places) if absent else ""
    named: list[str] = []
    for match in _NAME.finditer(query.standalone):
        name, number = match.group(1), match.group(2)
        if name and query.language not in _CAPITALS_NAME:
            continue
        shown = name or number
        if query.is_followup and shown not in query.original:  # of an earlier question
            continue
        if name and (len(name) < MIN_NAME or name in said):  # "MSWindows" mentions Windows
            continue
        folded = shown.casefold()
        if not any(folded.startswith(word) for word in absent):
            continue
        if not _is_written_otherwise(shown, said, language=query.language):
            named.append(shown)
    return tuple(dict.fromkeys(named))


def _is_written_otherwise(shown: str, text: str, *, language: str) -> bool:
    """Return whether a text has a number or month: "five hundred" for 500, "2020-03-01" for March.

    "8-13" has 10. Names of months that are words, too, are read as months beside a number.
    """
    ranges = ([int(end) for end in found.groups()] for found in _RANGE.finditer(text))
    if shown.isdecimal() and any(first <= int(shown) <= last for first, last in ranges):
        return True
    wanted = {value.key for value in values_of(f"1 {shown}", language)} - {"1"}
    return bool(wanted) and wanted <= {value.key for value in values_of(text, language)}


def notice(kind: Notice, *, language: str, names: Sequence[str] = ()) -> str:
    """Return the notice of an outcome; ``names`` are put into ``missing`` and ``unquoted``."""
    plain = map(plain_quotation, names)
    quoted = (translate("answering.quoted_name", language, name=name) for name in plain)
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


_RANGE = re.compile(r"(?<![\d.,/–-])(\d{1,2}) ?[-–] ?(\d{1,2})(?![\d/]|[.,]\d| ?[-–])")
"""A range of small numbers, such as ages; larger ones may be those of a telephone."""
Note = Literal[
    "unsupported", "unverified", "dropped", "cut", "refused", "silent", "empty", "foreign",
    "failed", "language", "links",
]  # fmt: skip


def add_warning(kind: Note, *, language: str) -> str:
    """Return the warning about a generated answer."""
    return translate(f"answering.model_{kind}", language)
