from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from quoth.text.analyzer import MAX_TERM_BYTES, analyze, analyze_query, plain_numbers
from quoth.text.language import detect_language, detect_query_language
from quoth.text.stop_words import STOP_WORDS, query_stop_words
from tests.support.tables import rows


@pytest.mark.parametrize(("text", "language", "expected"), rows("text", "analyzer.terms_by_hand"))
def test_terms_by_hand(text: str, language: str, expected: list[str]) -> None:
    assert analyze(text, language=language) == expected


def test_question_and_text_meet_whatever_the_accents() -> None:
    assert set(analyze_query("REGLEMENTATION europeenne", languages=["fr"])) <= set(
        analyze("La réglementation européenne.", language="fr")
    )


def test_a_number_is_found_however_it_is_written() -> None:
    ways = ("1 250,50", "1\u202f250,50", "1.250,50", "1,250.50", "1250.50")
    plain = {*analyze_query("1250.50 €", languages=["fr"])}
    assert all(plain <= {*analyze(text, language="fr")} for text in ways)
    assert {plain_numbers(text) for text in ("12 000", "12 000,00", "12000.00")} == {"12000"}
    assert plain_numbers("section 3.10 of 3") == "section 3.10 of 3"


def test_a_query_gives_each_word_under_every_language_as_often_as_it_is_repeated() -> None:
    found = analyze_query("the translation of snakes and snakes", languages=["en", "fr"])
    assert found == ["translat", "snake", "snak", "snake", "snak"]


def test_stop_words_of_the_own_language_only_are_left_out() -> None:
    assert analyze_query("How does a car work?", languages=["en", "fr"]) == ["car", "work"]


@given(st.text())
def test_terms_are_clean_for_any_text(text: str) -> None:
    text = text.encode("utf-8", "ignore").decode()
    for term in analyze(text, language="fr"):
        assert term == "".join(term.split())
        assert 0 < len(term.encode()) <= MAX_TERM_BYTES


@given(st.text(alphabet="abcéè'-. +#12", min_size=1))
@example("1è c")  # taken for another language, with "c" as a stop word
def test_a_text_is_found_by_its_own_words(text: str) -> None:
    own = set(analyze(text, language="fr"))
    own -= query_stop_words(detect_query_language(text, among=("fr", *STOP_WORDS), fallback=""))
    assert own <= set(analyze_query(text, languages=["fr"]))


def test_threads_agree() -> None:
    words = [f"running{letter}s jumps easily" for letter in "abcdefghij" * 20]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda each: analyze(each, language="en"), words))
    assert found == [analyze(each, language="en") for each in words]


@pytest.mark.parametrize(("text", "expected"), rows("text", "analyzer.language_of_short_texts"))
def test_language_of_short_texts(text: str, expected: str) -> None:
    assert detect_language(text, among=("en", "fr"), fallback="xx") == expected


@pytest.mark.parametrize("text", ["", "42", "???", "VSCode plugins", "LoRA"])
def test_language_falls_back_where_it_cannot_be_told(text: str) -> None:
    assert detect_language(text, among=("en", "fr"), fallback="xx") == "xx"


def test_language_is_one_of_those_asked_for() -> None:
    german = "Der Hund läuft über die Straße und bellt den Briefträger an."
    assert detect_language(german, among=("en", "fr", "de"), fallback="xx") == "de"
    assert detect_language(german, among=("fr",), fallback="xx") == "fr"
