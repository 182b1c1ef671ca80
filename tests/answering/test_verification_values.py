"""Words, numbers, units, months and names compare by what they mean, not by how they look."""

from __future__ import annotations

import unicodedata

import pytest

from quoth.answering.verification.tokens import concatenate, plain_number, read_values, tokens


def words(text: str, language: str = "en") -> list[str]:
    return [part.word for part in tokens(text, language=language)]


def values(text: str, language: str = "en") -> list[tuple[str, str, str]]:
    found = read_values(text, tokens(text, language=language), language=language)
    return [(each.kind, each.key, each.unit) for each in found]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("an example here", "an exam-\nple here"),
        ("an example here", "an exam\u00adple here"),
        ("five offices", "five o\ufb03ces"),
        ("the caf\u00e9 closes", unicodedata.normalize("NFD", "the caf\u00e9 closes")),
        ('he said "yes" twice', "he said \u201cyes\u201d twice"),
        ("it doesn't matter", "it doesn\u2019t matter"),
        ("a  b\u00a0c\nd", "a b c d"),
        ("well-known rules", "well\u2011known rules"),
        ("1,000 pages", "1000 pages"),
        ("l'\u0153uvre compl\u00e8te", "l\u2019oeuvre compl\u00e8te"),
    ],
)
def test_print_makes_no_difference(one: str, other: str) -> None:
    assert concatenate(tokens(one, language="en")) == concatenate(tokens(other, language="en"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("about 12 hours", "about 1 2 hours"),
        ("10\u00b2 cells", "102 cells"),
        ("in 1990-1995", "in 19901995"),
        ("p < 5", "p > 5"),
        ("5 %", "5"),
        ("at -5 degrees", "at 5 degrees"),
        ("it does matter", "it doesn't matter"),
        ("v1.2.3", "v1.2.4"),
    ],
)
def test_what_differs_stays_different(one: str, other: str) -> None:
    assert concatenate(tokens(one, language="en")) != concatenate(tokens(other, language="en"))


def test_every_token_knows_its_place() -> None:
    text = "Le caf\u00e9 co\u00fbte 3,50 \u20ac, l'eau 2."
    for part in tokens(text, language="fr", offset=100):
        assert words(text[part.start - 100 : part.end - 100], "fr") == [part.word]


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("1,234,567.80", "1234567.8"),
        ("3,5", "3.5"),
        ("3.50", "3.5"),
        ("12:30", "12:30"),
        ("007", "7"),
    ],
)
def test_a_number_is_written_in_one_way(written: str, plain: str) -> None:
    assert plain_number(written) == plain


@pytest.mark.parametrize(
    ("text", "language", "wanted"),
    [
        ("it took twenty-four hours", "en", ("number", "24", "hour")),
        ("it has 1.5 million users", "en", ("number", "1500000", "")),
        ("it costs $20 now", "en", ("number", "20", "$")),
        ("il en reste 40 pour cent", "fr", ("number", "40", "%")),
        ("deux cents et quatre-vingts pages", "fr", ("number", "280", "page")),
        ("ouverte en mille neuf cent soixante-six", "fr", ("number", "1966", "")),
        ("un effort de deux cent quarante kilos", "fr", ("number", "240", "kg")),
        ("five hundred and sixty two grams", "en", ("number", "562", "g")),
        ("between five and six hours", "en", ("number", "5", "")),
        ("between one hundred and five hundred people", "en", ("number", "100", "")),
        ("entre cent et deux cents litres", "fr", ("number", "200", "litre")),
        ("thousands and two hundred grams", "en", ("number", "200", "g")),
        ("on the second five hours", "en", ("number", "5", "hour")),
        ("on 9 November 1989", "en", ("date", "month 11", "")),
        ("le 9 novembre 1989", "fr", ("date", "month 11", "")),
        ("dated 1989-11-09", "en", ("date", "month 11", "")),
        ("they met Ada Lovelace there", "en", ("name", "lovelace", "")),
        ("we trained GPT-4 on it", "en", ("name", "gpt4", "")),
    ],
)
def test_values_are_found(text: str, language: str, wanted: tuple[str, str, str]) -> None:
    assert wanted in values(text, language)


@pytest.mark.parametrize(
    "text", ["One may go.", "It may march on.", "The dog barks.", "A second try."]
)
def test_plain_words_are_no_values(text: str) -> None:
    read = tokens(text, language="en")
    assert [each for each in read_values(text, read, language="en") if each.sure] == []


@pytest.mark.parametrize(
    ("language", "text", "found"),
    [
        ("de", "Es dauerte zwölf Jahre.", [("number", "12", "year")]),
        ("de", "Es waren einundzwanzig Meter.", [("number", "21", "m")]),
        ("de", "Das kostete drei Millionen Euro.", [("number", "3000000", "€")]),
        ("de", "Es fielen minus zwanzig Grad an.", [("number", "-20", "degree")]),
        ("de", "Am 3. Okt waren es 15 Prozent.", [("number", "15", "%"), ("date", "month 10", "")]),
        ("de", "Der Eintritt kostet € 12.", [("number", "12", "€")]),
        ("es", "El curso vale $50.", [("number", "50", "$")]),
        ("es", "Duró doce años.", [("number", "12", "year")]),
        ("es", "Mide treinta y un metros.", [("number", "31", "m")]),
        ("es", "Son doscientos cuarenta kilómetros.", [("number", "240", "km")]),
        (
            "es",
            "Crece un 15 por ciento en 3 horas.",
            [("number", "15", "%"), ("number", "3", "hour")],
        ),
    ],
)
def test_numbers_in_words_and_units_are_read_by_language(
    language: str, text: str, found: list[tuple[str, str, str]]
) -> None:
    kinds = [each for each in values(text, language) if each[0] != "name"]
    assert [each for each in kinds if each in found] == found


def test_a_number_in_words_is_the_one_of_its_language() -> None:
    assert values("Once upon a time.", "en") == []
    assert ("number", "11", "year") in values("Tiene once años.", "es")
    assert not [each for each in values("Ein elf.", "en") if each[0] == "number"]
