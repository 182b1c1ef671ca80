"""Understanding on annotated questions: filters, types, languages, follow-ups, time.

What a filter means is compared, not how it is written: page labels by the set of labels, names
without case and accents, ranges by their ends.
"""

from __future__ import annotations

import math
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from quoth.bootstrap import open_embedder
from quoth.core.protocols import Matrix
from quoth.core.settings import Settings
from quoth.core.types import Filter, Query
from quoth.evaluation.questions import (
    Expected,
    ExpectedFilter,
    UnderstandingSet,
    load_understanding,
)
from quoth.evaluation.significance import latency_ms, mean_of
from quoth.query.comparison_aspects import MAX_ASPECTS
from quoth.query.entity_index import build_entity_index
from quoth.query.understand import understand
from quoth.text.analyzer import normalize_name

MOMENT_SECONDS = 120.0
"""The widest range that still counts as one moment."""
TIMED = 3
"""Times that each question is understood; the median counts, since others share the machine."""
WITHOUT = "none"
_ARTICLE = re.compile(r"^(?:(?:an?|the|une?|les?|la|des|du)\s+|l['’])")

Range = tuple[float, float]
Meaning = tuple[str, frozenset[str] | Range]


@dataclass(frozen=True, slots=True)
class UnderstandingMiss:
    """A question that was understood otherwise than expected, and in what."""

    id: str
    text: str
    what: str
    expected: str
    found: str


@dataclass(frozen=True, slots=True)
class UnderstandingReport:
    """Shares from 0 to 1, and milliseconds per question.

    ``exact_filters`` is over all questions, ``exact_where_expected`` over those with a filter,
    ``false_filters`` the share of questions without one that got one; ``fields`` gives exactness
    by expected field; ``lifts`` how often an expected guess lifts and does not filter;
    ``aspects`` how often all that a comparison compares was found; ``kinds`` counts found by
    expected kind.
    """

    questions: int
    split: str
    exact_filters: float
    exact_where_expected: float
    false_filters: float
    lifts: float
    types: float
    languages: float
    followups: float
    aspects: float
    latency_ms: Mapping[str, float]
    fields: Mapping[str, float]
    kinds: Mapping[str, Mapping[str, int]]
    latencies_ms: tuple[float, ...]
    misses: tuple[UnderstandingMiss, ...]
    per_question: Mapping[str, Mapping[str, float]]


async def evaluate_understanding(
    folder: Path, *, split: str | None = None, settings: Settings | None = None
) -> UnderstandingReport:
    """Analyse the questions of a folder, with its ``shelf.json`` if there is one.

    They are those of ``SPLIT.jsonl``, or as `locate_rows` finds them. Raises InputError.
    With settings the questions are embedded first, as the engine does; without, the classifiers
    of types and follow-ups know the words alone.
    """
    data = load_understanding(folder, split=split)
    names = build_entity_index(data.shelf, labels=data.labels)
    texts = list(dict.fromkeys(row.text for row in data.questions))
    vectors = dict(zip(texts, await _embed(texts, settings), strict=True)) if settings else {}

    def ask(row: Expected) -> Query:
        return understand(row.text, names=names, history=row.history, vector=vectors.get(row.text))

    return report_on(data, ask=ask)


async def _embed(texts: Sequence[str], settings: Settings) -> Matrix:
    embedder = open_embedder(settings)
    try:
        return await embedder.embed(texts, role="query")
    finally:
        embedder.close()


def report_on(data: UnderstandingSet, *, ask: Callable[[Expected], Query]) -> UnderstandingReport:
    """Judge whatever understands the questions of a set."""
    longest = max((each.seconds or 0 for each in data.shelf.documents), default=0.0)
    lengths = {each.document_id: each.seconds or longest for each in data.shelf.documents}
    spent: list[float] = []
    judged: dict[str, dict[str, float]] = defaultdict(dict)
    by_field: dict[str, list[bool]] = defaultdict(list)
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    misses: list[UnderstandingMiss] = []
    for row in data.questions[:1]:
        ask(row)  # The first call loads models of languages, which no later one pays.
    for row in data.questions:
        query, took = _timed(ask, row)
        spent.append(took)
        exact = any(same(query.filters, one, lengths=lengths) for one in row.filters)
        right = {"filters": exact, "kind": query.kind in row.kinds}
        if row.lifts:
            right["lifts"] = _are_lifted(query, row.lifts)
        if row.language in data.shelf.languages:
            right["language"] = query.language == row.language
        if row.aspects:
            right["aspects"] = _are_compared(query, row.aspects)
        right["followup"] = query.is_followup == row.is_followup
        for what, is_right in right.items():
            judged[what][row.id] = float(is_right)
        for field in {each.field for each in row.filters[0]} or {WITHOUT}:
            by_field[field].append(exact)
        # A kind that is as right as the first one is no confusion.
        kinds[query.kind if right["kind"] else row.kinds[0]][query.kind] += 1
        misses += _misses(row, query, right)
    expected = {row.id: bool(row.filters[0]) for row in data.questions}
    exact_of = judged["filters"]
    return UnderstandingReport(
        questions=len(data.questions),
        split=data.split,
        exact_filters=mean_of(exact_of.values()),
        exact_where_expected=mean_of(v for k, v in exact_of.items() if expected[k]),
        false_filters=mean_of(1 - v for k, v in exact_of.items() if not expected[k]),
        lifts=mean_of(judged["lifts"].values()),
        types=mean_of(judged["kind"].values()),
        languages=mean_of(judged["language"].values()),
        followups=mean_of(judged["followup"].values()),
        aspects=mean_of(judged["aspects"].values()),
        latency_ms=latency_ms(spent, digits=3),
        fields={name: mean_of(values) for name, values in sorted(by_field.items())},
        kinds={name: dict(counts) for name, counts in sorted(kinds.items())},
        latencies_ms=tuple(round(each, 4) for each in spent),
        misses=tuple(misses),
        per_question={what: dict(values) for what, values in judged.items()},
    )


def _timed(ask: Callable[[Expected], Query], row: Expected) -> tuple[Query, float]:
    spent = []
    for _ in range(TIMED):
        began = time.perf_counter()
        query = ask(row)
        spent.append((time.perf_counter() - began) * 1000)
    return query, sorted(spent)[TIMED // 2]


def _misses(row: Expected, query: Query, right: Mapping[str, bool]) -> list[UnderstandingMiss]:
    told = {
        "filters": (format_filters(row.filters[0]), format_filters(query.filters)),
        "lifts": (format_filters(row.lifts), format_filters(query.boosts)),
        "kind": (" or ".join(row.kinds), query.kind),
        "language": (row.language, query.language),
        "aspects": (str(row.aspects), str(query.aspects)),
        "followup": (str(row.is_followup), str(query.is_followup)),
    }
    return [
        UnderstandingMiss(row.id, row.text, what, *told[what])
        for what, is_right in right.items()
        if not is_right
    ]


def same(
    found: Sequence[Filter], expected: Sequence[ExpectedFilter], *, lengths: Mapping[str, float]
) -> bool:
    """Whether filters mean what was expected; ``lengths`` are seconds by document id."""
    named = [id_ for each in expected if each.field == "document" for id_ in each.values]
    ends = [lengths[str(id_)] for id_ in named if str(id_) in lengths] or list(lengths.values())
    longest = max(ends, default=0.0) or math.inf
    left = [_meaning(each.field, each.values, longest) for each in expected]
    for each in found:
        meaning = _meaning(each.field, each.values, longest)
        match = next((one for one in left if _alike(meaning, one)), None)
        if match is None:
            return False
        left.remove(match)
    return not left


def _meaning(field: str, values: Sequence[str | float | None], longest: float) -> Meaning:
    if field in ("seconds", "date"):
        low, high = values
        first, last = float(low or 0), math.inf if high is None else float(high)
        if field == "seconds":
            return field, (first, math.inf if last >= longest else last)
        return field, (
            0.0 if first < 1_000_00_00 else first,
            last if last < 9999_00_00 else math.inf,
        )
    if field in ("label", "page") and all(isinstance(each, int | float) for each in values):
        first, last = (int(each or 0) for each in values)
        return field, frozenset(map(str, range(first, last + 1)))
    return field, frozenset(normalize_name(str(each)) for each in values)


def _alike(found: Meaning, expected: Meaning) -> bool:
    if found[0] != expected[0]:
        return False
    if isinstance(found[1], frozenset) or isinstance(expected[1], frozenset):
        return found[1] == expected[1]
    (low, high), (first, last) = found[1], expected[1]
    if first == last:
        return low <= first <= high and high - low <= MOMENT_SECONDS * (found[0] == "seconds")
    return low == first and high == last


def format_filters(filters: Sequence[Filter | ExpectedFilter]) -> str:
    """Write filters as a short text."""
    parts = [f"{each.field} {' '.join(map(_value, each.values))}" for each in filters]
    return ", ".join(sorted(parts)) or WITHOUT


def _are_lifted(query: Query, expected: Sequence[ExpectedFilter]) -> bool:
    """Return whether all expected guesses are among the soft filters and none is a filter."""
    lifted = {(each.field, value) for each in query.boosts for value in each.values}
    filtered = {(each.field, value) for each in query.filters for value in each.values}
    wanted = {(each.field, value) for each in expected for value in each.values}
    return wanted <= lifted and wanted.isdisjoint(filtered)


def _are_compared(query: Query, aspects: Sequence[str]) -> bool:
    """Whether all that a question compares was found, or the first ones and a note of the cut."""
    cut = len(aspects) > MAX_ASPECTS
    noted = any(str(len(aspects)) in each for each in query.notes)
    return _subjects(query.aspects) == _subjects(aspects[:MAX_ASPECTS]) and (noted or not cut)


def _subjects(aspects: Iterable[str]) -> set[str]:
    """Aspects without case, accents and article, which no search minds."""
    return {_ARTICLE.sub("", normalize_name(each)).strip() for each in aspects}


def _value(value: str | float | None) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "…" if value is None else str(value)
