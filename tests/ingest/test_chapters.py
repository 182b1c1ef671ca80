"""The contents of documents: ranges of chunks, and the numbers of chapters as people say them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.core.outline import Heading
from quoth.core.types import Chars, Chunk, ParsedDocument
from quoth.ingest.enrich.chapters import contents_of, headings_of, names_matter
from quoth.text.analyzer import normalize_name
from quoth.text.numbers import number_of, roman_number
from tests.support.tables import rows

Path_ = tuple[str, ...]


def chunks_at(*paths: Path_) -> list[Chunk]:
    """One chunk per path."""
    return [
        Chunk(f"c{n}", "d", n, 2 * n, 2 * n + 2, "x ", Chars(2 * n, 2 * n + 2), "pdf", section=path)
        for n, path in enumerate(paths)
    ]


def contents(*paths: Path_, pages: int | None = 90) -> tuple[Heading, ...]:
    reading = ParsedDocument("pdf", "A book", "", (), pages=pages)
    return headings_of(reading, chunks_at(*paths))


def numbers(*titles: str, pages: int | None = 90) -> list[str]:
    """The chapters of titles at the top, one chunk each."""
    return [each.chapter for each in contents(*((title,) for title in titles), pages=pages)]


# --- ranges -----------------------------------------------------------------------------------


def test_a_chapter_spans_all_its_sections() -> None:
    found = contents((), ("A",), ("A", "B"), ("A", "B"), ("A", "C"), ("D",))
    assert [(each.path, each.first, each.last) for each in found] == [
        (("A",), 1, 4),
        (("A", "B"), 2, 3),
        (("A", "C"), 4, 4),
        (("D",), 5, 5),
    ]


def test_appendices_that_begin_again_with_one_leave_the_chapters_their_numbers() -> None:
    chapters = ["1. About", "2. Archive", "3. Binaries", "4. Sources"]
    assert numbers(*chapters, "1. Scope", "2. Old") == ["1", "2", "3", "4", "1", "2"]
    sections = [("2. Archive", "2.1. Rules"), ("1. Scope",), ("2. Old", "2.1. Rules")]
    paths = [("1. About",), sections[0], ("3. Binaries",), *sections[1:]]
    found = {each.path: each.chapter for each in contents(*paths, pages=None)}
    assert (found["2. Archive", "2.1. Rules"], found["2. Old", "2.1. Rules"]) == ("2", "2")


_TITLES = st.lists(st.sampled_from("ABC12"), max_size=3).map(tuple)


@given(st.lists(_TITLES, max_size=30))
def test_headings_nest_and_match_the_paths_of_their_chunks(paths: Sequence[Path_]) -> None:
    cut = chunks_at(*paths)
    for each in headings_of(ParsedDocument("pdf", "T", "", (), pages=2), cut):
        depth = len(each.path)
        assert all(c.section[:depth] == each.path for c in cut[each.first : each.last + 1])
        before, after = cut[each.first - 1] if each.first else None, cut[each.last + 1 :][:1]
        assert before is None or before.section[:depth] != each.path
        assert not after or after[0].section[:depth] != each.path


# --- printed numbers --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("title", "chapter"), rows("ingest", "chapters.the_number_that_a_title_names")
)
def test_the_number_that_a_title_names(title: str, chapter: str) -> None:
    assert numbers(title) == [chapter]


def test_chapters_below_parts_are_numbered_and_the_parts_are_not() -> None:
    found = contents(("Part I", "1 A"), ("Part I", "2 B"), ("Part II", "3 C"))
    assert [each.chapter for each in found] == ["", "1", "2", "", "3"]


def test_sections_that_are_counted_anew_in_each_chapter_are_no_chapters() -> None:
    found = contents(("Bees", "1 A"), ("Bees", "2 B"), ("Ants", "1 C"), ("Ants", "2 D"), pages=None)
    assert {each.chapter for each in found} == {""}


@pytest.mark.parametrize(
    "titles",
    [
        ("3 ways to sleep well", "Why we sleep", "Dreams"),
        ("2024 in review", "What comes next"),
        ("1.2.0", "1.1.0", "1.0.0"),
        ("I, Robot", "You"),
        ("A Tale of Two Cities", "The End"),
        ("10 tips", "5 tricks"),
    ],
)
def test_a_number_that_counts_something_else_is_no_chapter(titles: Sequence[str]) -> None:
    assert set(numbers(*titles, pages=None)) == {""}


# --- numbers by position ----------------------------------------------------------------------


# --- chunks -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("title", "outside"),
    [
        ("License", True),
        ("GNU Free Documentation License", True),
        ("Licence publique générale", True),
        ("Metadata", True),
        ("Index", True),
        ("Inhaltsverzeichnis", True),
        ("Vorwort zur zweiten Auflage", True),
        ("Literatur- und Quellenverzeichnis", False),
        ("Anhang B: Tabellen", True),
        ("Índice general", True),
        ("Prólogo", True),
        ("Bibliografía", True),
        ("Sobre la autora", True),
        ("Vorwärts", False),
        ("Indicios", False),
        ("Licensing your software", False),
        ("Copying files", False),
        ("Metadata of pictures", False),
    ],
)
def test_licences_and_the_like_are_no_chapters(title: str, outside: bool) -> None:
    assert names_matter(normalize_name(title)) is outside


def test_chunks_bear_the_chapter_of_their_section() -> None:
    cut = chunks_at((), ("1 A",), ("1 A", "Heads"), ("2 B",))
    found, _headings = contents_of(ParsedDocument("pdf", "T", "", ()), cut)
    assert [each.chapter for each in found] == ["", "1", "1", "2"]


# --- numerals ---------------------------------------------------------------------------------


@given(st.integers(1, 3999))
def test_roman_numerals_are_read_back(number: int) -> None:
    tens = ["", "x", "xx", "xxx", "xl", "l", "lx", "lxx", "lxxx", "xc"]
    ones = ["", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix"]
    hundreds = ["", "c", "cc", "ccc", "cd", "d", "dc", "dcc", "dccc", "cm"]
    written = "m" * (number // 1000) + hundreds[number // 100 % 10]
    written += tens[number // 10 % 10] + ones[number % 10]
    assert roman_number(written) == roman_number(written.upper()) == number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("7", 7),
        ("ninety-nine", 99),
        ("soixante-quinze", 75),
        ("soixante et onze", 71),
        ("quatre-vingt-dix-sept", 97),
        ("quatre-vingts", 80),
        ("première".replace("è", "e"), 1),
        ("1st", 1),
        ("none", None),
    ],
)
def test_numbers_in_words(text: str, number: int | None) -> None:
    assert number_of(text) == number


@pytest.mark.parametrize(
    ("titles", "chapters"),
    [
        (("Vorwort", "Kapitel 1: Moor", "Kapitel II", "Drittes Kapitel", "Anhang C"), " 1 2 3 c"),
        (("Kapitel eins", "Kapitel zwei", "Kapitel zwölf"), "1 2 12"),
        (("Erster Teil", "Kap. 1 Torf", "Zweiter Teil", "Kap. 2 Moos"), " 1  2"),
        (("Capítulo primero", "CAPÍTULO II. El mar", "Capítulo 3", "Anexo B"), "1 2 3 b"),
        (("Segunda parte", "Capítulo octavo", "Décimo capítulo"), " 8 10"),
        (("Capitolo 4", "Hoofdstuk 5", "Capítulos del libro"), "4 5 "),
    ],
)
def test_chapters_are_counted_in_the_words_of_every_language(
    titles: tuple[str, ...], chapters: str
) -> None:
    assert numbers(*titles, pages=None) == chapters.split(" ")
