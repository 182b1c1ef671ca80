"""A summary is asked of something that has a name, and is made of sentences that stand there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from quoth.core.outline import (
    CollectionOutline,
    Heading,
    Summary,
    SummarySentence,
)
from quoth.core.types import Document, Filter
from quoth.retrieval.summary_lookup import (
    MAX_SECTIONS,
    TO_THE_END,
    DocumentPart,
    coverage_sample,
    document_of_chapter,
    headings_at,
    listed_headings,
    named_parts,
    outline_headings,
    summary_sections,
)

BOOK = Document("b", "The book", "pdf", "ready", language="en")
TALK = Document("t", "A talk", "transcript", "ready", language="fr", speaker="Ada")
HEADINGS = (
    Heading("b", ("Chapter 1",), 0, 4, chapter="1"),
    Heading("b", ("Chapter 2",), 5, 9, chapter="2"),
    Heading("b", ("Chapter 2", "Détails"), 7, 9, chapter="2"),
    Heading("t", ("Questions",), 3, 4, segment="qa"),
)
SHELF = CollectionOutline("v", ("en", "fr"), (BOOK, TALK), HEADINGS)


def told(prefix: str, *starts: int) -> tuple[SummarySentence, ...]:
    return tuple(SummarySentence(f"{prefix}{at}", at, at + 5) for at in starts)


SUMMARIES = (
    Summary("b", 0, (), 0, 9, told("b", 0, 50)),
    Summary("b", 1, ("Chapter 1",), 0, 4, told("b", 0, 10)),
    Summary("b", 1, ("Chapter 2",), 5, 9, told("b", 50, 70)),
    Summary("b", 2, ("Chapter 2", "Détails"), 7, 9, told("b", 70, 80)),
    Summary("t", 0, (), 0, 4, told("t", 1, 2, 3, 4, 5, 6)),
)


def test_a_chapter_is_named_with_all_its_sections_once() -> None:
    assert named_parts(SHELF, [Filter("chapter", "in", ("2",))], language="en") == (
        DocumentPart("b", 5, 9),
    )


def test_nested_headings_are_named_by_both_of_their_titles() -> None:
    outer, inner = (Filter("section", "in", (title,)) for title in ("Chapter 2", "Détails"))
    assert headings_at(SHELF, [outer]) == [HEADINGS[1]]
    assert headings_at(SHELF, [outer, inner]) == headings_at(SHELF, [inner]) == [HEADINGS[2]]
    chapter = Filter("chapter", "in", ("2",))
    assert headings_at(SHELF, [chapter, inner]) == [HEADINGS[2]]
    assert headings_at(SHELF, [Filter("section", "in", ("Chapter 1",)), inner]) == []


def test_without_a_subject_all_documents_in_the_language_are_meant() -> None:
    assert named_parts(SHELF, [], language="en") == (DocumentPart("b", 0, TO_THE_END),)
    two = CollectionOutline("v", ("en",), (BOOK, replace(BOOK, document_id="c")))
    assert [each.document_id for each in named_parts(two, [], language="en")] == ["b", "c"]
    alone = CollectionOutline("v", ("en",), (BOOK,))
    assert named_parts(alone, [], language="en") == (DocumentPart("b", 0, TO_THE_END),)


def test_parts_of_several_documents_stand_in_the_order_of_their_titles() -> None:
    pages = [
        Document(f"{9 - number}", f"2.{number}. Page", "html", "ready", language="en")
        for number in (10, 2, 1)
    ]
    headings = tuple(Heading(page.document_id, (page.title,), 0, 3, chapter="2") for page in pages)
    shelf = CollectionOutline("v", ("en",), tuple(pages), headings)
    parts = named_parts(shelf, [Filter("chapter", "in", ("2",))], language="en")
    assert [part.document_id for part in parts] == ["8", "7", "-1"]


def test_too_much_at_once_is_a_subject_to_search() -> None:
    many = tuple(Document(str(at), "x", "pdf", "ready", language="en") for at in range(13))
    assert (
        named_parts(
            CollectionOutline("v", ("en",), many),
            [Filter("language", "in", ("en",))],
            language="en",
        )
        == ()
    )


def test_a_part_is_covered_by_its_own_summary() -> None:
    assert coverage_sample(SUMMARIES, [DocumentPart("b", 5, 9)], limit=6) == told("b", 50, 70)
    assert coverage_sample(SUMMARIES, [DocumentPart("b", 0, TO_THE_END)], limit=6) == told(
        "b", 0, 50
    )


def test_several_parts_share_the_sentences() -> None:
    parts = [DocumentPart("b", 0, 4), DocumentPart("t", 0, TO_THE_END)]
    assert coverage_sample(SUMMARIES, parts, limit=4) == (*told("b", 0, 10), *told("t", 1, 4))


def test_a_subject_is_a_document_or_heading_with_its_terms() -> None:
    short = replace(TALK, document_id="q", title="Queens", language="en")
    long = replace(short, document_id="w", title="Queens and workers")
    headings = (Heading("b", ("Wax and honey",), 2, 3), Heading("b", ("Honey",), 4, 6))
    shelf = CollectionOutline("v", ("en",), (BOOK, short, long), headings)

    def parts(subject: str, **named: Any) -> tuple[DocumentPart, ...]:
        return named_parts(shelf, [], language="en", subject=frozenset(subject.split()), **named)

    assert parts("queen") == (DocumentPart("q", 0, TO_THE_END),)
    assert parts("queen", kind="pdf") == ()
    untimed = replace(short, document_id="u", title="Drones", kind="markdown")
    shelf = replace(shelf, documents=(*shelf.documents, untimed))
    assert parts("drone", kind="transcript") == (DocumentPart("u", 0, TO_THE_END),)
    assert parts("drone", kind="pdf") == ()
    assert parts("drone 7", kind="transcript") == parts("drone", kind="transcript")
    alone = replace(shelf, documents=(untimed,), headings=())
    assert named_parts(alone, [], language="en", kind="transcript") == ()
    shelf = replace(shelf, documents=shelf.documents[:-1])
    assert parts("wax") == (DocumentPart("b", 2, 3),)
    assert parts("honey", titles=("Honey",)) == (DocumentPart("b", 4, 6),)
    assert parts("drone") == ()


def test_an_outline_has_the_headings_directly_below_its_part() -> None:
    book, chapter = DocumentPart("b", 0, TO_THE_END), DocumentPart("b", 5, 9)
    assert outline_headings(HEADINGS, [book]) == HEADINGS[:2]
    below = (*HEADINGS, Heading("b", ("Chapter 2", "Rest"), 9, 9, chapter="2"))
    assert outline_headings(below, [chapter]) == (HEADINGS[2], below[-1])
    assert outline_headings(HEADINGS, [chapter]) == ()
    titled = [replace(each, path=("The book", *each.path)) for each in HEADINGS[:3]]
    titled = [Heading("b", ("The book",), 0, 9), *titled]
    assert outline_headings(titled, [book]) == tuple(titled[1:3])
    several = [DocumentPart("t", 0, TO_THE_END), chapter, DocumentPart("gone", 0, 3)]
    assert outline_headings(HEADINGS, several) == (HEADINGS[3], HEADINGS[1])


def test_a_list_of_contents_has_chapters_rather_than_the_title_and_the_parts_above_them() -> None:
    def listed(*headings: Heading, parts: Sequence[str] = "b") -> list[str]:
        whole = [DocumentPart(each, 0, TO_THE_END) for each in parts]
        found = listed_headings(replace(SHELF, headings=headings), whole)
        return [each.path[-1] for each in found]

    title, front = Heading("b", (BOOK.title,), 0, 0), Heading("b", ("Preface",), 1, 1)
    one, two = (Heading("b", (f"Part {n}",), 2 + 3 * n, 4 + 3 * n) for n in range(2))
    below = [
        Heading("b", (*part.path, f"Chapter {n}"), part.first, part.first, chapter=str(n))
        for part in (one, two)
        for n in (1, 2)
    ]
    section = Heading("b", ("Part 0", "2.1 Details"), 3, 4, chapter="2")
    names = ["Chapter 1", "Chapter 2"]
    assert listed(title, front, one, *below[:2], section, two, *below[2:]) == [
        *("Preface", *names, *names)
    ]
    assert listed(title, front, *HEADINGS[:2]) == ["Preface", *names]
    assert listed(title, Heading("t", (TALK.title,), 0, 4), parts="bt") == [BOOK.title, TALK.title]
    assert listed(*HEADINGS[:2], HEADINGS[2]) == names
    assert listed(front, one, section) == ["Preface", "Part 0"]
    assert listed_headings(SHELF, [DocumentPart("b", 5, 9)]) == ()


def test_the_section_that_holds_most_of_a_part_is_gone_through_itself() -> None:
    book = DocumentPart("b", 0, TO_THE_END)
    title, main = Heading("b", ("Contents",), 0, 0), Heading("b", ("Manual",), 1, 9)
    inner = [Heading("b", ("Manual", str(at)), at, at) for at in range(1, 10)]
    assert summary_sections([title, main], book) == (title, main)
    assert summary_sections([title, main, *inner], book) == tuple(inner)
    assert summary_sections(HEADINGS, book) == HEADINGS[:2]
    last = [
        Heading("b", (name,), at, at) for at, name in ((10, "Dates"), (11, "People"), (12, "End"))
    ]
    assert summary_sections([title, main, *inner, *last], book) == (title, *inner, *last)
    assert summary_sections([replace(main, first=0), replace(main, last=0)], book) != ()
    full = [Heading("b", ("Manual", str(at)), at, at) for at in range(1, MAX_SECTIONS + 1)]
    whole, end = replace(main, last=MAX_SECTIONS), Heading("b", ("End",), 21, 30)
    assert summary_sections([whole, *full, end], book) == (whole, end)
    many = [Heading("b", (str(at),), at, at) for at in range(MAX_SECTIONS + 1)]
    assert summary_sections(many[1:], book) == tuple(many[1:])
    assert summary_sections(many, book) == ()


def test_a_document_is_known_by_its_title_and_the_name_of_its_file() -> None:
    bees = replace(BOOK, title="Keeping bees", source="/shelf/hive-guide.html")
    wasps = replace(BOOK, document_id="c", title="Keeping wasps", source="/shelf/nests.html")
    shelf = CollectionOutline(
        "v", ("en",), (bees, wasps), (*HEADINGS[:2], Heading("c", ("Two",), 3, 4, chapter="2"))
    )
    by_file = named_parts(shelf, [], language="en", subject=frozenset({"bee", "guid"}))
    assert by_file == (DocumentPart("b", 0, TO_THE_END),)
    second = [Filter("chapter", "in", ("2",))]
    assert document_of_chapter(shelf, second, subject=frozenset({"bee"})) == bees
    assert document_of_chapter(shelf, second, subject=frozenset({"ant"})) is None
    assert document_of_chapter(shelf, second, subject=frozenset({"keep"})) is None  # has two
    assert named_parts(shelf, [], language="en", subject=frozenset({"html"})) == ()
    of_bees = named_parts(shelf, second, language="en", subject=frozenset({"bee"}))
    assert of_bees == (DocumentPart("b", 5, 9),)


def test_a_heading_with_a_part_of_the_subject_does_not_stand_for_a_document() -> None:
    policy = replace(BOOK, title="Governance and policy of hives")
    shelf = CollectionOutline("v", ("en",), (policy,), (Heading("b", ("Governance",), 3, 4),))
    hive, alone = frozenset({"hive", "govern"}), frozenset({"govern"})
    parts = [
        named_parts(shelf, [], language="en", subject=each, titles=("Governance",))
        for each in (hive, alone)
    ]
    assert parts == [(DocumentPart("b", 0, TO_THE_END),), (DocumentPart("b", 3, 4),)]
