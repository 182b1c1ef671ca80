"""A citation opens the page that a question names."""

from __future__ import annotations

from quoth.answering.citations import make_citation
from quoth.core.types import Chunk, Citation, Document, Filter, Pages, Passage, SpanLocator

TEXT = "Roots drink water."
BOOK = Document("d", "Plants", "pdf", "ready", source="/books/plants.pdf")
PLACES = (
    SpanLocator(0, 11, Pages(3, 3, "1", "1")),
    SpanLocator(12, len(TEXT), Pages(4, 4, "2", "2")),
)
CHUNK = Chunk("c", "d", 0, 0, len(TEXT), TEXT, Pages(3, 4, "1", "2"), "pdf", PLACES)
PASSAGE = Passage(1, BOOK, (CHUNK,), ("c",), 1.0)
SECOND = Filter("label", "in", ("2",))


def cited(*filters: Filter) -> Citation:
    return make_citation(
        PASSAGE,
        start=0,
        end=len(TEXT),
        number=1,
        retrieval_method="hybrid",
        created_at="2026-01-01T00:00:00Z",
        filters=filters,
    )


def test_the_page_that_a_filter_names_is_opened() -> None:
    plain, opened = cited(), cited(SECOND)
    assert (plain.page, opened.page, opened.page_number) == ("1", "2", 4)
    assert opened.link == "file:///books/plants.pdf#page=4"
    assert opened.locator == plain.locator  # the words are on both pages


def test_a_citation_without_pages_asked_or_without_the_page_asked_stays() -> None:
    assert cited(Filter("label", "in", ("9",))) == cited()
    assert cited(Filter("language", "in", ("en",))) == cited()
