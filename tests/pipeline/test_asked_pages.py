"""A citation opens the page that a question names."""

from __future__ import annotations

from quoth.answering.citations import make_citation
from quoth.core.types import Chunk, Document, Filter, Pages, Passage, SpanLocator
from quoth.pipeline.asked_pages import open_asked_page

TEXT = "Roots drink water."
BOOK = Document("d", "Plants", "pdf", "ready", source="/books/plants.pdf")
PLACES = (
    SpanLocator(0, 11, Pages(3, 3, "1", "1")),
    SpanLocator(12, len(TEXT), Pages(4, 4, "2", "2")),
)
CHUNK = Chunk("c", "d", 0, 0, len(TEXT), TEXT, Pages(3, 4, "1", "2"), "pdf", PLACES)
PASSAGE = Passage(1, BOOK, (CHUNK,), ("c",), 1.0)
CITATION = make_citation(
    PASSAGE,
    start=0,
    end=len(TEXT),
    number=1,
    retrieval_method="hybrid",
    created_at="2026-01-01T00:00:00Z",
)
SECOND = Filter("label", "in", ("2",))


def test_the_page_that_a_filter_names_is_opened() -> None:
    opened = open_asked_page(CITATION, [PASSAGE], filters=[SECOND])
    assert (CITATION.page, opened.page, opened.page_number) == ("1", "2", 4)
    assert opened.link == "file:///books/plants.pdf#page=4"
    assert opened.locator == CITATION.locator  # the words are on both pages


def test_a_citation_without_its_passage_or_without_pages_asked_stays() -> None:
    assert open_asked_page(CITATION, [], filters=[SECOND]) == CITATION
    assert open_asked_page(CITATION, [], filters=[]) == CITATION
