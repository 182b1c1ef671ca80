"""The look-up of a collection's names, and the names that a phrase means."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.core.outline import CollectionOutline, Heading
from quoth.core.types import Document, Filter, Turn
from quoth.query.entity_index import build_entity_index, date_bounds
from quoth.query.entity_linking import mentions, resolve, resolve_speaker
from quoth.query.tokens import folded_words, normalize_query, tokenize_query
from quoth.query.understand import understand
from tests.support.made_outline import NAMES


@pytest.mark.parametrize(
    ("phrase", "titles", "sure"),
    [
        ("rooftop gardens", {"Rooftop gardens in dense cities"}, True),
        ("gardens in cities", {"Rooftop gardens in dense cities"}, True),
        ("roftop gardens", {"Rooftop gardens in dense cities"}, True),
        ("vie des ruches", {"La vie secrète des ruches"}, True),
        ("gardens and bees", {"Rooftop gardens in dense cities", "What bees know about geometry"},
         False),
        ("tax law", set(), False),
    ],
)  # fmt: skip
def test_a_title_is_found_by_some_of_its_words(phrase: str, titles: set[str], sure: bool) -> None:
    found = resolve(folded_words(phrase), NAMES.titles, names=NAMES)
    assert {each.real for each in found.names} if found else set() == titles
    assert bool(found and found.unambiguous) == sure


@pytest.mark.parametrize(
    ("name", "real", "sure"),
    [
        ("Ada Lindqvist", {"Ada Lindqvist"}, True),
        ("Lindqvist", {"Ada Lindqvist"}, True),
        ("Dr Lindqvist", {"Ada Lindqvist"}, True),
        ("Ada Lindquist", {"Ada Lindqvist"}, True),
        ("Tomas Fereira", {"Tomás Ferreira"}, True),
        ("Moreau", {"Jeanne Moreau", "Luc Moreau"}, True),
        ("Lindquist", {"Ada Lindqvist"}, True),
        ("Ada Byron", set(), False),
        ("Marie Curie", set(), False),
    ],
)
def test_a_speaker_is_found_by_a_name(name: str, real: set[str], sure: bool) -> None:
    found = resolve_speaker(folded_words(name), NAMES)
    assert ({each.real for each in found.names} if found else set()) == real
    assert bool(found and found.unambiguous) == sure


def test_a_label_that_says_what_follows_is_no_speaker() -> None:
    labels = ("Ada Lindqvist", "Question", "Réponses", "Q&A", "Demo")
    outline = CollectionOutline("v", ("en",), (), speakers=tuple((name, "t") for name in labels))
    names = build_entity_index(outline).speakers.names
    assert [each.real for each in names] == ["Ada Lindqvist"]


@pytest.mark.parametrize(
    ("date", "days"),
    [
        ("2024", (20240101, 20241231)),
        ("2024-02", (20240201, 20240229)),
        ("2023-02", (20230201, 20230228)),
        ("2024-03-05", (20240305, 20240305)),
        ("2024-03-05T10:00:00Z", (20240305, 20240305)),
        ("March", None),
        ("", None),
    ],
)
def test_a_date_is_read_as_days(date: str, days: tuple[int, int] | None) -> None:
    assert date_bounds(date) == days


@given(st.text(max_size=60))
def test_folding_keeps_every_position(text: str) -> None:
    asked = tokenize_query(text)
    assert len(asked.folded) == len(asked.clean)
    assert normalize_query(normalize_query(text)) == normalize_query(text)


def test_a_section_is_found_by_its_number() -> None:
    headings = (
        Heading("d", ("3 Modularity", "3.5 Streams"), 4, 9, "3"),
        Heading("d", ("3 Modularity", "3.5 Streams", "3.5.1 Streams Are Delayed Lists"), 5, 6, "3"),
    )
    book = Document("d", "A book", "pdf", "ready", language="en", pages=90)
    names = build_entity_index(CollectionOutline("1", ("en",), (book,), headings))
    for text in ("What does section 3.5 say about lists?", "Que dit la section 3.5 ?"):
        assert understand(text, names=names).filters == (Filter("section", "in", ("3.5 Streams",)),)
    assert understand("What is in section 3.7?", names=names).filters == ()


def test_an_article_is_found_by_its_word_and_number() -> None:
    paths = (("Article 1er - Définitions",), ("Article 3 – Fraude",), ("Amendment V",))
    headings = [Heading("d", path, at, at) for at, path in enumerate(paths)]
    rules = Document("d", "Règlement des examens", "document", "ready", language="fr")
    names = build_entity_index(CollectionOutline("1", ("fr",), (rules,), tuple(headings)))
    for text, title in (
        ("Que dit l'article 3 du Règlement des examens ?", "Article 3 – Fraude"),
        ("Que dit l'article 3 du règlement ?", "Article 3 – Fraude"),
        ("Que dit l'article 3 de l'examen ?", "Article 3 – Fraude"),
        ("Que dit le premier article ?", "Article 1er - Définitions"),
        ("What is the fifth amendment?", "Amendment V"),
        ("What does Amendment V say about witnesses?", "Amendment V"),
    ):
        assert Filter("section", "in", (title,)) in understand(text, names=names).filters
    missing = understand("Que dit l'article 9 ?", names=names)
    assert (missing.filters, len(missing.notes)) == ((), 1)
    assert understand("What was the ninth article that I read?", names=names).notes == ()
    for other in (
        "Que dit l'article 3 de la convention ?",
        "Les examens relèvent-ils de l'article 3 de la convention ?",
    ):
        assert understand(other, names=names).filters == ()
    # No heading is a clause: it may be one of another text.
    assert understand("What is clause 3 of the treaty?", names=names).notes == ()


PLAY = [
    *[("Act I",), ("Act I", "Scene 1"), ("Act I", "Scene 2"), ("Act II",), ("Act II", "Scene 1")],
    *[("Code",), ("Code", "Art. L. 1233-3"), ("Code", "Article L1233-4"), ("§ 7 Fees",)],
]


@pytest.mark.parametrize(
    ("text", "filters"),
    [
        ("What happens in Act II, scene 1?", [["Act II"], ["Scene 1"]]),
        ("What happens in scene 2 of act one?", [["Act I"], ["Scene 2"]]),
        ("Que se passe-t-il à la scène 1 de l'acte I ?", [["Act I"], ["Scene 1"]]),
        ("Act I scene 1", [["Act I"], ["Scene 1"]]),
        ("Is there a ghost in scene 1 of acts 1 and 2?", [["Act I", "Act II"], ["Scene 1"]]),
        ("What happens in act 1 and in scene 2?", [["Act I", "Scene 2"]]),
        ("Who comes in scene 1?", [["Scene 1"]]),
        ("Que dit l'article L. 1233-3 ?", [["Art. L. 1233-3"]]),
        ("Que disent les articles L1233-3 et L. 1233-4 ?", [["Art. L. 1233-3", "Article L1233-4"]]),
        ("What does section 7 say?", [["§ 7 Fees"]]),
        ("Act I, scene 1 and act II, scene 1", [["Act I", "Act II"], ["Scene 1"]]),
        ("Compare act 2, scene 1 with act 1.", [["Act I", "Scene 1"]]),
        ("What is in act 2 scene 2?", []),
        ("What did the act I saw last year change?", []),
    ],
)
def test_divisions_named_together_are_one_place(text: str, filters: list[list[str]]) -> None:
    headings = tuple(Heading("d", path, at, at) for at, path in enumerate(PLAY))
    play = Document("d", "A play", "document", "ready", language="en")
    query = understand(
        text, names=build_entity_index(CollectionOutline("1", ("en",), (play,), headings))
    )
    assert [sorted(map(str, each.values)) for each in query.filters] == filters
    assert bool(query.notes) == (text == "What is in act 2 scene 2?")


def test_odd_ranges_of_divisions_are_read() -> None:
    titles = ("Articles 9 – 5", "Parts II to I", "Articles 5 to 7", "Articles 5 to 9 and 12")
    headings = tuple(Heading("d", (title,), at, at) for at, title in enumerate(titles))
    law = Document("d", "A law", "document", "ready", language="en")
    names = build_entity_index(CollectionOutline("1", ("en",), (law,), headings))
    found = understand("What does article 6 say?", names=names).filters
    assert found == (Filter("section", "in", ("Articles 5 to 7", "Articles 5 to 9 and 12")),)
    assert understand("What does article 11 say?", names=names).filters == ()
    many = " of ".join(f"{word} 1 to 999" for word in ("articles", "parts", "acts", "scenes"))
    assert understand(f"What is in {many}?", names=names).filters == ()


def test_a_follow_up_goes_on_in_the_part_around_its_place() -> None:
    headings = tuple(Heading("d", path, at, at) for at, path in enumerate(PLAY))
    play = Document("d", "A play", "document", "ready", language="en")
    names = build_entity_index(CollectionOutline("1", ("en",), (play,), headings))
    for text, wanted in (
        ("And scene 2?", {"Act I", "Scene 2"}),
        ("And act II?", {"Act II"}),
        ("And in act II, scene 1?", {"Act II", "Scene 1"}),
    ):
        history = [Turn("What happens in act I, scene 1?", "A ghost comes.")]
        query = understand(text, names=names, history=history)
        assert {str(value) for each in query.filters for value in each.values} == wanted


@pytest.mark.parametrize(
    ("text", "titles", "document"),
    [
        ("What does Article 5 of the Canal Code of Velmora say?", ["Article 5 - Fish"], "canal"),
        ("What is article 5 of the Harbours Act about?", ["Article 5 - Pilots"], "harbours"),
        ("What do articles 4 and 5 of the Canal Code say?", ["Article 5 - Fish"], "canal"),
        ("What does section 2 of article 5 of the Canal Code say?", ["Article 5 - Fish"], "canal"),
        ("What do articles 2, 4, 5 and 7 of the Canal Code say?", ["Article 5 - Fish"], "canal"),
        ("What do articles 9 to 5 of the Canal Code say?", ["Article 5 - Fish"], "canal"),
        ("What does article 9 of the Harbours Act say?", [], ""),
        ("What does article 5 of the Velmora rules say?", [], ""),
        ("What does article 5 of the convention say?", [], ""),
    ],
)
def test_a_division_is_of_the_document_behind_it(
    text: str, titles: list[str], document: str
) -> None:
    """Another document has sections: in the statutes "section 2" is no heading."""
    titled = {
        "canal": ("The Canal Code of Velmora", "Article 5 - Fish"),
        "harbours": ("The Harbours Act of Velmora", "Article 5 - Pilots"),
        "bees": ("Bees", "§ 2 Hives"),
    }
    documents = tuple(
        Document(key, title, "document", "ready", language="en")
        for key, (title, _heading) in titled.items()
    )
    headings = tuple(Heading(key, (each,), 0, 1) for key, (_title, each) in titled.items())
    names = build_entity_index(CollectionOutline("1", ("en",), documents, headings))
    query = understand(text, names=names)
    found = {each.field: list(map(str, each.values)) for each in query.filters}
    assert (found.get("section", []), found.get("document", [""])) == (titles, [document])
    assert bool(query.notes) == ("article 9" in text)


@pytest.mark.parametrize(("text", "found"), [("What has the A?", ["A"]), ("What has a bee?", [])])
def test_a_letter_of_an_index_is_meant_only_as_it_is_written(text: str, found: list[str]) -> None:
    book, headings = Document("d", "Notes", "pdf", "ready"), (Heading("d", ("A",), 0, 1),)
    outline = CollectionOutline("1", ("en",), (book,), headings)
    named = mentions(tokenize_query(text), build_entity_index(outline))
    assert [name.real for each in named for name in each.names] == found
