"""What narrows the search, and what only looks as if it did."""

from __future__ import annotations

import pytest

from quoth.core.types import Filter
from quoth.query.understand import understand
from tests.support.made_outline import NAMES

Expected = dict[str, tuple[object, ...]]


def filters_of(text: str) -> Expected:
    return {each.field: tuple(each.values) for each in understand(text, names=NAMES).filters}


PAGES: list[tuple[str, Expected]] = [
    ("What is on page 142?", {"label": ("142",)}),
    ("What stands on p. ix?", {"label": ("ix",)}),
    ("Read me pp. 3–5", {"label": ("3", "4", "5")}),
    ("pages 12-14", {"label": ("12", "13", "14")}),
    ("de la page 12 à la page 14", {"label": ("12", "13", "14")}),
    ("What is said between pages 20 and 22?", {"label": ("20", "21", "22")}),
    ("Que lit-on aux pages 20 et 22 ?", {"label": ("20", "22")}),
    ("What does page thirty-one say?", {"label": ("31",)}),
    ("Que dit la page vingt et un ?", {"label": ("21",)}),
    ("pages 3, 5 and 9", {"label": ("3", "5", "9")}),
    ("Quelle recette est à la p. 88 ?", {"label": ("88",)}),
    ("on page 7 of The Patient Gardener", {"label": ("7",), "document": ("almanac",)}),
    ("What is on page 900?", {}),
    ("What is on page 3 of the search results?", {}),
    ("Is web page 2 faster?", {}),
    ("Which page mentions worms?", {}),
    ("How do I make a home page 12 times faster?", {}),
    ("The book has 300 pages. Which is the best?", {}),
    ("Is anything said outside of page 12?", {}),
]
CHAPTERS: list[tuple[str, Expected]] = [
    ("What is chapter 3 about?", {"chapter": ("3",)}),
    ("Summarise chapter three", {"chapter": ("3",)}),
    ("Que dit le chapitre II ?", {"chapter": ("2",)}),
    ("Résume le deuxième chapitre", {"chapter": ("2",)}),
    ("in ch. 4, which diseases are named?", {"chapter": ("4",)}),
    ("Which tables are in appendix A?", {"chapter": ("a",)}),
    ("chapters 1 to 3 of The Patient Gardener", {"chapter": ("1", "2", "3"),
                                                "document": ("almanac",)}),
    ("Chapters 1 and 3: what do they share?", {"chapter": ("1", "3")}),
    ("aux chapitres 1 et 2", {"chapter": ("1", "2")}),
    ("What is in the last chapter of The Patient Gardener?", {"chapter": ("3",),
                                                             "document": ("almanac",)}),
    ("au premier chapitre du Manuel du potager", {"chapter": ("1",), "document": ("manuel",)}),
    ("What is in chapter 12?", {}),
    ("Did the farm file for chapter 1 bankruptcy?", {}),
    ("the chapter I liked best", {}),
    ("a new chapter in my life", {}),
    ("What is said apart from chapter 3?", {}),
]  # fmt: skip
SECTIONS: list[tuple[str, Expected]] = [
    ("In the section on drip irrigation, how much water?", {"section": ("Drip irrigation",)}),
    ("dans la section sur le repiquage", {"section": ("Le repiquage",)}),
    ("What is the daily limit in the Expenses section?", {"section": ("Expenses",)}),
    ('Which ratio does the section "Carbon and nitrogen" give?',
     {"section": ("Carbon and nitrogen",)}),
    ("What does he thank for in the introduction?", {"section": ("Introduction",)}),
    ("Which section of the garden gets the most sun?", {}),
    ("What is a cross section of a root?", {}),
    ("How is drip irrigation installed?", {}),
]  # fmt: skip
TIMES: list[tuple[str, Expected]] = [
    ("What is said at 12:30?", {"seconds": (750.0, 750.0)}),
    ("Que dit-elle à 1 h 05 ?", {"seconds": (3900.0, 3900.0)}),
    ("What happens in the first ten minutes?", {"seconds": (0.0, 600.0)}),
    ("Que se passe-t-il pendant les dix premières minutes ?", {"seconds": (0.0, 600.0)}),
    ("What is shown between 5:00 and 7:30?", {"seconds": (300.0, 450.0)}),
    ("entre 5:00 et 7:30, que montre-t-il ?", {"seconds": (300.0, 450.0)}),
    ("In the last five minutes of What bees know about geometry, who is thanked?",
     {"document": ("bees",), "seconds": (1500.0, 1800.0)}),
    ("What is said around 20:00?", {"seconds": (1170.0, 1230.0)}),
    ("At minute 12, which plant is shown?", {"seconds": (720.0, 720.0)}),
    ("Bread rises in the first ten minutes of baking", {}),
    ("Is the market open at 12:30 on Mondays?", {}),
    ("Le marché ouvre-t-il à 8:30 le samedi ?", {}),
    ("Which ratio is better, 4:3 or 16:9?", {}),
    ("What is said at 3:59:59?", {}),
    ("Should dough rest for 30 minutes?", {}),
    ("What happens after 10 minutes of kneading?", {}),
]  # fmt: skip
SEGMENTS: list[tuple[str, Expected]] = [
    ("What was asked in the Q&A?", {"segment": ("qa",)}),
    ("During the question and answer session, who spoke?", {"segment": ("qa",)}),
    ("Que répond-il dans les questions du public ?", {"segment": ("qa",)}),
    ("Qu'a-t-on vu pendant la démo ?", {"segment": ("demo",)}),
    ("What broke during the demo?", {"segment": ("demo",)}),
    ("Summarise the audience questions", {"segment": ("qa",)}),
    ("What is question answering?", {}),
    ("How is the Q&A dataset built?", {}),
    ("I have a question about bees", {}),
    ("How does the demo app work?", {}),
    ("Dans la démonstration du théorème, quelle hypothèse sert ?", {}),
    ("What did the demonstration in front of parliament demand?", {}),
]
SOURCES: list[tuple[str, Expected]] = [
    ("Which talks from 2023 mention roofs?", {"date": (20230101.0, 20231231.0)}),
    ("What was said about bees in talks given in March 2024?", {"date": (20240301.0, 20240331.0)}),
    ("les présentations de mars 2024", {"date": (20240301.0, 20240331.0)}),
    ("Que disent les exposés donnés le 3 mars 2024 ?", {"date": (20240303.0, 20240303.0)}),
    ("the 2021 talk: which flour?", {"date": (20210101.0, 20211231.0)}),
    ("talks since 2024", {"date": (20240101.0, 99991231.0)}),
    ("What do the talks recorded before May 2023 say?", {"date": (0.0, 20230430.0)}),
    ("videos published between 2021 and 2023", {"date": (20210101.0, 20231231.0)}),
    ("What happened in 2023?", {}),
    ("How many hives were there in March 2024?", {}),
    ("Who won the prize in 2021?", {}),
    ("Which talks from 1970 mention roofs?", {}),
    ("What do the French talks say about bees?", {"language": ("fr",)}),
    ("Cherche dans les documents en français", {"language": ("fr",)}),
    ("les exposés anglais sur les abeilles", {"language": ("en",)}),
    ("What is said about soil in the talks in English?", {"language": ("en",)}),
    ("How do you say compost in French?", {}),
    ("Answer in French: what is compost?", {}),
    ("Résume la présentation en anglais", {}),
    ("What makes French bread crusty?", {}),
    ("Are German talks here?", {}),
]
SPEAKERS: list[tuple[str, Expected]] = [
    ("What does Ruth Abara say about angles?", {"speaker": ("Ruth Abara",)}),
    ("According to Ada Lindqvist, how deep is the soil?", {"speaker": ("Ada Lindqvist",)}),
    ("Selon Tomas Ferreira, faut-il du sel ?", {"speaker": ("Tomás Ferreira",)}),
    ("Que dit Jeanne Moreau du sel ?", {"speaker": ("Jeanne Moreau",)}),
    ("What did Abara recommend?", {"speaker": ("Ruth Abara",)}),
    ("What does Ada Lindquist think of worms?", {"speaker": ("Ada Lindqvist",)}),
    ("Selon Moreau, combien de reines ?", {"speaker": ("Jeanne Moreau", "Luc Moreau")}),
    ("In Ruth Abara's talk, which shape wins?", {"speaker": ("Ruth Abara",)}),
    ("Pourquoi Luc Moreau pense-t-il cela des reines ?", {"speaker": ("Luc Moreau",)}),
    ("What do Ada Lindqvist and Ruth Abara say about rain?",
     {"speaker": ("Ada Lindqvist", "Ruth Abara")}),
    ("Who is Ruth Abara?", {}),
    ("Where does Ada Lindqvist work?", {}),
    ("What does Marie Curie say about radium?", {}),
    ("Où habite Jeanne Moreau ?", {}),
    ("What does Ada Byron say about engines?", {}),
    ("Is there a ruth in this?", {}),
    ("Résume la séance de questions de Ruth Abara",
     {"speaker": ("Ruth Abara",), "segment": ("qa",)}),
]  # fmt: skip
TITLES: list[tuple[str, Expected]] = [
    ("In the talk about rooftop gardens, who mentioned rain?", {"document": ("gardens",)}),
    ("In the talk about soil, worms and patience, what is humus?", {"document": ("soil",)}),
    ("Dans la présentation sur les ruches, combien de reines ?", {"document": ("ruches",)}),
    ("Dans le talk sur le pain au levain, quelle farine ?", {"document": ("pain",)}),
    ("dans la vidéo sur la vie secrète des ruches", {"document": ("ruches",)}),
    ('What flour does "Sourdough versus yeast" recommend?', {"document": ("bread",)}),
    ("In the book The Patient Gardener, when are beans sown?", {"document": ("almanac",)}),
    ("In The Patient Gardener, when are beans sown?", {"document": ("almanac",)}),
    ("Summarise Soil, worms and patience", {"document": ("soil",)}),
    ("What does the volunteer handbook say about keys?", {"document": ("handbook",)}),
    ("In the talk on rooftop gardns in cities, who paid?", {"document": ("gardens",)}),
    ("D'après le Manuel du potager, quand semer ?", {"document": ("manuel",)}),
    ("In Ada Lindqvist's talk on worms, what is humus?",
     {"speaker": ("Ada Lindqvist",), "document": ("soil",)}),
    ("Compare the talk on sourdough and the talk on bees", {"document": ("bread", "bees")}),
    ("Is sourdough healthier, versus yeast bread?", {}),
    ("What does a patient gardener do in winter?", {}),
    ("Is there a talk about quantum computing?", {}),
    ("Which talk about bees is the longest?", {}),
    ("What is a talk about?", {}),
    ("In the talk about tax law, what is VAT?", {}),
    ("How do bees see?", {}),
    ("Dans la presentation la vie secrete des ruche, combien de reines ?",
     {"document": ("ruches",)}),
    ("In the talk Sourdouhg versus yeast, which flour is used?", {"document": ("bread",)}),
]  # fmt: skip
COUNTED: list[tuple[str, Expected]] = [
    ("Combien de pages un carnet a-t-il ?", {}),
    ("How many pages 12 volunteers can read?", {}),
    ("What number of pages one can print?", {}),
    ("Le nombre de pages une fois imprimé ?", {}),
    ("How many chapters 3 authors can write?", {}),
    ("Que dit la page une ?", {"label": ("1",)}),
    ("qu'y a t il a la paje 204", {"label": ("204",)}),
]
SEVERAL: list[tuple[str, Expected]] = [
    ("What came up in the question time of What bees know about geometry?",
     {"document": ("bees",), "segment": ("qa",)}),
    ("What is shown in the demo part of La vie secrète des ruches?",
     {"document": ("ruches",), "segment": ("demo",)}),
    ("Qu'a demandé le public dans La vie secrète des ruches ?",
     {"document": ("ruches",), "segment": ("qa",)}),
    ("What does chapter 3 say on page 300?", {"chapter": ("3",), "label": ("300",)}),
    ("In the Q&A of the French talks, who asks about honey?",
     {"language": ("fr",), "segment": ("qa",)}),
    ("What does Luc Moreau show at 12:30?", {"speaker": ("Luc Moreau",),
                                            "seconds": (750.0, 750.0)}),
    ("Which talks by Ada Lindqvist from 2024 mention worms?",
     {"speaker": ("Ada Lindqvist",), "date": (20240101.0, 20241231.0)}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *PAGES,
        *CHAPTERS,
        *SECTIONS,
        *TIMES,
        *SEGMENTS,
        *SOURCES,
        *SPEAKERS,
        *TITLES,
        *COUNTED,
        *SEVERAL,
    ],
)
def test_only_what_the_question_says_narrows(text: str, expected: Expected) -> None:
    assert filters_of(text) == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("What is on page 900?", "There is no page 900 here; the highest page number is 307."),
        ("Page 900 of The Patient Gardener?", "the pages are i to 307"),
        ("Que dit la page 900 ?", "Il n'y a pas de page 900 ici"),
        ("What is in chapter 12?", "There is no chapter 12 here; the chapters are 1-4, A."),
        ("What is chapter 2 about?", "The Patient Gardener and Manuel du potager"),
        ("What is said at 3:59:59?", "the longest ends at 1:05:00"),
        ("Which talks from 1970 mention roofs?", "they are from 2021 to 2024"),
        ("Are the German talks good?", "No document here is in that language"),
        ("Selon Moreau, combien de reines ?", "Jeanne Moreau et Luc Moreau"),
        ("What is said in the demo of What bees know about geometry?", "No demo is known"),
        ("What happens in the last ten minutes?", "name the one that is meant"),
        ("Compare rain, snow, hail, fog and dew", "5 things were named"),
    ],
)
def test_the_asker_is_told(text: str, said: str) -> None:
    assert said in " ".join(understand(text, names=NAMES).notes)


def test_a_title_that_may_be_meant_only_lifts() -> None:
    query = understand("In the talk about bees and gardens, what is humus?", names=NAMES)
    assert query.filters == ()
    assert {value for each in query.boosts for value in each.values} >= {"bees"}


def test_a_speaker_who_is_only_named_is_a_guess() -> None:
    query = understand("Who is Ruth Abara?", names=NAMES)
    assert query.boosts == (Filter("speaker", "in", ("Ruth Abara",)),)
    assert query.entities == ("Ruth Abara",)


def test_a_dropped_field_is_not_read() -> None:
    text = "What does chapter 3 say on page 12?"
    assert [f.field for f in understand(text, names=NAMES, drop={"label"}).filters] == ["chapter"]


@pytest.mark.parametrize(
    ("text", "entities"),
    [
        ("How does drip irrigation help?", {"Drip irrigation"}),
        ("What does Ruth Abara say of germination?", {"Ruth Abara", "Germination"}),
        ("Parle-moi du repiquage", {"Le repiquage"}),
    ],
)
def test_names_are_given_as_they_really_are(text: str, entities: set[str]) -> None:
    assert set(understand(text, names=NAMES).entities) == entities
