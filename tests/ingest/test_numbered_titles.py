"""Titles with numbers in texts without other headings, and where their sections end."""

from __future__ import annotations

from textwrap import dedent

import pytest

from quoth.ingest.readers.blocks import Block
from quoth.ingest.readers.division_paragraphs import with_division_sections
from quoth.ingest.readers.numbered_titles import with_numbered_titles
from quoth.ingest.readers.source_file import SourceFile
from quoth.ingest.readers.text import read_plain

CHARTER = """\
Article 1er - DÉFINITIONS

Le port : ce que la mer laisse.

Article 2 – DROITS

2.1. MOUILLAGE

Nul ne mouille devant le quai.

2.2. DISPOSITIONS COMMUNES

2.2.1. Le capitaine signe le registre.

Article 3 – LITIGES

3.1. Le droit français s'applique.

3.2. Le tribunal de Brest est compétent.

ANNEXE A

Le plan du port.
"""


def paths(text: str) -> list[tuple[str, ...]]:
    reading = read_plain(SourceFile("n.txt", b"", text=dedent(text)))
    return [section.path for section in reading.sections]


def test_numbered_divisions_of_a_text_are_its_sections() -> None:
    rights = "Article 2 – DROITS"
    assert paths(CHARTER) == [
        ("Article 1er - DÉFINITIONS",),
        (rights, "2.1. MOUILLAGE"),
        (rights, "2.2. DISPOSITIONS COMMUNES"),
        ("Article 3 – LITIGES",),
        ("ANNEXE A",),
    ]


@pytest.mark.parametrize(
    ("title", "is_one"),
    [
        ("§ 3 Rechte", True),
        ("Article 2 (Grant of License)", True),
        ("Section 5 – Disclaimer of warranties.", True),
        ("CHAPITRE PREMIER", True),
        ("Capítulo IV. De los puertos", True),
        ("SCENE II: A room in the palace.", True),
        ("Appendix B", True),
        ("CHAPTER 12. The harbour at night.", True),
        ("Part 2 says what a boat may carry", False),
        ("Section 4. No fee is due.", False),
        ("Article by article", False),
        ("Title of the book", False),
        ("Figure 3: The pier", False),
        ("Chapter civil", False),
    ],
)
def test_a_division_has_a_word_for_one_and_a_number(title: str, *, is_one: bool) -> None:
    assert paths(f"{title}\n\nThe water rises twice a day.\n") == ([(title,)] if is_one else [])


def test_divisions_are_nested_in_the_order_of_their_words() -> None:
    text = "\n\n".join(
        ["Part I", "Chapter 1", "Low.", "Chapter 2", "2.1 Tides", "High.", "Part II", "Chapter 3"]
    )
    assert paths(f"{text}\n\nStill.\n") == [
        ("Part I", "Chapter 1"),
        ("Part I", "Chapter 2", "2.1 Tides"),
        ("Part II", "Chapter 3"),
    ]


def test_a_list_of_divisions_is_a_table_of_contents() -> None:
    listed = "Appendix I: Program\n\nAppendix II: Abstracts\n\n"
    text = (
        "The fair is in June.\n\nAppendix I: PROGRAM\n\nMonday.\n\nAppendix II: ABSTRACTS\n\nNo.\n"
    )
    assert paths(listed + text) == [("Appendix I: PROGRAM",), ("Appendix II: ABSTRACTS",)]


def test_a_section_ends_where_a_later_number_begins() -> None:
    text = """\
        1. Definitions.

             1.1. "Port" means where boats lie.

             1.2. Common Rules

             First come, first served:

             1. Boats.

             2. Rafts.

        2. Fees.

             2.1. None are due.

        3. Storms

        Nobody sails.

        4. Warranty
        There is none.

        5. The harbour master may close the port, for as long as he likes, and does so in storms.

        7.1 What this says does not bind the sea.
        """
    assert paths(text) == [
        ("1. Definitions.",),
        ("1. Definitions.", "1.2. Common Rules"),
        ("2. Fees.",),
        ("3. Storms",),
        ("4. Warranty",),
        ("5",),
        ("7",),
    ]


def test_numbered_titles_are_headings_of_a_document_without_others() -> None:
    blocks = [Block(text) for text in CHARTER.strip().split("\n\n")]
    found = with_numbered_titles(blocks)
    assert [each.level for each in found] == [1, 0, 1, 2, 0, 2, 0, 1, 0, 0, 1, 0]
    assert with_numbered_titles([*blocks, Block("End", level=1)]) == [
        *blocks,
        Block("End", level=1),
    ]


def test_titles_in_capitals_are_the_headings_of_a_text_without_others() -> None:
    prose = "The water rises twice a day, and " + "whoever sails keeps a table of the hours. " * 2
    text = "\n\n".join(
        ["INTRODUCTION", prose, "SECOND REPORT", prose, "THIRD REPORT", "None.", "ANY QUESTIONS?"]
    )
    text += f"\n{prose}\n\nANNEX\n\n{prose}\n\nAppendix A\n\nA table.\n"
    titles = ["INTRODUCTION", "SECOND REPORT", "THIRD REPORT", "ANY QUESTIONS?", "ANNEX"]
    assert paths(text) == [*((title,) for title in titles), ("Appendix A",)]
    assert paths(text.replace("SECOND REPORT", "2.1 Second report")) == [
        ("2.1 Second report",),
        ("Appendix A",),
    ]
    assert paths(text.replace(prose, "Low.")) == [("Appendix A",)]


MANUAL = """\
Contents

1. Introduction
    1. Who this is for
    2. How to install it on a machine
    without a network
2. Reading mail
    1. The index
        1.1. Columns
    2. The pager

Chapter 1. Introduction

1.\u00a0Who this is for

For those who read mail.

Copyright 2020
==============

2.\u00a0How to install it on a machine
without a network

Copy the package.

Chapter 2. Reading mail

1.\u00a0The index

It lists messages.

1.1.\u00a0Columns

There are five.

2.\u00a0The pager

It shows one message.
"""


def test_the_titles_of_a_table_of_contents_are_the_sections_of_a_text() -> None:
    one, two = "Chapter 1. Introduction", "Chapter 2. Reading mail"
    assert [path for path in paths(MANUAL) if path] == [
        (one, "1. Who this is for"),
        (one, "2. How to install it on a machine without a network"),
        (two, "1. The index"),
        (two, "1. The index", "1.1. Columns"),
        (two, "2. The pager"),
    ]


def test_a_list_whose_items_are_no_titles_is_no_table_of_contents() -> None:
    text = "1. Open the file.\n2. Read it.\n3. Close it.\n\nOpen the file.\n\nNames\n=====\n\nAda."
    assert [path for path in paths(text) if path] == [("Names",)]


STATUTES = """\
STATUTS DES AMIS DU MOULIN

TITRE I. CONSTITUTION

Art. 1er. - Il est fondé une association qui a son siège à Guérigny.

Art. 2. - La durée de l'association est illimitée.
Art. 3. - Le conseil a neuf membres, élus comme le dit l'
art. 12. - Tous les trois ans, il est renouvelé.

TITRE II. RESSOURCES

Art. 4. - Les cotisations sont de 18 euros.
"""


def test_divisions_that_begin_their_paragraph_begin_sections() -> None:
    reading = read_plain(SourceFile("n.txt", b"", text=STATUTES))
    founding, means = "TITRE I. CONSTITUTION", "TITRE II. RESSOURCES"
    assert [section.path for section in reading.sections] == [
        (founding, "Art. 1er"),
        (founding, "Art. 2"),
        (founding, "Art. 3"),
        (means, "Art. 4"),
    ]
    assert reading.text.split() == STATUTES.split()


@pytest.mark.parametrize(
    ("begin", "titles"),
    [
        ("Article {n}. – The", ["Article 1", "Article 2", "Article 3"]),
        ("§ {n}. Der", ["§ 1", "§ 2", "§ 3"]),
        ("Section {n}. The", ["Section 1", "Section 2", "Section 3"]),
        ("SECTION {n}: the", ["SECTION 1", "SECTION 2", "SECTION 3"]),
        ("Article {n} says that the", []),
        ("Article {n}. as the", []),
        ("Figure {n}. The", []),
        ("Article 2. The", []),
    ],
)
def test_a_division_of_a_paragraph_is_marked_and_counts_up(begin: str, titles: list[str]) -> None:
    end = "board of the harbour meets at the pier, where the boats are, and never anywhere else."
    text = "\n\n".join(f"{begin.format(n=n)} {end * 2}" for n in (1, 2, 3))
    assert paths(text) == [(title,) for title in titles]


def test_two_divisions_or_those_of_headings_begin_no_sections() -> None:
    long = "The board of the harbour meets at the pier, where the boats are, in every month. " * 2
    assert paths(f"Article 1. {long}\n\nArticle 2. {long}\n") == []
    titled = [
        block
        for n in (1, 2, 3, 4)
        for block in (Block(f"Article {n} – Boats", level=1), Block(f"Article 3. {long}"))
    ]
    assert with_division_sections(titled) == titled


def test_articles_that_are_one_line_and_longer_ones_are_alike() -> None:
    long = "The board of the harbour meets at the pier, where the boats are, in every month. " * 2
    text = f"Article 1 – {long}\n\nArticle 2 – No fee is due.\n\nArticle 3 – {long}\n"
    assert paths(text) == [("Article 1",), ("Article 2",), ("Article 3",)]


def test_articles_are_counted_below_each_title() -> None:
    long = "Les Juges establis pour le fait de nos Eaux et Forests connoistront de tout. " * 2
    blocks = [
        Block("TITRE PREMIER. De la Jurisdiction", level=1),
        *(Block(f"ARTICLE {number}. {long}") for number in ("PREMIER", "II")),
        Block("TITRE II. Des Bois", level=1),
        Block("ARTICLE PREMIER. Il sera reservé seize arbres.", level=2),
        Block(f"ARTICLE II. {long}"),
    ]
    found = [(each.text, each.level) for each in with_division_sections(blocks) if each.silent]
    first, second = ("ARTICLE PREMIER", 2), ("ARTICLE II", 2)
    assert found == [first, second, first, second]
