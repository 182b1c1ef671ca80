"""Places in questions in German and Spanish, which have tables and no code of their own."""

from __future__ import annotations

import pytest

from quoth.core.outline import CollectionOutline, Heading
from quoth.core.types import Document, Turn
from quoth.query.entity_index import build_entity_index
from quoth.query.filters.patterns import find_matches
from quoth.query.tokens import normalize_query
from quoth.query.understand import understand

LAW, MINUTES, NOVEL, TALK, CONTRACT = "law", "minutes", "novel", "talk", "contract"
_DOCUMENTS = (
    Document(LAW, "Ley de Caza / Jagdgesetz", "markdown", "ready", language="es"),
    Document(MINUTES, "Niederschrift", "docx", "ready", language="de", date="2019-05-21"),
    Document(NOVEL, "La marea", "pdf", "ready", language="es", pages=40),
    Document(CONTRACT, "Alquiler", "docx", "ready", language="es"),
    Document(TALK, "Moore", "transcript", "ready", language="de", seconds=1200.0),
)
_HEADINGS = (
    *(Heading(LAW, (f"Artículo {n}",), n, n) for n in range(1, 8)),
    *(Heading(LAW, (f"§ {n} Pflichten",), n + 10, n + 10) for n in range(3, 6)),
    Heading(NOVEL, ("Anexo B",), 30, 31, "b"),
    *(Heading(NOVEL, (f"Capítulo {n}",), n, n, str(n)) for n in range(1, 6)),
    *(Heading(CONTRACT, (f"Parte {n}",), n, n) for n in range(1, 4)),
)
NAMES = build_entity_index(
    CollectionOutline("1", ("de", "es"), _DOCUMENTS, _HEADINGS),
    labels={NOVEL: tuple(map(str, range(1, 41)))},
)
LAST = 360_000.0

PLACES = {
    "¿Qué establece el artículo 3?": {"section": ["Artículo 3"]},
    "Que dice el articulo tercero de la ley": {"section": ["Artículo 3"], "document": [LAW]},
    "Compara los artículos 2 y 5": {"section": ["Artículo 2", "Artículo 5"]},
    "Resúmeme el capítulo cuarto": {"chapter": ["4"]},
    "¿Qué ocurre en el quinto capítulo?": {"chapter": ["5"]},
    "¿Qué sucede en el último capítulo?": {"chapter": ["5"]},
    "Lee el cap. 2": {"chapter": ["2"]},
    "¿Qué dice el capítulo uno de la novela?": {"chapter": ["1"]},
    "¿Qué dice el capítulo 3 y una nota?": {"chapter": ["3"]},
    "¿Qué hay en la página 5 y una de sus notas?": {"label": ["5"]},
    "¿Qué contiene el anexo B?": {"chapter": ["b"]},
    "¿Qué pone en las páginas 7 a 9?": {"label": ["7", "8", "9"]},
    "¿Qué hay en la pág. 8?": {"label": ["8"]},
    "¿Qué dice la página veinte?": {"label": ["20"]},
    "¿Qué se explica en el minuto 4:30?": {"seconds": [270.0, 270.0]},
    "¿Qué se cuenta en la charla a partir del minuto 10?": {"seconds": [600.0, LAST]},
    "¿De qué se habla entre el minuto 3 y el 5?": {"seconds": [180.0, 300.0]},
    "¿Qué se dice en los tres primeros minutos?": {"seconds": [0.0, 180.0]},
    "¿Qué se explica en la segunda mitad de la charla?": {"seconds": [600.0, 1200.0]},
    "Was sagt sie in den ersten fünf Minuten über Kupfer?": {"seconds": [0.0, 300.0]},
    "Was wird in der zweiten Hälfte des Vortrags gesagt?": {"seconds": [600.0, 1200.0]},
    "¿Qué se decidió en la sesión del 21 de mayo de 2019?": {"date": [20190521.0, 20190521.0]},
    "Was besagt § 4?": {"section": ["§ 4 Pflichten"]},
    "Was steht in den §§ 3 bis 5?": {
        "section": ["§ 3 Pflichten", "§ 4 Pflichten", "§ 5 Pflichten"]
    },
    "Was regelt Artikel 6?": {"section": ["Artículo 6"]},
    "Was geschieht im vierten Kapitel?": {"chapter": ["4"]},
    "Erkläre das 2. Kapitel": {"chapter": ["2"]},
    "Worum geht es in Kapitel drei?": {"chapter": ["3"]},
    "Was passiert im letzten Kapitel?": {"chapter": ["5"]},
    "Was steht im Anhang B?": {"chapter": ["b"]},
    "Lies Seite zwölf vor": {"label": ["12"]},
    "Was steht auf der dritten Seite?": {"label": ["3"]},
    "Worüber wird ab Minute 15 gesprochen?": {"seconds": [900.0, LAST]},
    "Was wird in Minute 7:45 erklärt?": {"seconds": [465.0, 465.0]},
    "Was wird zwischen Minute 2 und 6 gesagt?": {"seconds": [120.0, 360.0]},
    "Was sagt er in den letzten zwei Minuten?": {"seconds": [1080.0, 1200.0]},
    "Was wurde in der Sitzung vom 21. Mai 2019 beschlossen?": {"date": [20190521.0, 20190521.0]},
    "Was hat die Versammlung vom 21.05.2019 entschieden?": {"date": [20190521.0, 20190521.0]},
}


@pytest.mark.parametrize("text", PLACES)
def test_a_place_named_in_german_or_spanish_filters(text: str) -> None:
    found = understand(text, names=NAMES).filters
    assert {each.field: list(each.values) for each in found} == PLACES[text]


NO_PLACES = (
    "Wann öffnet die Ausstellung um 10:30?",
    "Wie viele Kapitel hat das Werk?",
    "Ein Kapitel über Moore wäre schön",
    "Welche Artikel gibt es im Laden?",
    "Das kostet 3 Minuten",
    "Er wohnt im zweiten Stock seit Mai 2019",
    "Was geschah im Jahr 1848?",
    "Kochen Sie den Reis nach 10 Minuten noch einmal auf",
    "Die dritte Seite der Medaille ist der Rand",
    "¿A qué hora abre el museo, a las 10:30?",
    "¿Cuántas páginas tiene la obra?",
    "¿Qué capítulo le gusta más?",
    "La primera parte del camino es llana",
    "¿Qué pasó en 1848?",
    "¿Qué artículos vende la tienda?",
    "Hierve durante 10 minutos",
    "El segundo hijo nació en mayo de 2019",
    "Un minuto de silencio",
    "Haben auf jeder Seite zwei Personen Platz?",
    "Spielen auf beiden Seiten 3 Spieler?",
    "Hat jedes Kapitel drei Übungen?",
    "¿Tiene la otra parte una copia del contrato?",
    "¿Recibe cada parte una copia?",
    "¿Hay en cada página dos notas?",
    "¿En qué parte vi esto?",
    "¿En qué capítulo vi en detalle esto?",
    "Wer traf in der zweiten Hälfte des Spiels?",
    "Was sagt das Buch über das letzte Drittel der Schwangerschaft?",
    "Was passiert in den ersten zehn Minuten im Ofen?",
    "¿Quién marcó en la segunda mitad del partido?",
    "¿Qué pasa en los primeros cinco minutos de cocción?",
    "¿Qué se explica de la segunda mitad del siglo XIX?",
    "In the first part of the war the dice fell",
    "What does paragraph 3 of the poem mean?",
)


@pytest.mark.parametrize("text", NO_PLACES)
def test_words_that_look_like_such_a_place_name_none(text: str) -> None:
    query = understand(text, names=NAMES)
    assert not query.filters
    assert not query.notes


def test_an_article_that_is_not_there_is_noted() -> None:
    for asked in ("¿Qué dice el artículo 40?", "Was steht in Artikel 40?"):
        query = understand(asked, names=NAMES)
        assert not query.filters
        assert "40" in query.notes[0]


def test_a_place_goes_on_in_a_conversation() -> None:
    before = (Turn("¿Qué establece el artículo 3?", ""),)
    found = understand("¿Y el artículo 4?", names=NAMES, history=before).filters
    assert [each.values for each in found] == [("Artículo 4",)]


@pytest.mark.parametrize(
    ("kind", "asked"),
    [
        ("price", "Was kosten die Karten?"),
        ("price", "Wie teuer ist der Eintritt?"),
        ("price", "¿Cuánto vale la entrada?"),
        ("price", "¿Cuál es el precio del abono?"),
        ("number", "Wie viele Brücken gibt es?"),
        ("number", "Wie hoch liegt der See?"),
        ("number", "¿Cuántos puentes hay?"),
        ("number", "¿Cuánto mide el faro?"),
        ("date", "Wann wurde der Turm gebaut?"),
        ("date", "In welchem Jahr brannte das Theater?"),
        ("date", "¿Cuándo fue el incendio?"),
        ("date", "¿En qué año se abrió el canal?"),
        ("date", "¿Cuándo se fundaron las salinas?"),
        ("", "Wann ist ein Beschluss gültig?"),
        ("", "¿Cuándo se considera válido un acuerdo?"),
    ],
)
def test_what_a_question_asks_for_is_a_price_a_number_or_a_date(kind: str, asked: str) -> None:
    found = find_matches("value", normalize_query(asked))
    assert [each.settings["kind"] for each in found] == ([kind] if kind else [])


@pytest.mark.parametrize(
    ("text", "is_amount"),
    [
        ("Die Brücke hat vierunddreißig Bögen.", True),
        ("Es dauerte fünf Wochen.", True),
        ("Das Fest begann bei Regen.", False),
        ("Son mayores a los dieciséis años.", True),
        ("Costó trescientas pesetas.", True),
        ("La fiesta empezó con lluvia.", False),
        ("He saw the elf again.", False),
    ],
)
def test_a_number_in_words_is_an_amount(text: str, is_amount: bool) -> None:
    assert bool(find_matches("amount", normalize_query(text.replace("ß", "ss")))) is is_amount
