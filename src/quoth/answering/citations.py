"""Turn the sentences of an answer into citations that open their exact place, and check them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from quoth.answering.extractive.candidates import quotable_sentences
from quoth.answering.extractive.select import Statement, number_spans, span_of
from quoth.core.errors import NotFound
from quoth.core.types import (
    Chars,
    Citation,
    Locator,
    Mode,
    Pages,
    Passage,
    Seconds,
    SpanLocator,
    Support,
)
from quoth.text.locators import link, locate

SNIPPET = 200
"""Characters that a snippet has at most."""

_WORD_BORDER = re.compile(r"\s+")
_CLAUSE_BORDER = re.compile(r"[,;:.!?…–—]\s+")


@dataclass(frozen=True, slots=True)
class BrokenCitation:
    """A citation that does not prove what it says, and why."""

    citation_id: str
    document_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class CitationContext:
    """A citation opened in its document: the stored text around the snippet, and the snippet."""

    before: str
    snippet: str
    after: str


def cite_statements(
    statements: Sequence[Statement],
    passages: Sequence[Passage],
    *,
    retrieval_method: Mode,
    created_at: str,
) -> tuple[Citation, ...]:
    """Make one citation for each distinct span of the statements, numbered as in the answer.

    ``created_at`` is an ISO 8601 time.
    """
    numbers = number_spans(statements)
    first = {span_of(statement): statement for statement in reversed(statements)}
    return tuple(
        make_citation(
            passages[first[span].passage],
            start=first[span].start,
            end=first[span].end,
            number=number,
            retrieval_method=retrieval_method,
            created_at=created_at,
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
) -> Citation:
    """Cite the characters from `start` to `end` of the passage's document.

    The locator and the link are those of the whole span; the snippet is the span itself, or its
    beginning up to a clause or a word when it is longer than `SNIPPET`. A verbatim sentence is
    its own proof: the support is 1. The relevance is the passage's where that is a probability.
    Raises ValueError for a span that is empty or not inside the passage.
    """
    document, text = passage.document, passage.text
    if not passage.start <= start < end <= passage.start + len(text):
        raise ValueError(f"The span {start}–{end} is not inside the passage that it cites.")
    span = text[start - passage.start : end - passage.start]
    snippet = span[: snippet_length(span)]
    chunk = next(chunk for chunk in reversed(passage.chunks) if chunk.start <= start)
    locator = _locator(passage, start=start, end=end)
    paged = locator if isinstance(locator, Pages) else None
    heading = chunk.section[-1] if chunk.section else locator.section
    return Citation(
        id=citation_id(document.document_id, start=start, end=end),
        number=number,
        document_id=document.document_id,
        document_name=document.title,
        chunk_id=chunk.chunk_id,
        section_heading=heading,
        locator=locator,
        page=paged.label_first if paged else None,
        page_number=paged.first if paged else None,
        snippet=snippet,
        snippet_start=start,
        snippet_end=start + len(snippet),
        link=link(locator, url=document.url, source=document.source, seconds=document.seconds),
        relevance_score=passage.probability,
        support=support,
        support_score=support_score,
        retrieval_method=retrieval_method,
        created_at=created_at,
    )


def citation_id(document_id: str, *, start: int, end: int) -> str:
    """Give the id of a span: the same for the same characters of the same document, always."""
    digest = hashlib.sha256(f"{document_id}\n{start}\n{end}".encode()).hexdigest()
    return f"c_{digest[:16]}"


def snippet_length(span: str) -> int:
    """Give how many leading characters of a span its snippet has: all, or up to a good border.

    A clause that ends in the last third is preferred to a word; text without spaces is cut
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


def _locator(passage: Passage, *, start: int, end: int) -> Locator:
    places: list[SpanLocator] = [place for chunk in passage.chunks for place in chunk.places]
    if places:
        return locate(places, start, end)
    return next(chunk for chunk in reversed(passage.chunks) if chunk.start <= start).locator


def check_spans(
    citations: Iterable[Citation], text_of: Callable[[str], str]
) -> list[BrokenCitation]:
    """Name every citation whose snippet is not the stored text at its place, or is not readable.

    ``text_of`` gives a document's stored text by its id. An empty list is the proof that all
    of them resolve.
    """
    broken = []
    for citation in citations:
        text = text_of(citation.document_id)
        reason = _fault(citation, text)
        if reason is not None:
            broken.append(BrokenCitation(citation.id, citation.document_id, reason))
    return broken


def _fault(citation: Citation, text: str) -> str | None:
    start, end = citation.snippet_start, citation.snippet_end
    if not 0 <= start < end <= len(text):
        return f"The span {start}–{end} is not inside the text of {len(text)} characters."
    if text[start:end] != citation.snippet:
        return f"The stored text from {start} to {end} is not the snippet."
    if len(citation.snippet) > SNIPPET:
        return f"The snippet has {len(citation.snippet)} characters, more than {SNIPPET}."
    return _locator_fault(citation)


def _locator_fault(citation: Citation) -> str | None:
    locator = citation.locator
    if isinstance(locator, Chars):
        inside = locator.start <= citation.snippet_start and citation.snippet_end <= locator.end
        return None if inside else "The place does not hold the snippet."
    if isinstance(locator, Seconds):
        return None if 0 <= locator.start <= locator.end else "The seconds run backwards."
    if not 1 <= locator.first <= locator.last or citation.page_number != locator.first:
        return "The pages run backwards or are not those of the citation."
    if any(not locator.first <= box.page <= locator.last for box in locator.boxes):
        return "A box stands on a page outside the place."
    return None


def open_citation(citation: Citation, text: str, *, around: int = 300) -> CitationContext:
    """Open a citation in its document's stored text, with some text before and after it.

    Raises NotFound when the text no longer holds the snippet there.
    """
    start, end = citation.snippet_start, citation.snippet_end
    if text[start:end] != citation.snippet:
        raise NotFound(
            f"The citation {citation.id} does not stand in '{citation.document_name}' any more. "
            "The document was replaced; ask again."
        )
    return CitationContext(
        text[max(0, start - around) : start], citation.snippet, text[end : end + around]
    )


def cite_every_sentence(
    passages: Sequence[Passage], *, created_at: str, retrieval_method: Mode = "hybrid"
) -> list[Citation]:
    """Cite every sentence that could be quoted; for proofs over whole libraries."""
    return [
        make_citation(
            passages[each.passage],
            start=each.start,
            end=each.end,
            number=number,
            retrieval_method=retrieval_method,
            created_at=created_at,
        )
        for number, each in enumerate(quotable_sentences(passages), start=1)
    ]
