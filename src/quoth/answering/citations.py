"""Citations of an answer: exact spans with locators and links."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from quoth.answering.extractive.select import Statement
from quoth.answering.extractive.write import number_spans, statement_span
from quoth.answering.generative.sanitize import plain_quotation
from quoth.core.types import (
    Answer,
    Citation,
    Filter,
    Locator,
    Mode,
    Pages,
    Passage,
    Sentence,
    Support,
)
from quoth.text.links import link
from quoth.text.locators import is_within_filters, locate_in
from quoth.text.place_name import place_name

SNIPPET = 2000
"""Maximum characters of a snippet: more than a quotation has (`MAX_LIST` of its runs)."""

_WORD_BORDER = re.compile(r"\s+")
_CLAUSE_BORDER = re.compile(r"[,;:.!?…–—]\s+")


def cite_statements(
    statements: Sequence[Statement],
    passages: Sequence[Passage],
    *,
    retrieval_method: Mode,
    created_at: str,
    filters: Sequence[Filter] = (),
) -> tuple[Citation, ...]:
    """Make one citation for each distinct span of the statements, numbered as in the answer.

    ``created_at`` is an ISO 8601 time, ``filters`` are those of `make_citation`.
    """
    numbers = number_spans(statements)
    first = {statement_span(statement): statement for statement in reversed(statements)}
    return tuple(
        make_citation(
            passages[first[span].passage],
            start=first[span].start,
            end=first[span].end,
            number=number,
            retrieval_method=retrieval_method,
            created_at=created_at,
            marked=first[span].marked,
            filters=filters,
        )
        for span, number in numbers.items()
    )


def make_citation(
    passage: Passage,
    *,
    start: int,
    end: int,
    number: int,
    retrieval_method: Mode,
    created_at: str,
    support: Support = "supported",
    support_score: float = 1.0,
    marked: tuple[int, int] | None = None,
    filters: Sequence[Filter] = (),
) -> Citation:
    """Cite the characters from `start` to `end` of the passage's document.

    The locator is that of the whole span. Page, link and the locator of the link are those of its
    telling part (``marked``, in characters of the document), or the first page that ``filters``
    name. Of a span longer than `SNIPPET` the beginning is shown. A verbatim sentence has the
    support 1. Raises ValueError for an empty span or one elsewhere.
    """
    document, text = passage.document, passage.text
    if not passage.start <= start < end <= passage.start + len(text):
        raise ValueError(f"The span {start}–{end} is not inside the passage that it cites.")
    span = text[start - passage.start : end - passage.start]
    snippet = span[: snippet_length(span)]
    chunk = next(chunk for chunk in reversed(passage.chunks) if chunk.start <= start)
    locator = _locator(passage, start=start, end=end)
    opened = _locator(passage, start=marked[0], end=marked[1]) if marked else locator
    opened = _asked_page(passage, opened, start=start, end=end, filters=filters)
    paged = opened if isinstance(opened, Pages) else None
    end_shown = start + len(snippet)
    part = None  # in characters of the snippet
    if marked and marked != (start, end_shown) and start <= marked[0] < marked[1] <= end_shown:
        part = marked[0] - start, marked[1] - start
    first, last = marked or (start, end_shown)
    words = text[first - passage.start : last - passage.start]
    return Citation(
        id=citation_id(document.document_id, start=start, end=end),
        number=number,
        document_id=document.document_id,
        document_name=document.title,
        chunk_id=chunk.chunk_id,
        section_heading=chunk.section[-1] if chunk.section else locator.section,
        locator=locator,
        page=paged.label_first if paged else None,
        page_number=paged.first if paged else None,
        snippet=snippet,
        snippet_start=start,
        snippet_end=end_shown,
        link=link(opened, document, text=words, before=passage.page[:first]),
        relevance_score=passage.score,
        support=support,
        support_score=support_score,
        retrieval_method=retrieval_method,
        created_at=created_at,
        marked=part,
        span_end=end,
        cut=len(snippet) < len(span),
        link_locator=opened if opened != locator else None,
    )


def below_places(answer: Answer) -> Answer:
    """Return an answer with document, place and speaker of what it quotes above its text."""
    quoted = [
        (each.number, each.document_name, each.place, each.section_heading)
        for each in answer.citations
    ] or [
        (each.rank, each.document, each.locator, each.locator.section)
        for each in answer.closest
        if each.marked
    ]
    above = "".join(
        f"{number}. {plain_quotation(name + place_name(name, locator, section))}\n\n"
        for number, name, locator, section in quoted
    )
    moved = [
        replace(each, start=each.start + len(above), end=each.end + len(above))
        for each in answer.sentences
    ]
    return replace(answer, text=above + answer.text, sentences=tuple(moved))


def citation_id(document_id: str, *, start: int, end: int) -> str:
    """Return the id of a span: always the same for the same characters of a document."""
    digest = hashlib.sha256(f"{document_id}\n{start}\n{end}".encode()).hexdigest()
    return f"c_{digest[:16]}"


def snippet_length(span: str) -> int:
    """Return how many leading characters of a span its snippet contains.

    All, or up to a clause that ends in the last third, else a word; text without spaces is cut
    between characters, never between a letter and its marks.
    """
    if len(span) <= SNIPPET:
        return len(span)
    head = span[: SNIPPET + 1]
    for border in (_CLAUSE_BORDER, _WORD_BORDER):
        ends = [_without_space(head, match.end()) for match in border.finditer(head)]
        good = [end for end in ends if SNIPPET * 2 // 3 <= end <= SNIPPET]
        if good:
            return good[-1]
    spaces = [match.start() for match in _WORD_BORDER.finditer(head) if match.start()]
    return spaces[-1] if spaces else _between_characters(span, SNIPPET)


def _without_space(text: str, end: int) -> int:
    return len(text[:end].rstrip())


def _between_characters(text: str, at: int) -> int:
    """Step back to where no mark, joiner or variation selector follows."""
    joins = re.compile("[\u0300-\u036f\u200d\ufe00-\ufe0f\u20d0-\u20ff\U0001f3fb-\U0001f3ff]")
    low = at
    while low > 1 and at - low < 20 and (joins.match(text[low]) or text[low - 1] == "\u200d"):
        low -= 1
    return low


def _asked_page(
    passage: Passage, place: Locator, *, start: int, end: int, filters: Sequence[Filter]
) -> Locator:
    """Return the first page of a span that filters name; ``place`` if it is one, or without any."""
    asked = [each for each in filters if each.field in ("label", "page")]
    spots = (spot for chunk in passage.chunks for spot in chunk.places) if asked else ()
    within = (spot.locator for spot in spots if spot.start < end and start < spot.end)
    pages = [at for at in within if isinstance(at, Pages) and is_within_filters(at, asked)]
    known = not pages or any(isinstance(place, Pages) and at.first == place.first for at in pages)
    return place if known else pages[0]


def _locator(passage: Passage, *, start: int, end: int) -> Locator:
    """Return the locator of a span; of one that is spoken it names all who speak, in order."""
    found = locate_in(passage.chunks, start, end)
    places = [place for chunk in passage.chunks for place in chunk.places]
    if not places:
        return found
    inside = [each.locator for each in places if each.start < end and start < each.end]
    names = [each.speaker for each in inside if each.speaker]
    return replace(found, speaker=", ".join(dict.fromkeys(names)) or None)


def marked_runs(
    text: str, sentences: Sequence[Sentence]
) -> Iterator[tuple[int, Sentence, Sentence]]:
    """Return each run of sentences that share a marker: its number, its first and last sentence.

    The number is that of the first, from 1. The sentences of a quotation are one run, those of a
    language model one each unless they share their sources.
    """
    number = 1
    for place, each in enumerate(sentences, 1):
        if place == len(sentences) or not _share(each, sentences[place], text):
            yield number, sentences[number - 1], each
            number = place + 1


def _share(one: Sentence, after: Sentence, text: str) -> bool:
    """Whether two sentences are proved by the same and nothing stands between them."""
    same = one.citations == after.citations and one.support == after.support == "supported"
    return same and not text[one.end : after.start].strip()
