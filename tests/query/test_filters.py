"""What a question says explicitly filters; what it only seems to say lifts at most."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from quoth.core.outline import CollectionOutline
from quoth.core.types import Document, Filter, Turn
from quoth.query.entity_index import build_entity_index
from quoth.query.filters.patterns import PatternTable, find_matches, pattern_tables, rules
from quoth.query.understand import understand
from tests.support.made_outline import NAMES

ROWS = Path(__file__).parents[1] / "data" / "filters.jsonl"
FLOOR = 0.97
"""The share of each topic's questions whose filters must be exactly those expected."""


def load_topics() -> dict[str, list[dict[str, Any]]]:
    topics: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in ROWS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        topics[row["topic"]].append(row)
    return topics


TOPICS = load_topics()


def filters_of(text: str, before: str = "") -> dict[str, list[object]]:
    turns = [Turn(before, "")] if before else []
    found = understand(text, names=NAMES, history=turns).filters
    return {filter_.field: list(filter_.values) for filter_ in found}


@pytest.mark.parametrize("topic", TOPICS)
def test_filters_of_topic(topic: str) -> None:
    rows = TOPICS[topic]
    found = [filters_of(row["text"], row.get("before", "")) for row in rows]
    misses = [
        f"{row['text']}: expected {row['filters']}, found {filters}"
        for row, filters in zip(rows, found, strict=True)
        if filters != row["filters"]
    ]
    assert 1 - len(misses) / len(rows) >= FLOOR, "\n".join(misses)


NAMED = {
    "pages 12-14": {"label": ["12", "13", "14"]},
    "de la page 12 à la page 14": {"label": ["12", "13", "14"]},
    "Que dit la page une ?": {"label": ["1"]},
    "Lies mir die Seiten 7 bis 9 vor": {"label": ["7", "8", "9"]},
    "What is on slide 12?": {"label": ["12"]},
    "Que dit la diapo 7 ?": {"label": ["7"]},
    "Was steht auf Folie 7?": {"label": ["7"]},
    "Which slide rule did engineers use?": {},
    "What is on the page I read?": {},
    "What is on page 3 of the search results?": {},
    "What is in appendix A?": {"chapter": ["a"]},
    "Did they file for chapter 11 bankruptcy?": {},
    "Who waters the plants after 18:00?": {},
    "What is said after 18:00?": {"seconds": [1080.0, 360000.0]},
    "What is said in the first ten minutes about wax?": {"seconds": [0.0, 600.0]},
    "Que dit-elle dans les cinq premières minutes à propos des ruches ?": {"seconds": [0.0, 300.0]},
    "What is said at minute 10:05 about wax?": {"seconds": [605.0, 605.0]},
    "Que dit-on à la minute 10:05 de la vidéo ?": {"seconds": [605.0, 605.0]},
    "During minute 10:05 of the talk, who speaks?": {"seconds": [605.0, 605.0]},
    "What happens after 10 minutes of kneading?": {},
    "How is the Q&A dataset built?": {},
    "What happened in 2023?": {},
    "Answer in French: what is compost?": {},
    "Summarise the interview with Ruth Abara": {"document": ["bees"]},
    "Was there a podcast with Ruth Abara on wax?": {"document": ["bees"]},
    "De quoi parle l'entretien avec Ruth Abara ?": {"document": ["bees"]},
    "Worum geht es im Gespräch mit Ruth Abara?": {"document": ["bees"]},
    "¿De qué trata la entrevista con Ruth Abara?": {"document": ["bees"]},
    "What did Ruth Abara say in the interview with Luc Moreau?": {
        "document": ["ruches"],
        "speaker": ["Ruth Abara"],
    },
    'Summarise the interview with Ada Lindqvist in "Soil, worms and patience"': {
        "document": ["soil"]
    },
    "How do I share a conversation with Luc Moreau?": {},
    "What does Marie Curie say about radium?": {},
    "According to Ada Lindquist, how deep is the soil?": {"speaker": ["Ada Lindqvist"]},
    "What does a patient gardener do in winter?": {},
    "Which talk about bees is the longest?": {},
}


@pytest.mark.parametrize("text", NAMED)
def test_named_regressions(text: str) -> None:
    assert filters_of(text) == NAMED[text]


PLACES = {
    "chapter one": {"chapter": ["1"]},
    "chapter 3": {"chapter": ["3"]},
    "chapter3": {"chapter": ["3"]},
    "chap. 3": {"chapter": ["3"]},
    "ch.3": {"chapter": ["3"]},
    "ch. ii": {"chapter": ["2"]},
    "chapitre deux": {"chapter": ["2"]},
    "page 42": {"label": ["42"]},
    "page42": {"label": ["42"]},
    "page n°42": {"label": ["42"]},
    "page no. 42": {"label": ["42"]},
    "p. 42": {"label": ["42"]},
    "p.42": {"label": ["42"]},
    "p.ix": {"label": ["ix"]},
    "What is on p 42?": {"label": ["42"]},
    "pg 42": {"label": ["42"]},
    "annexe A": {"chapter": ["a"]},
    "Que dit l'annexe A ?": {"chapter": ["a"]},
    "What does appendix A list?": {"chapter": ["a"]},
    "appendices A and B": {"chapter": ["a"]},
    "chaper 3": {"chapter": ["3"]},
    "chapte 3": {"chapter": ["3"]},
    "chapitr 2": {"chapter": ["2"]},
    "pgae 12": {"label": ["12"]},
    "apge 12": {"label": ["12"]},
}


@pytest.mark.parametrize("text", PLACES)
def test_a_place_filters_however_it_is_spelled(text: str) -> None:
    assert filters_of(text) == PLACES[text]


NO_PLACES = (
    "chaperone",
    "What is a chaperone?",
    "chaperone-mediated autophagy",
    "What does PGE2 do?",
    "Does PGD2 suppress PGF2 alpha?",
    "How does PGC-1 regulate metabolism?",
    "Is 20 pg ml a high level?",
    "What do the antibodies PG9 and PG16 bind?",
    "What is PGCC?",
    "Who is the P.I. of the study?",
    "What did P. I. Tchaikovsky compose?",
    "What did P.V. Marrone publish?",
    "Accedere alla pagina di un manuale",
    "annexes",
    "When was the town annexed?",
    "Is the appendix a useless organ?",
    "Why was an appendix I saw removed?",
    "Quelles sont les annexes à remplir ?",
    "le chapitre ?",
    "Which chapters, e.g. long ones, are hard?",
)


@pytest.mark.parametrize("text", NO_PLACES)
def test_words_that_look_like_a_place_name_none(text: str) -> None:
    query = understand(text, names=NAMES)
    assert not query.filters
    assert not query.notes


def test_a_section_follows_its_sign() -> None:
    numbers = [each.groups["number"] for each in find_matches("section", "what does § 3.2 say")]
    assert numbers == ["3.2"]


def test_a_slide_is_one_of_a_presentation_where_there_is_one() -> None:
    deck = replace(NAMES.documents["almanac"], kind="slides")
    names = replace(NAMES, documents={**NAMES.documents, "almanac": deck})
    found = understand("What is on slides 3 to 5?", names=names).filters
    assert {each.field: each.values for each in found} == {
        "label": ("3", "4", "5"),
        "document": ("almanac",),
    }


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("What is on the last page?", Filter("label", "in", ("4",))),
        ("Qu'y a-t-il sur la dernière page ?", Filter("label", "in", ("4",))),
        ("What is on page 4?", Filter("label", "in", ("4",))),
        ("What is on PDF page 6?", Filter("page", "overlaps", (6.0, 6.0))),
        ("Qu'y a-t-il à la page PDF 6 ?", Filter("page", "overlaps", (6.0, 6.0))),
        ("What is on PDF pages 3 to 6?", Filter("page", "overlaps", (3.0, 6.0))),
        ("What is on PDF page 9?", None),
    ],
)
def test_the_last_page_and_those_counted_in_the_file(text: str, wanted: Filter | None) -> None:
    report = Document("d", "Bridges", "pdf", "ready", language="en", pages=8)
    outline = CollectionOutline("1", ("en", "fr"), (report,), ())
    printed = ("i", "ii", "iii", "iv", "1", "2", "3", "4")
    query = understand(text, names=build_entity_index(outline, labels={"d": printed}))
    assert query.filters == (() if wanted is None else (wanted,))
    assert bool(query.notes) == (wanted is None)


LIFTED = {
    "Who is Ruth Abara?": ("speaker", "Ruth Abara"),
    "Why does Ruth Abara distrust wax?": ("speaker", "Ruth Abara"),
    "Lindqvist on worms": ("speaker", "Ada Lindqvist"),
    "How does The Patient Gardener explain compost?": ("document", "almanac"),
    "is sourdough versus yeast a fair comparison": ("document", "bread"),
    "what is grown in rooftop gardens in dense cities": ("document", "gardens"),
    "In the talk about bees and gardens, what is humus?": ("document", "bees"),
    "What does the handbook say about keys?": ("document", "handbook"),
}


@pytest.mark.parametrize("text", LIFTED)
def test_a_guess_lifts_and_never_filters(text: str) -> None:
    query = understand(text, names=NAMES)
    field, value = LIFTED[text]
    assert query.filters == ()
    assert value in [one for boost in query.boosts if boost.field == field for one in boost.values]


NOTED = {
    "What is on page 900?": "There is no page 900 here; the highest page number is 307.",
    "Page 900 of The Patient Gardener?": "the pages are i to 307",
    "Que dit la page 900 ?": "Il n’y a pas de page 900 ici",
    "What is in chapter 12?": "No chapter 12 was found here; the chapters found are 1-4, A.",
    "What is chapter 2 about?": "The Patient Gardener and Manuel du potager",
    "What is said at 3:59:59?": "the longest ends at 1:05:00",
    "Which talks from 1970 mention roofs?": "they are from 2021 to 2024",
    "Are the German talks good?": "No document here is in that language",
    "Selon Moreau, combien de reines ?": "Jeanne Moreau et Luc Moreau",
    "What is said in the demo of What bees know about geometry?": "No demo is known",
    "What happens in the last ten minutes?": "name the one that is meant",
    "Compare rain, snow, hail, fog and dew": "5 things were named",
}


@pytest.mark.parametrize("text", NOTED)
def test_notes_say_what_does_not_exist(text: str) -> None:
    assert NOTED[text] in " ".join(understand(text, names=NAMES).notes)


@pytest.mark.parametrize(
    ("text", "entities"),
    [
        ("How does drip irrigation help?", {"Drip irrigation"}),
        ("What does Ruth Abara say of germination?", {"Ruth Abara", "Germination"}),
        ("Parle-moi du repiquage", {"Le repiquage"}),
    ],
)
def test_entities_are_spelled_as_in_the_collection(text: str, entities: set[str]) -> None:
    assert set(understand(text, names=NAMES).entities) == entities


def test_every_pattern_of_every_language_compiles() -> None:
    topics = {topic for table in pattern_tables() for topic in table.rows}
    assert {table.language for table in pattern_tables()} == {"de", "en", "es", "fr"}
    assert all(rules(topic) for topic in topics)


def test_a_further_language_is_a_file() -> None:
    table = PatternTable("it", {"page": [{"pattern": r"pagin[ae] (?P<first>\d+)"}]})
    (rule,) = table.rules("page")
    assert rule.pattern
    assert rule.pattern.search("a pagina 12")


@pytest.mark.parametrize(
    ("text", "filtered", "lifted"),
    [
        ("What does the Rose manual say about rain?", [], ["t"]),
        ("What does the Rose handbook say about rain?", ["h"], []),
        ("Que dit le manuel Rose sur la pluie ?", [], ["t"]),
        ("In “Rose”, what is said about rain?", ["t"], []),
    ],
)
def test_a_title_of_one_word_within_another_title_only_lifts(
    text: str, filtered: list[str], lifted: list[str]
) -> None:
    documents = (
        Document("t", "rose", "table", "ready"),
        Document("h", "The Handbook of the Rose", "pdf", "ready"),
    )
    names = build_entity_index(CollectionOutline("1", ("en", "fr"), documents))
    query = understand(text, names=names)
    assert [value for each in query.filters for value in each.values] == filtered
    assert lifted == [v for each in query.boosts for v in each.values if not filtered]


@pytest.mark.parametrize(
    ("text", "filtered", "lifted"),
    [
        ("What is on page 3 of guide.fr.pdf?", ["m"], []),
        ("Que dit-on du poêle dans Guide.FR.pdf ?", ["m"], []),
        ("Who inspects the stove, according to hut rules.docx?", ["h"], []),
        ('Who inspects the stove in "hut rules.docx"?', ["h"], []),
        ("Does guide.fr.pdf mention the stove?", [], ["m"]),
        ("Compare the stove in guide.fr.pdf with hut rules.docx.", ["m", "h"], []),
        ('Who inspects the stove, according to "hut rules"?', ["h"], []),
        ("Que dit la page 3 de « guide.fr » ?", ["m"], []),
        ('What does "hut rules" mean?', [], []),
        ("What is on page 3 of other.pdf?", [], []),
        ("Is the stove in guide.fr.pdf.bak?", [], []),
        ("Is the stove in index.html?", [], []),
    ],
)
def test_a_document_is_named_by_its_file(text: str, filtered: list[str], lifted: list[str]) -> None:
    documents = (
        Document("m", "Manual of the warden", "pdf", "ready", pages=9, source="/a/guide.fr.pdf"),
        Document(
            "h", "Regulations", "docx", "ready", source=f"file:///{64 * '3'}.docx#Hut%20rules.docx"
        ),
        Document("w", "Weather", "html", "ready", source="https://example.org/index.html"),
    )
    names = build_entity_index(CollectionOutline("1", ("en", "fr"), documents))
    query = understand(text, names=names)
    chosen = [v for each in query.filters if each.field == "document" for v in each.values]
    assert chosen == filtered
    assert lifted == [v for each in query.boosts for v in each.values if not filtered]


@pytest.mark.parametrize("title", ["The Book of Hut Stoves", "The Book of Hut Stoves, 2nd ed."])
def test_a_title_is_named_without_its_edition(title: str) -> None:
    documents = (Document("b", title, "pdf", "ready", pages=9),)
    names = build_entity_index(CollectionOutline("1", ("en",), documents))
    query = understand("What is on page 3 of The Book of Hut Stoves?", names=names)
    assert [each.field for each in query.filters] == ["document", "label"]


def test_a_document_whose_words_are_named_needs_no_name() -> None:
    assert understand("What is chapter 2 of the gardener about?", names=NAMES).notes == ()
    asked = understand("What does chapter 2 say about the gardener?", names=NAMES)
    assert "Name one" in " ".join(asked.notes)


@pytest.mark.parametrize(
    ("text", "document"),
    [
        ("Que dit la page 4 du manuel ?", "dryer"),
        ("What does page 4 of the manuel say?", "dryer"),
        ("Que dit la dernière page du manuel ?", "dryer"),
        ("Que dit la page 4 du guide ?", None),  # two have the word
        ("Que dit la page 4 sur le manuel ?", None),
        ("Que dit la page 4 du livre ?", None),
    ],
)
def test_a_page_is_of_the_only_document_with_the_word_behind_it(
    text: str, document: str | None
) -> None:
    titled = {
        "dryer": "Manuel du déshumidificateur DX-200 de la salle",
        "bees": "Le petit guide des abeilles noires",
        "wasps": "Le petit guide des guêpes jaunes",
    }
    documents = tuple(
        Document(key, title, "pdf", "ready", language="fr", pages=4)
        for key, title in titled.items()
    )
    query = understand(text, names=build_entity_index(CollectionOutline("1", ("fr",), documents)))
    found = {each.field: each.values for each in query.filters}
    assert found.get("document") == (None if document is None else (document,))
