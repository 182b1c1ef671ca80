"""Checks that citations resolve: the snippet is the stored text at its place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from quoth.answering.citations import SNIPPET, make_citation
from quoth.answering.extractive.candidates import quotable_sentences
from quoth.core.types import Chars, Citation, Mode, Passage, Seconds


@dataclass(frozen=True, slots=True)
class BrokenCitation:
    """A citation that does not prove what it says, and why."""

    citation_id: str
    document_id: str
    reason: str


def check_spans(
    citations: Iterable[Citation], text_of: Callable[[str], str]
) -> list[BrokenCitation]:
    """Return every citation whose snippet is not the stored text at its place.

    ``text_of`` returns a document's stored text by its id.
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
    shown = citation.page_number or 0
    if not 1 <= locator.first <= shown <= locator.last:
        return "The pages run backwards or are not those of the citation."
    opened = re.search(r"#(?:page|slide)=(\d+)$", citation.link or "")
    if shown != (int(opened[1]) if opened else locator.first):
        return "The page is not the one that the link opens."
    if any(not locator.first <= box.page <= locator.last for box in locator.boxes):
        return "A box stands on a page outside the place."
    return None


def cite_every_sentence(
    passages: Sequence[Passage], *, created_at: str, retrieval_method: Mode = "hybrid"
) -> list[Citation]:
    """Cite every sentence that could be quoted."""
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
