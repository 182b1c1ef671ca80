"""Open citations on the page that a question names: a sentence may begin on the page before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from quoth.core.types import Citation, Filter, Pages, Passage
from quoth.text.locators import is_within_filters, link

_PAGES = frozenset(("label", "page"))


def open_asked_page(
    citation: Citation, passages: Sequence[Passage], *, filters: Sequence[Filter]
) -> Citation:
    """Return a citation with the page and link of its first words on a page that filters name.

    Its locator stays: it names all pages of its words.
    """
    asked = [each for each in filters if each.field in _PAGES]
    known = (p for p in passages if citation.chunk_id in {c.chunk_id for c in p.chunks})
    own = next(known, None) if asked else None
    if own is None:
        return citation
    start, end = citation.snippet_start, citation.span_end or citation.snippet_end
    spots = (spot for chunk in own.chunks for spot in chunk.places)
    within = (spot.locator for spot in spots if spot.start < end and start < spot.end)
    pages = [at for at in within if isinstance(at, Pages) and is_within_filters(at, asked)]
    if not pages or any(at.first == citation.page_number for at in pages):
        return citation
    opened = link(pages[0], own.document)
    return replace(citation, page=pages[0].label_first, page_number=pages[0].first, link=opened)
