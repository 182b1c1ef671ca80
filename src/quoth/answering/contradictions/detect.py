"""Detects contradicting statements, so that both are shown.

Two sentences contradict one another where they agree word by word but for one thing: a number, a
date, a name or a "not". Sentences with two differences are about two things; another name at the
beginning is another subject, unless so much agrees that it must be one event. Precision is high,
and contradictions in other words are not found (docs/decisions/046).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from quoth.answering.verification.claim import Change, overlap
from quoth.answering.verification.tokens import NEGATIONS, TextToken, tokens
from quoth.answering.verification.units import UNITS
from quoth.answering.verification.values import Kind, Value, read_values

MIN_AGREEMENT = 0.6
"""Minimum share of common words, in order."""
MIN_SHARED = 3
"""Minimum number of common content words."""
SAME_EVENT_WORDS = 8
"""Common content words from which two sentences are about one event, despite different names."""
MAX_DIFFERENCE = 6
"""Maximum words of a difference on either side."""
MIN_DISTANCE = 2000
"""Distance in characters from which two places of one document count as two sources."""

ContradictingPair = tuple[int, int, str]
"""The indexes of two statements, the earlier first, and what they differ in."""


@dataclass(frozen=True, slots=True)
class ComparedSentence:
    """A sentence and its location: characters of its document from `start`."""

    text: str
    document_id: str
    start: int = 0
    language: str = "en"


@dataclass(frozen=True, slots=True)
class _AnalyzedStatement:
    tokens: tuple[TextToken, ...]
    values: tuple[Value, ...]
    text: str
    stems: frozenset[str]

    def shown(self, first: int, last: int) -> str:
        """Return the text of the tokens from `first` (inclusive) to `last` (exclusive)."""
        return self.text[self.tokens[first].start : self.tokens[last - 1].end]


def contradictions(
    statements: Sequence[ComparedSentence], *, against: Sequence[ComparedSentence] = ()
) -> tuple[ContradictingPair, ...]:
    """Return the contradicting pairs from different documents or far apart in one.

    Statements are compared with each other and with the sentences ``against``, whose indexes
    continue theirs; those are not compared among themselves.
    """
    sentences = [*statements, *against]
    read = [_analyze(sentence) for sentence in sentences]
    found = []
    for one, two in combinations(range(len(sentences)), 2):
        if one < len(statements) and _comparable(
            sentences[one], sentences[two], read[one], read[two]
        ):
            about = _difference(read[one], read[two])
            if about is not None:
                found.append((one, two, about))
    return tuple(found)


def _analyze(sentence: ComparedSentence) -> _AnalyzedStatement:
    parts = tokens(sentence.text, language=sentence.language)
    values = read_values(sentence.text, parts, language=sentence.language)
    stems = frozenset(part.stem for part in parts if part.stem)
    return _AnalyzedStatement(parts, values, sentence.text, stems)


def _comparable(
    one: ComparedSentence,
    two: ComparedSentence,
    first: _AnalyzedStatement,
    second: _AnalyzedStatement,
) -> bool:
    if one.language != two.language or len(first.stems & second.stems) < MIN_SHARED:
        return False
    return one.document_id != two.document_id or abs(one.start - two.start) >= MIN_DISTANCE


def _difference(one: _AnalyzedStatement, two: _AnalyzedStatement) -> str | None:
    """Return the one difference of two sentences; None where there are none or several."""
    share, codes = overlap(one.tokens, two.tokens)
    if share < MIN_AGREEMENT or share * len(one.tokens) < MIN_AGREEMENT * len(two.tokens):
        return None
    agreed = sum(
        bool(part.stem)
        for tag, i1, i2, _, _ in codes
        if tag == "equal"
        for part in one.tokens[i1:i2]
    )
    changes = [code for code in codes if code[0] != "equal" and _is_informative(one, two, code)]
    different = {
        (tuple(_words(one.tokens[i1:i2])), tuple(_words(two.tokens[j1:j2])))
        for _, i1, i2, j1, j2 in changes
    }
    if agreed < MIN_SHARED or len(different) != 1:
        return None
    return _about(
        one, two, changes[0], begun=agreed >= SAME_EVENT_WORDS or _begun(one, changes[0], codes)
    )


def _words(parts: Sequence[TextToken]) -> list[str]:
    return [part.word for part in parts]


def _begun(one: _AnalyzedStatement, change: Change, codes: Sequence[Change]) -> bool:
    """Return whether a content word precedes a change in both sentences."""
    return any(
        part.stem
        for tag, i1, i2, _, _ in codes
        if tag == "equal" and i2 <= change[1]
        for part in one.tokens[i1:i2]
    )


def _is_informative(one: _AnalyzedStatement, two: _AnalyzedStatement, code: Change) -> bool:
    """Return whether a change involves a content word."""
    _, i1, i2, j1, j2 = code
    changed = (*one.tokens[i1:i2], *two.tokens[j1:j2])
    return any(part.stem or part.word in NEGATIONS for part in changed)


def _about(
    one: _AnalyzedStatement, two: _AnalyzedStatement, code: Change, *, begun: bool
) -> str | None:
    _, i1, i2, j1, j2 = code
    if i2 - i1 > MAX_DIFFERENCE or j2 - j1 > MAX_DIFFERENCE:
        return None
    ours, theirs = one.tokens[i1:i2], two.tokens[j1:j2]
    if _only_negates(ours, theirs):
        word = next(part.word for part in (*ours, *theirs) if part.word in NEGATIONS)
        return f"“{word}”"
    if not ours or not theirs:
        return None
    kinds = set(_kinds(one, i1, i2))
    same = kinds & set(_kinds(two, j1, j2))
    units = {UNITS.get(part.word) for part in (*ours, *theirs)}
    if (
        same & {"number", "date"}
        or (len(units) > 1 and None not in units)
        or (begun and "name" in same)
    ):
        return f"{one.shown(i1, i2)} / {two.shown(j1, j2)}"
    return None


def _kinds(read: _AnalyzedStatement, first: int, last: int) -> Iterator[Kind]:
    for value in read.values:
        if first <= value.first < last:
            yield value.kind


def _only_negates(ours: Sequence[TextToken], theirs: Sequence[TextToken]) -> bool:
    """Return whether one side has a "not" and little else that the other lacks."""
    sides = [sum(part.word in NEGATIONS for part in side) for side in (ours, theirs)]
    others = [part for part in (*ours, *theirs) if part.stem]
    return sides[0] % 2 != sides[1] % 2 and not others
