"""A small library of talks and books that tests of understanding ask about."""

from __future__ import annotations

from quoth.core.outline import CollectionOutline, Heading
from quoth.core.types import Document
from quoth.query.entity_index import EntityIndex, build_entity_index

TALKS = (
    ("gardens", "Rooftop gardens in dense cities", "Ada Lindqvist", "2023-04-18", "en", 2400.0),
    ("bees", "What bees know about geometry", "Ruth Abara", "2024-03-03", "en", 1800.0),
    ("soil", "Soil, worms and patience", "Ada Lindqvist", "2024-03-04", "en", 3000.0),
    ("bread", "Sourdough versus yeast", "Tomás Ferreira", "2021-10-09", "en", 2700.0),
    ("pain", "Le pain au levain expliqué", "Jeanne Moreau", "2023-04-19", "fr", 2100.0),
    ("ruches", "La vie secrète des ruches", "Luc Moreau", "2024-03-03", "fr", 3900.0),
)
BOOKS = (
    ("almanac", "The Patient Gardener", "en", 320),
    ("manuel", "Manuel du potager", "fr", 240),
    ("handbook", "Volunteer handbook", "en", 60),
)


def _shelf() -> CollectionOutline:
    talks = tuple(
        Document(id_, title, "transcript", "ready", speaker=who, date=day, language=tongue,
                 seconds=seconds)
        for id_, title, who, day, tongue, seconds in TALKS
    )  # fmt: skip
    books = tuple(
        Document(id_, title, "pdf", "ready", language=tongue, pages=pages)
        for id_, title, tongue, pages in BOOKS
    )
    return CollectionOutline("1", ("en", "fr"), talks + books, _headings())


def _headings() -> tuple[Heading, ...]:
    almanac = [
        (("Chapter 1 Seeds",), "1"), (("Chapter 1 Seeds", "Germination"), "1"),
        (("Chapter 2 Water",), "2"), (("Chapter 2 Water", "Drip irrigation"), "2"),
        (("Chapter 3 Compost",), "3"), (("Chapter 3 Compost", "Carbon and nitrogen"), "3"),
        (("Appendix A Tables",), "a"),
    ]  # fmt: skip
    manuel = [
        (("Introduction",), ""), (("Chapitre I Les outils",), "1"),
        (("Chapitre II Les semis",), "2"), (("Chapitre II Les semis", "Le repiquage"), "2"),
        (("Chapitre IV Les maladies",), "4"),
    ]  # fmt: skip
    return (
        *(Heading("almanac", path, at, at, chapter) for at, (path, chapter) in enumerate(almanac)),
        *(Heading("manuel", path, at, at, chapter) for at, (path, chapter) in enumerate(manuel)),
        Heading("handbook", ("Expenses",), 0, 3),
        Heading("handbook", ("Opening hours",), 4, 5),
        Heading("bees", ("Questions",), 20, 30, segment="qa"),
        Heading("ruches", ("Démonstration",), 10, 15, segment="demo"),
        Heading("ruches", ("Questions du public",), 30, 40, segment="qa"),
    )


SHELF = _shelf()
ROMAN_PAGES = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii", "xiii")
LABELS = {"almanac": (*ROMAN_PAGES, *map(str, range(1, 308)))}
NAMES: EntityIndex = build_entity_index(SHELF, labels=LABELS)
