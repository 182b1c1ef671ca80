"""Citations open their exact place, and a broken one is found."""

from __future__ import annotations

from dataclasses import replace

import pytest

from quoth.answering.citations import SNIPPET, cite_statements, make_citation, snippet_length
from quoth.answering.extractive.select import Statement
from quoth.core.types import (
    Box,
    Chunk,
    Citation,
    Document,
    Pages,
    Passage,
    Seconds,
    SpanLocator,
)
from tests.support.citation_checks import check_spans
from tests.support.passages import passage

TEXT = "Water is split.\nThe light makes sugar in the leaf. Roots drink."


def book() -> Passage:
    edges = [(0, 16, 200.0), (16, 51, 180.0), (51, len(TEXT), 160.0)]
    places = tuple(
        SpanLocator(a, b, Pages(12, 12, "x", "x", boxes=(Box(12, 50, y, 300, y + 10),)))
        for a, b, y in edges
    )
    first = Chunk(
        "c0", "d", 0, 0, 16, TEXT[:16], places[0].locator, "pdf", places[:1], ("1 Leaves",)
    )
    second = Chunk(
        "c1", "d", 1, 16, len(TEXT), TEXT[16:], places[1].locator, "pdf", places[1:], ("1 Leaves",)
    )
    document = Document("d", "Plants", "pdf", "ready", source="/books/plants.pdf")
    return Passage(1, document, (first, second), ("c1",), 1.0)


def cite(source: Passage, start: int, end: int, number: int = 1) -> Citation:
    return make_citation(
        source,
        start=start,
        end=end,
        number=number,
        retrieval_method="hybrid",
        created_at="2026-01-01T00:00:00Z",
    )


def test_a_citation_names_the_printed_page_the_box_and_the_section() -> None:
    citation = cite(book(), 16, 50)
    assert citation.snippet == "The light makes sugar in the leaf."
    assert (citation.page, citation.page_number) == ("x", 12)
    assert citation.section_heading == "1 Leaves"
    assert citation.chunk_id == "c1"
    assert isinstance(citation.locator, Pages)
    assert [box.y0 for box in citation.locator.boxes] == [180.0]
    assert citation.link == "file:///books/plants.pdf#page=12"


def test_a_span_over_two_chunks_has_the_boxes_of_both() -> None:
    citation = cite(book(), 6, 50)
    assert isinstance(citation.locator, Pages)
    assert [box.y0 for box in citation.locator.boxes] == [200.0, 180.0]
    assert citation.chunk_id == "c0"


def test_a_talk_opens_at_the_second_of_the_sentence() -> None:
    text = "Hello there. Trees grow."
    places = (
        SpanLocator(0, 12, Seconds(90.0, 92.0)),
        SpanLocator(13, 24, Seconds(95.2, 97.0, speaker="Ada")),
    )
    chunk = Chunk("c", "t", 0, 0, 24, text, Seconds(90.0, 97.0), "transcript", places)
    document = Document(
        "t",
        "Talk",
        "transcript",
        "ready",
        seconds=200,
        url="https://www.youtube.com/watch?v=abcdefghijk",
    )
    citation = cite(Passage(1, document, (chunk,), ("c",), 1.0), 13, 24)
    assert citation.locator == Seconds(95.2, 97.0, speaker="Ada")
    assert citation.link == "https://www.youtube.com/watch?v=abcdefghijk&t=95"
    assert citation.page is None


def test_a_span_of_several_voices_names_them_in_their_order() -> None:
    text = "Why? Trees grow. I see."
    voices = ((0, 4, "Bo"), (5, 16, "Ada"), (17, 23, "Bo"))
    places = tuple(SpanLocator(low, high, Seconds(low, high, who)) for low, high, who in voices)
    chunk = Chunk("c", "t", 0, 0, 23, text, Seconds(0, 23), "transcript", places)
    talk = Passage(1, Document("t", "Talk", "transcript", "ready"), (chunk,), ("c",), 1.0)
    assert cite(talk, 0, 23).locator == Seconds(0, 23, speaker="Bo, Ada")
    assert cite(talk, 5, 16).locator == Seconds(5, 16, speaker="Ada")


def test_a_verbatim_sentence_is_supported_and_has_the_score_of_its_passage() -> None:
    citation = cite(book(), 16, 50)
    assert (citation.support, citation.support_score) == ("supported", 1.0)
    assert citation.relevance_score == book().score


def test_the_id_is_the_same_for_the_same_span_only() -> None:
    assert cite(book(), 16, 50).id == cite(book(), 16, 50, number=5).id
    assert cite(book(), 16, 50).id != cite(book(), 16, 49).id


@pytest.mark.parametrize(("start", "end"), [(5, 5), (-1, 4), (0, 1000)])
def test_a_span_outside_the_passage_is_refused(start: int, end: int) -> None:
    with pytest.raises(ValueError, match="not inside the passage"):
        cite(book(), start, end)


def test_a_short_span_is_its_own_snippet() -> None:
    assert snippet_length("Trees grow.") == 11


def test_a_long_span_is_cut_at_a_clause() -> None:
    span = "word " * (SNIPPET // 5 - 20) + "and an end, " + "word " * 40
    assert span[: snippet_length(span)].endswith("and an end,")


def test_a_long_span_without_clauses_is_cut_at_a_word() -> None:
    length = snippet_length("wörter " * SNIPPET)
    assert length <= SNIPPET
    assert ("wörter " * SNIPPET)[:length].endswith("wörter")


def test_text_without_spaces_is_not_cut_inside_a_character() -> None:
    family = "👩\u200d👩\u200d👧"
    span = family * SNIPPET
    assert snippet_length(span) % len(family) == 0


def test_the_snippet_of_a_long_sentence_ends_before_it() -> None:
    text = "The tall tree " + "grows slowly " * (SNIPPET // 12) + "here."
    citation = cite(passage(text), 0, len(text))
    assert len(citation.snippet) <= SNIPPET < len(text)
    assert (citation.cut, citation.span_end) == (True, citation.snippet_start + len(text))
    assert text[: citation.snippet_end] == citation.snippet


def test_equal_spans_are_cited_once() -> None:
    same = Statement("d", "c1", 16, 50, TEXT[16:50], 0)
    other = Statement("d", "c1", 51, 63, TEXT[51:63], 0)
    citations = cite_statements(
        [same, other, same], [book()], retrieval_method="keyword", created_at="now"
    )
    assert [(each.number, each.snippet_start) for each in citations] == [(1, 16), (2, 51)]


@pytest.mark.parametrize(
    ("marked", "shown"),
    [
        ((16, 50), "The light makes sugar in the leaf."),
        ((51, 63), "Roots drink."),
        ((16, 63), None),
        ((0, 15), None),
        ((51, 64), None),
        (None, None),
    ],
)
def test_the_marked_part_counts_characters_of_the_snippet(
    marked: tuple[int, int] | None, shown: str | None
) -> None:
    statement = Statement("d", "c1", 16, 63, TEXT[16:63], 0, marked=marked)
    (citation,) = cite_statements(
        [statement], [book()], retrieval_method="keyword", created_at="now"
    )
    assert (citation.marked and citation.snippet[slice(*citation.marked)]) == shown


def test_the_page_is_that_of_the_marked_words() -> None:
    places = (
        SpanLocator(0, 15, Pages(34, 34, "20", "20")),
        SpanLocator(15, 63, Pages(35, 35, "21", "21")),
    )
    chunk = replace(book().chunks[1], start=0, text=TEXT, places=places)
    paged = replace(book(), chunks=(chunk,))
    statement = Statement("d", "c1", 0, 63, TEXT[:63], 0, marked=(16, 50))
    (citation,) = cite_statements([statement], [paged], retrieval_method="keyword", created_at="")
    assert isinstance(citation.locator, Pages)
    assert (citation.locator.first, citation.locator.last) == (34, 35)
    assert (citation.page, citation.page_number) == ("21", 35)
    assert citation.link_locator == citation.place == Pages(35, 35, "21", "21")
    assert (citation.link or "").endswith("#page=35")
    assert check_spans([citation], lambda _: TEXT) == []


def test_a_mark_behind_the_end_of_the_snippet_is_left_out() -> None:
    text = "The tall tree " + "grows slowly " * (SNIPPET // 12) + "here. It is old."
    statement = Statement("d1", "c1", 0, len(text), text, 0, marked=(len(text) - 10, len(text)))
    (citation,) = cite_statements(
        [statement], [passage(text)], retrieval_method="keyword", created_at="now"
    )
    assert citation.marked is None


def test_whole_citations_pass_the_check() -> None:
    assert check_spans([cite(book(), 0, 15), cite(book(), 16, 50)], {"d": TEXT}.__getitem__) == []


def test_a_changed_text_is_found() -> None:
    (broken,) = check_spans([cite(book(), 16, 50)], lambda _: TEXT.replace("sugar", "SUGAR"))
    assert "is not the snippet" in broken.reason


def test_a_text_grown_shorter_is_found() -> None:
    (broken,) = check_spans([cite(book(), 16, 50)], lambda _: TEXT[:20])
    assert "not inside the text" in broken.reason


def test_a_wrong_page_is_found() -> None:
    wrong = replace(cite(book(), 16, 50), page_number=13)
    assert check_spans([wrong], lambda _: TEXT)
