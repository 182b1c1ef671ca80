"""Citations of both sides of a contradiction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from quoth.answering.contradictions.detect import ComparedSentence, contradictions
from quoth.answering.extractive.score import QueryContext
from quoth.answering.extractive.select import Statement, statement_of
from quoth.answering.extractive.write import statement_span
from quoth.core.translations import translate
from quoth.core.types import Citation, Contradiction, Passage

MAX_ADDED = 2
"""Maximum number of contradicting sentences added to an answer."""


def with_other_sides(
    statements: Sequence[Statement],
    material: QueryContext,
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
        for each in (material.sentences[at] for at in near)
        if not any(statement.holds(each) for statement in statements)
    ]
    languages = {sentence.chunk_id: sentence.language for sentence in material.sentences}
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
    """Return the contradictions between citations, by their numbers."""
    sentences = _cited(citations, passages)
    return tuple(
        Contradiction(citations[one].number, citations[two].number, about)
        for one, two, about in contradictions(sentences)
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
            marked_text(citation),
            citation.document_id,
            citation.snippet_start + (citation.marked[0] if citation.marked else 0),
            languages.get(citation.chunk_id, "en"),
        )
        for citation in citations
    ]


def marked_text(citation: Citation) -> str:
    """Return the telling part of a citation's snippet, or the whole of it."""
    return citation.snippet[slice(*citation.marked)] if citation.marked else citation.snippet
