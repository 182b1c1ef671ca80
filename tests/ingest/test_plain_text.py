"""The layout of plain texts: manual pages, numbered and underlined titles, lists, definitions."""

from __future__ import annotations

from collections import Counter
from textwrap import dedent

import pytest

from quoth.core.types import ParsedDocument
from quoth.ingest.chunker import chunk
from quoth.ingest.readers.metadata import Metadata
from quoth.ingest.readers.registry import read_data
from quoth.ingest.readers.source_file import SourceFile
from quoth.ingest.readers.text import plain_blocks, read_plain
from quoth.ingest.readers.text_layout import Layout, paragraph_text
from quoth.text.locators import label

MANUAL = """\
TIDE(7)                         Manual of the harbour                      TIDE(7)

NAME
       tide - when the water comes

DESCRIPTION
       The water comes twice a day, since the moon pulls at it, and whoever sails in shal‐
       low water keeps a table of the hours in which a boat of his size can leave the port.
       Where there is no table he waits until the mud in front of the pier has disappeared, or
       asks the harbour master, who has seen the water come and go for more than thirty years
       and has never been wrong by more than a quarter of an hour, and who does not charge for
       what he knows.

   Tables of the year
       /etc/tides
              The hours of the year, as the office of the port has computed them, one day on a
              line.

       /dev   The gauge, which is read every minute by the program that draws the curve of the
              last two days.

SEE ALSO
       moon(7), wind(7), and what the harbour master has written about the currents in front of
       the pier.
"""


def headings(text: str) -> list[tuple[int, str]]:
    return [(block.level, block.text) for block in plain_blocks(text) if block.level]


def texts(text: str) -> list[str]:
    return [block.text for block in plain_blocks(text) if not block.level]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        (f"Typed by A. Reader.\n\n{' ' * 32}THE TIDE\n{' ' * 35}by\n\n{'x' * 72}\n", "THE TIDE"),
        (
            f"{' ' * 20}The tide comes and goes,\n{' ' * 20}and so does the moon.\n\n{'x' * 72}\n",
            "tides",
        ),
        (MANUAL, "TIDE(7)"),
        (f"{' ' * 12}Of the Tides\n\nThey come twice a day, as all know.\n", "Of the Tides"),
        (f"{' ' * 14}3 May 1900\n\nThey come twice a day, as all know.\n", "tides"),
        (f"{' ' * 24}From Paris\n\nThey come twice a day, as all know.\n", "tides"),
        ("Spring\n======\n\nThey come.\n\nAutumn\n======\n\nThey go.\n", "tides"),
        ("Of the Tides\n************\n\nThey come.\n", "Of the Tides"),
        ("Of the Tides\n\nThey come.\n", "tides"),
        (f"{' ' * 12}They come, and\nthey go.\n", "tides"),
    ],
)
def test_a_text_has_the_title_that_it_begins_with(text: str, title: str) -> None:
    assert read_plain(SourceFile("tides.txt", b"", text=text)).title == title


def test_titles_left_of_the_margin_are_headings() -> None:
    assert headings(MANUAL) == [
        (1, "NAME"),
        (1, "DESCRIPTION"),
        (2, "Tables of the year"),
        (1, "SEE ALSO"),
    ]


def test_wrapped_lines_lose_the_margin_and_the_hyphens_of_the_typesetter() -> None:
    description = texts(MANUAL)[2]
    assert "\n" not in description
    assert "sails in shallow water keeps" in description
    assert description.startswith("The water comes")


def test_a_term_stands_before_its_definition_on_a_line_of_its_own() -> None:
    first, second = texts(MANUAL)[3:5]
    assert first.splitlines() == [
        "/etc/tides",
        "The hours of the year, as the office of the port has computed them, one day on a line.",
    ]
    assert second.splitlines()[0] == "/dev"
    assert second.splitlines()[1].startswith("The gauge, which is read")


def test_neither_speakers_nor_wrapped_lines_are_headings() -> None:
    speeches = "".join(
        f"HAMLET\n    Speech {number} is on\n    its way.\n\n" for number in range(4)
    )
    assert headings(speeches) == []
    outdented = (
        "   All that follows was agreed on in the assembly of the harbour in the year of the\n"
        "   great flood, and nobody has spoken against it in the assemblies after that one. It\n"
        "   is read aloud in every spring.\n\n"
        " 2. Grant of a berth. A berth is granted to every boat that is not longer than the\n"
        "   nine metres, and to no other boat, until the pier has been repaired and measured.\n"
    )
    assert headings(outdented) == []


def test_underlined_titles_have_the_level_of_their_number_or_else_of_their_line() -> None:
    text = dedent(
        """\
        Preface
        *******

        Who wrote it.

        6.8 Crediting Authors
        =====================

        By name.

        7 Cleaning Up
        *************

        With soap.

        Brushes
        =======

        Soft ones.
        """
    )
    assert headings(text) == [
        (1, "Preface"),
        (2, "6.8 Crediting Authors"),
        (1, "7 Cleaning Up"),
        (2, "Brushes"),
    ]


def test_items_keep_their_lines_and_their_depth() -> None:
    text = """\
The assembly, which meets twice a year in the hall of the harbour, in front of everybody, may:
 1. Make or override any decision that is authorised by the powers of the harbour master,
    who is told so.
 2. Issue statements.
      1. A statement is a text that the assembly regards as critical to the purposes of the
         harbour.
"""
    (found,) = texts(text)
    assert found.splitlines() == [
        "The assembly, which meets twice a year in the hall of the harbour, in front of everybody, "
        "may:",
        " 1. Make or override any decision that is authorised by the powers of the harbour master, "
        "who is told so.",
        " 2. Issue statements.",
        "      1. A statement is a text that the assembly regards as critical to the purposes of "
        "the harbour.",
    ]


def test_a_line_that_was_ended_on_purpose_stays_one_in_wrapped_prose() -> None:
    text = """\
The boats of the harbour are counted in spring and in autumn, and the list is sent to the
office that keeps the lists of all harbours of the coast, where it is read and kept in an
iron chest, and never opened again.
The list of the pilots goes to the same office, by the same boat, and into the same chest,
in which it lies with the others.
"""
    (found,) = texts(text)
    assert [line[:12] for line in found.splitlines()] == ["The boats of", "The list of "]


def test_prose_that_is_indented_is_joined_where_its_lines_are_full() -> None:
    quoted = """\
    The list of the pilots goes to the same office, by the same boat, and into the same
    chest, in which it lies with the others until nobody remembers who has written it or
    what for, as the lists of the boats do."""
    found = texts(f"{PROSE * 3}{quoted}\n\n{PROSE}")[3]
    assert found == " ".join(line.strip() for line in quoted.splitlines())


@pytest.mark.parametrize(
    ("text", "title", "sections"),
    [
        (
            """\
-----------------------------------------------------------
A.                         BOATS
-----------------------------------------------------------

Boats sail.

Names
========================================

They have names.

-----------------------------------------------------------
B.                         TIDES
-----------------------------------------------------------

Water comes.
""",
            "tides",
            [("A. BOATS",), ("A. BOATS", "Names"), ("B. TIDES",)],
        ),
        (
            f"""\
{"LICENCE OF THE HARBOUR":>53}
{"Version 3, 29 June 2007":>55}

{"Preamble":>46}

The boats of the harbour are counted in spring and in autumn, and the list is sent on.
""",
            "LICENCE OF THE HARBOUR",
            [],
        ),
    ],
    ids=["titles between lines", "two centred lines"],
)
def test_titles_of_other_layouts(text: str, title: str, sections: list[tuple[str, ...]]) -> None:
    read = read_plain(SourceFile("tides.txt", b"", text=text))
    assert (read.title, [each.path for each in read.sections]) == (title, sections)


PROSE = """\
The boats of the harbour are counted in spring and in autumn, and the list is sent to the
office that keeps the lists of all harbours of the coast, where it is read and kept in an
iron chest, and never opened again.

"""
TABLE = """\
The boat of Ada     built in the year of the great flood     nine metres     1.2 m draught
The boat of Bo      built in the year of the great storm     eight metres    1.1 m draught
The boat of Cyd     built in the year of the great frost     seven metres    1.0 m draught"""
PROGRAM = """\
    hours = compute_the_hours_of_all_tides(gauge, moon=moon, wind=wind, year=the_year)
    hours = hours.without_those_of_the_night(sunrise=sunrise, sunset=sunset, margin=4)
    return hours"""
STATEMENTS = """\
def sail(boat, tide):
    return tide.next()
for boat in boats:
    sail(boat, tide)"""
LIST = """\
boats = [
    "a boat that is called Ada after its owner's mother, and nine metres long, all in",
    "a boat that is called Bo after nobody in particular, and eight metres long, all in",
]"""


NAMES = """\
    boats/of/the/northern/harbour/Ada-of-the-great-flood-of-nineteen-hundred-nine.txt
    boats/of/the/northern/harbour/Bo-of-the-great-storm-of-nineteen-hundred-eleven.txt
    boats/of/the/northern/harbour/Cyd-of-the-great-frost-of-nineteen-hundred-ten.txt"""


@pytest.mark.parametrize("text", [TABLE, PROGRAM, STATEMENTS, LIST, NAMES])
def test_tables_and_programs_keep_their_lines(text: str) -> None:
    assert texts(f"{PROSE * 3}{text}\n\n{PROSE}")[3] == text


@pytest.mark.parametrize(
    "text",
    [
        "2024-01-01 10:00:05 ERROR Request failed\n       at harbour.Boat.sail(Boat.java:12)",
        "TIDES.update({\n       'spring': 1,",
    ],
)
def test_other_lines_left_of_the_margin_are_no_headings(text: str) -> None:
    found = [title for _, title in headings(f"{MANUAL}\n{text}\n\n{MANUAL}")]
    assert set(found) == {"NAME", "DESCRIPTION", "Tables of the year", "SEE ALSO"}


def test_a_hyphen_of_the_typesetter_stays_where_the_word_has_one_elsewhere() -> None:
    text = PROSE + (
        "Whoever sees a read‐only list on the pier of the harbour in spring can ask for a read‐\n"
        "only copy of the whole list of all of the boats, which is kept in that one iron shal‐\n"
        "low chest of the office that keeps all of these lists."
    )
    (_, found) = texts(text)
    assert "ask for a read‐only copy" in found
    assert "iron shallow chest" in found


def test_paragraphs_that_only_an_indent_begins_are_joined_one_by_one() -> None:
    text = """\
   The boats of the harbour are counted in spring and in autumn, and the list is sent to
the office that keeps the lists of all harbours of the coast, where it is read and kept.
   The list of the pilots goes to the same office, by the same boat, and into the same
chest, in which it lies with the others, and is never opened again, as all the pilots know.
"""
    (found,) = texts(text)
    assert [line[:14] for line in found.splitlines()] == ["The boats of t", "The list of th"]


def lines_of(read: ParsedDocument) -> list[str]:
    return [label(each.locator).rpartition("▸ ")[2] for each in read.places]


def test_every_line_has_its_number_in_the_file() -> None:
    text = 'Tides\n=====\n\n\nThe high\nwater "(of\n  *** spring) comes.\n \nLow.\n'
    read = read_plain(SourceFile("t.txt", b"", text=text))
    assert [read.text[each.start : each.end] for each in read.places] == [
        "Tides",
        "The high",
        'water "(of',
        "  *** spring) comes.",
        "Low.",
    ]
    assert lines_of(read) == ["line 1", "line 5", "line 6", "line 7", "line 9"]


def test_a_title_and_the_text_directly_below_it_have_lines_of_their_own() -> None:
    read = read_plain(SourceFile("t.txt", b"", text="Notes\n=====\nHigh is\nhigh.\n"))
    assert read.text == "Notes\n\nHigh is\nhigh."
    assert lines_of(read) == ["line 1", "line 3", "line 4"]


def test_lines_are_counted_from_the_beginning_of_the_file_or_not_at_all() -> None:
    headed = SourceFile("t.txt", b"---\ntitle: Tides\n---\n\nHigh.\r\n\r\nLow.\r\n")
    assert lines_of(read_data(headed)) == ["line 5", "line 7"]
    paged = SourceFile("t.txt", b"High.\n\x0c\nLow.\n")
    assert lines_of(read_data(paged)) == ["", ""]


def test_a_long_line_of_prose_is_cut_between_its_sentences() -> None:
    read = read_plain(SourceFile("t.txt", b"", text="The tide is high. " * 200))
    parts = chunk(
        read,
        document_id="d",
        chunk_id=str,
        count_tokens=lambda texts: [len(each) for each in texts],
        language="en",
    )
    assert len(parts) > 1
    assert all(each.text.strip().endswith(".") for each in parts)
    assert {label(each.locator) for each in parts} == {"line 1"}


def test_heads_and_feet_of_pages_are_left_out_and_sentences_go_on_over_them() -> None:
    line = "The water of the harbour rises twice a day, as the moon pulls at it, and\n"
    text = ""
    for page in range(1, 6):
        foot = f"Reader                        Informational                    [Page {page}]"
        head = "RFC 99999                         The Tide                      March 2020"
        text += 30 * line + f"\n\n{foot}\n\n{head}\n\n"
    found = texts(f"{text}falls again. It is then low.\n\nNo head: 5.")
    assert len(found) == 6
    assert not any("RFC" in each or "[Page" in each for each in found)
    assert found[-2].endswith("at it, and falls again. It is then low.")


@pytest.mark.parametrize(
    "heads", [["Stanza {n}"], ["Invoice {n}", "Total: {n}7.50 EUR"], ["Copyright 2001 A. Reader"]]
)
def test_what_recurs_at_the_same_distance_is_no_head_of_a_page(heads: list[str]) -> None:
    verses = "".join(f"Verse {at} of the long song.\n\n" for at in range(21))
    text = "".join(f"{head.format(n=n)}\n\n{verses}" for n in range(6) for head in heads)
    assert len(texts(text)) == 6 * len(heads) * 22


@pytest.mark.parametrize(
    ("elsewhere", "shown"),
    [
        ("A recollection of a condition.", "recollection of"),  # it breaks its words
        ("A re-collection.", "recollec-tion of"),  # a person wrote its hyphens
    ],
)
def test_words_broken_by_hyphens_are_judged_by_their_spelling_elsewhere(
    elsewhere: str, shown: str
) -> None:
    text = (
        "You awake and cry out, terrified at the vivid and lasting recollec-\n"
        "tion of the strange creatures that seem to lurk behind all of the corners\n"
        "of the harbour in your dream, on the one condition that the water is the high-\n"
        f"water of a spring tide. The water is high.\n\n{elsewhere}"
    )
    assert shown in texts(text)[0]
    assert "high-water" in texts(text)[0]


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("the short-\nor long-term", "short-or long-term"),
        ("the option --no-\nverify", "--no-verify"),
        ("the file /usr/lib/x-\nlib.so", "/usr/lib/x-lib.so"),
        ("he asks, va-\nt-il", "va-t-il"),
        ("a recollec-\ntion", "recollection"),
    ],
)
def test_hyphens_of_options_paths_and_pairs_stay(line: str, shown: str) -> None:
    layout = Layout(margin=0, width=20, words=Counter({"recollection": 2}), breaks_words=True)
    first, second = line.split("\n")
    assert shown in paragraph_text([f"A long line ends in {first}", f"{second} here."], layout)


CHAPTERS = ["1.  Tides", "2.  Wind", "2.1.  Storms", "3.  Boats"]


def test_titles_with_one_number_are_chapters_where_others_are_sections() -> None:
    def text(titles: list[str]) -> str:
        return "\n\n".join(f"{title}\n\nThe water rises twice a day." for title in titles)

    assert [title for _, title in headings(text(CHAPTERS))] == CHAPTERS
    assert [level for level, _ in headings(text(CHAPTERS))] == [1, 1, 2, 1]
    assert headings(text([each for each in CHAPTERS if "." not in each[2:5]])) == []
    assert headings(text([CHAPTERS[0], CHAPTERS[2]])) == [(2, "2.1.  Storms")]
    contents = "\n\n".join(title for title in CHAPTERS if title[2] != "1")
    assert headings(f"{contents}\n\n{text(CHAPTERS)}") == headings(text(CHAPTERS))
    steps = [
        "1. Tides",
        "1.1 Spring",
        "1. Look out",
        "2. Set sail",
        "3. Wait",
        "2. Wind",
        "2.1 Low",
    ]
    assert [title for _, title in headings(text(steps))] == [steps[at] for at in (0, 1, 5, 6)]
    items = "2.1.  Storms\n\n1. Look.\n\n1. Wait\n\n2. Go\n\n3. Sail"
    assert headings(items) == [(2, "2.1.  Storms")]


GUTENBERG = """The Project Gutenberg eBook of Tides

Title: Tides
       and other Waters

Author: Ada Wave

Language: English

*** START OF THE PROJECT GUTENBERG EBOOK TIDES
AND OTHER WATERS ***

CHAPTER I.

Title: the water rises twice a day.

*** END OF THE PROJECT GUTENBERG EBOOK TIDES ***

You may copy it, give it away or re-use it.
"""


def test_a_book_of_project_gutenberg_is_read_without_its_licence() -> None:
    read = read_plain(SourceFile("pg1.txt", b"", Metadata(language="en"), GUTENBERG))
    assert (read.title, read.speaker, read.language) == ("Tides and other Waters", "Ada Wave", "en")
    assert read.text == "CHAPTER I.\n\nTitle: the water rises twice a day."
    first = GUTENBERG[: GUTENBERG.index("CHAPTER I.")].count("\n") + 1
    assert lines_of(read) == [f"line {first}", f"line {first + 2}"]
    known = read_plain(SourceFile("pg1.txt", b"", Metadata(title="My tides"), GUTENBERG))
    assert known.title == "My tides"
    quoting = "See *** END OF THE PROJECT GUTENBERG EBOOK TIDES ***.\n\nIt ends there."
    assert read_plain(SourceFile("a.txt", b"", text=quoting)).text == quoting
