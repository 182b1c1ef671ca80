"""The layout of plain texts: manual pages, numbered and underlined titles, lists, definitions."""

from __future__ import annotations

from textwrap import dedent

import pytest

from quoth.ingest.readers.metadata import Metadata
from quoth.ingest.readers.text import plain_blocks, read_plain

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
        (MANUAL, "TIDE(7)"),
        (f"{' ' * 12}Of the Tides\n\nThey come.\n", "Of the Tides"),
        ("Of the Tides\n************\n\nThey come.\n", "Of the Tides"),
        ("Of the Tides\n\nThey come.\n", "tides"),
        (f"{' ' * 12}They come, and\nthey go.\n", "tides"),
    ],
)
def test_a_text_has_the_title_that_it_begins_with(text: str, title: str) -> None:
    assert read_plain(text, meta=Metadata(), name="tides.txt").title == title


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
        "1. Make or override any decision that is authorised by the powers of the harbour master, "
        "who is told so.",
        "2. Issue statements.",
        "     1. A statement is a text that the assembly regards as critical to the purposes of "
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


def test_tables_and_programs_keep_their_lines() -> None:
    table = "boat        length      draught\nAda         9 m         1.2 m\nBo          8 m"
    program = "if tide:\n    leave()\nelse:\n    wait()"
    assert texts(f"{table}\n\n{program}") == [table, program]
