"""Contradictions between sources: sentences that give different values for the same thing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import combinations

from quoth.answering.extractive.score import CandidateSentences
from quoth.answering.extractive.select import Statement, statement_of
from quoth.answering.extractive.write import statement_span
from quoth.answering.verification.tokens import (
    NEGATIONS,
    Kind,
    TextToken,
    read_values,
    tokens,
)
from quoth.answering.verification.units import units
from quoth.core.translations import translate
from quoth.core.types import Citation, Contradiction, Passage

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

Change = tuple[str, int, int, int, int]
"""An edit between token ranges of two texts, as difflib reports it."""


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
    text: str
    language: str
    stems: frozenset[str]

    def shown(self, first: int, last: int) -> str:
        """Return the text of the tokens from `first` (inclusive) to `last` (exclusive)."""
        return self.text[self.tokens[first].start : self.tokens[last - 1].end]


def contradictions(
    statements: Sequence[ComparedSentence], *, against: Sequence[ComparedSentence] = ()
) -> tuple[tuple[int, int, str], ...]:
    """Return the contradicting pairs from different documents or far apart in one.

    A pair is the indexes of two statements, the earlier first, and what they differ in.
    Statements are compared with each other and with the sentences ``against``, whose indexes
    continue theirs; those are not compared among themselves.
    """
    sentences = [*statements, *against]
    read = []
    for each in sentences:
        parts = tokens(each.text, language=each.language)
        stems = frozenset(part.stem for part in parts if part.stem)
        read.append(_AnalyzedStatement(parts, each.text, each.language, stems))
    found = []
    for at, other in combinations(range(len(sentences)), 2):
        one, two = sentences[at], sentences[other]
        apart = one.document_id != two.document_id or abs(one.start - two.start) >= MIN_DISTANCE
        shared = len(read[at].stems & read[other].stems)
        if at < len(statements) and apart and one.language == two.language and shared >= MIN_SHARED:
            about = _difference(read[at], read[other])
            if about is not None:
                found.append((at, other, about))
    return tuple(found)


def _overlap(ours: Sequence[TextToken], theirs: Sequence[TextToken]) -> tuple[float, list[Change]]:
    """Return the share of our words that occur in theirs in order, and the differences."""
    words, others = ([part.stem or part.word for part in each] for each in (ours, theirs))
    if not words or not others:
        return 0.0, []
    codes: list[Change] = list(SequenceMatcher(None, words, others, autojunk=False).get_opcodes())
    same = sum(i2 - i1 for tag, i1, i2, _, _ in codes if tag == "equal")
    return same / len(words), codes


def _difference(one: _AnalyzedStatement, two: _AnalyzedStatement) -> str | None:
    """Return the one difference of two sentences; None where there are none or several."""
    share, codes = _overlap(one.tokens, two.tokens)
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
    counted = {units(one.language).get(part.word) for part in ours}
    counted |= {units(two.language).get(part.word) for part in theirs}
    if (
        same & {"number", "date"}
        or (len(counted) > 1 and None not in counted)
        or (begun and "name" in same)
    ):
        return f"{one.shown(i1, i2)} / {two.shown(j1, j2)}"
    return None


def _kinds(read: _AnalyzedStatement, first: int, last: int) -> Iterator[Kind]:
    for value in read_values(read.text, read.tokens, language=read.language):
        if first <= value.first < last:
            yield value.kind


def _only_negates(ours: Sequence[TextToken], theirs: Sequence[TextToken]) -> bool:
    """Return whether one side has a "not" and little else that the other lacks."""
    sides = [sum(part.word in NEGATIONS for part in side) for side in (ours, theirs)]
    others = [part for part in (*ours, *theirs) if part.stem]
    return sides[0] % 2 != sides[1] % 2 and not others


MAX_ADDED = 2
"""Maximum number of contradicting sentences added to an answer."""


def with_other_sides(
    statements: Sequence[Statement],
    candidates: CandidateSentences,
    *,
    near: Sequence[int],
    passages: Sequence[Passage],
) -> tuple[Statement, ...]:
    """Add after each statement the sentence that contradicts it, if any.

    ``near`` are the indexes of the sentences closest to the query: the other side is one of them
    where it is relevant at all.
    """
    others = [
        statement_of([each], passages[each.passage])
        for each in (candidates.sentences[at] for at in near)
        if not any(statement.holds(each) for statement in statements)
    ]
    languages = {sentence.chunk_id: sentence.language for sentence in candidates.sentences}
    found = contradictions(
        [_compared_sentence(statement, languages) for statement in statements],
        against=[_compared_sentence(each, languages) for each in others],
    )
    behind: dict[int, Statement] = {}
    for one, two, _about in found:
        if two >= len(statements) and len(behind) < MAX_ADDED:
            behind.setdefault(one, others[two - len(statements)])
    shown = [part for at, each in enumerate(statements) for part in (each, behind.get(at))]
    # One sentence may contradict two that were chosen, and is added once.
    return tuple({statement_span(each): each for each in shown if each is not None}.values())


def disagreements(
    citations: Sequence[Citation], *, passages: Sequence[Passage]
) -> tuple[Contradiction, ...]:
    """Return the contradictions between citations, by their numbers; headings state nothing."""
    citations = [each for each in citations if each.snippet not in (each.section_heading or "")]
    return tuple(
        Contradiction(citations[one].number, citations[two].number, about)
        for one, two, about in contradictions(_cited(citations, passages))
    )


def with_counterparts(
    citations: Sequence[Citation], known: Sequence[Citation], *, passages: Sequence[Passage]
) -> tuple[Citation, ...]:
    """Return the citations with the contradicting ones of ``known``, numbered on."""
    cited = {citation.id for citation in citations}
    others = [each for each in known if each.id not in cited]
    found = contradictions(_cited(citations, passages), against=_cited(others, passages))
    more = dict.fromkeys(two - len(citations) for _, two, _ in found if two >= len(citations))
    last = max((citation.number for citation in citations), default=0)
    added = [
        replace(others[at], number=last + n) for n, at in enumerate([*more][:MAX_ADDED], start=1)
    ]
    return (*citations, *added)


def conflict_notice(found: Sequence[Contradiction], *, language: str) -> tuple[str, ...]:
    """Return the notice that names the contradictions."""
    return tuple(
        translate(
            "answering.contradiction",
            language,
            first=f"[{pair.first}]",
            second=f"[{pair.second}]",
            about=pair.about,
        )
        for pair in found
    )


def _compared_sentence(statement: Statement, languages: Mapping[str, str]) -> ComparedSentence:
    start, end = statement.marked or (statement.start, statement.end)
    return ComparedSentence(
        statement.text[start - statement.start : end - statement.start],
        statement.document_id,
        start,
        languages.get(statement.chunk_id, "en"),
    )


def _cited(citations: Sequence[Citation], passages: Sequence[Passage]) -> list[ComparedSentence]:
    languages = {chunk.chunk_id: chunk.language for passage in passages for chunk in passage.chunks}
    return [
        ComparedSentence(
            citation.snippet[slice(*citation.marked)] if citation.marked else citation.snippet,
            citation.document_id,
            citation.snippet_start + (citation.marked[0] if citation.marked else 0),
            languages.get(citation.chunk_id, "en"),
        )
        for citation in citations
    ]
