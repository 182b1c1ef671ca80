"""The markers by which models name sources: what is one, and which numbers it names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.answering.generative.citation_markers import (
    MARKER,
    MAX_NUMBERS,
    CitationMarker,
    MarkerReader,
    parse_marker,
)


@pytest.mark.parametrize(
    ("inner", "numbers"),
    [
        ("Source 1", (1,)),
        ("source 1", (1,)),
        ("SOURCE 12", (12,)),
        ("  Source   1 ", (1,)),
        ("Source 1, 2", (1, 2)),
        ("Source 1 and 3", (1, 3)),
        ("Source 1 & 2", (1, 2)),
        ("Source 1 et 2", (1, 2)),
        ("Sources 1, 2 and 4-5", (1, 2, 4, 5)),
        ("Sources 1-3", (1, 2, 3)),
        ("Sources 1–3", (1, 2, 3)),
        ("Source 1; Source 2", (1, 2, 2)),
        ("Source 1, p. 3; Source 2, p. 4", (1, 2)),
        ("Source 1 | Page 3", (1,)),
        ("Source 1, p. 12", (1,)),
        ("Source 1 page 7", (1,)),
        ("Source 1, 1:35–1:58", (1,)),
        ("Source: 3", (3,)),
        ("Source N: 3", (3,)),
        ("Source #2", (2,)),
        ("Source n° 2", (2,)),
        ("see Source 2", (2,)),
        ("Quelle 1", (1,)),
        ("Fuente 1", (1,)),
        ("Ｓｏｕｒｃｅ　３", (3,)),
        ("Source １", (1,)),
        ("Source 1\\", (1,)),
        ("**Source 1**", (1,)),
        ("1†source", (1,)),
        ("4:0†source", (4,)),
        ("Source 0", (0,)),
        ("Source -1", (-1,)),
        ("Source 1-900000000", (1, 900000000)),
    ],
)
def test_numbers_of_a_marker(inner: str, numbers: tuple[int, ...]) -> None:
    assert parse_marker(inner) == CitationMarker(numbers)


@pytest.mark.parametrize(("inner", "numbers"), [("1", (1,)), ("1, 2", (1, 2)), ("^3", (3,))])
def test_bare_numbers_are_known_as_such(inner: str, numbers: tuple[int, ...]) -> None:
    assert parse_marker(inner) == CitationMarker(numbers, bare=True)


@pytest.mark.parametrize(
    "inner",
    ["Sοurce 1", "Ѕource 2", "Sourсe 3", "Source N", "Source A", "Source", "Source: a book"],
)
def test_what_only_looks_like_a_marker_cites_nothing(inner: str) -> None:
    assert parse_marker(inner) == CitationMarker(())


@pytest.mark.parametrize(
    "inner", ["sic", "source code", "Source code 1", "resource 1", "0", "1990", "a", "", "x = 1"]
)
def test_what_is_no_marker(inner: str) -> None:
    assert parse_marker(inner) is None


@pytest.mark.parametrize("inner", ["1", "Source: a book", "sources", "Source"])
def test_round_brackets_need_the_word_and_a_number(inner: str) -> None:
    assert parse_marker(inner, round_brackets=True) is None
    assert parse_marker("Source 2", round_brackets=True) == CitationMarker((2,))


def test_known_sources_stay_once_and_the_others_are_counted() -> None:
    reader = MarkerReader({1, 2, 3})
    assert reader.extract("So. [Source 1, 2, 2, 0, 99]") == (f"So. {MARKER}", (1, 2))
    assert reader.invented == 2
    assert reader.extract("So [Source N].") == (f"So {MARKER}.", ())
    assert reader.invented == 3


@given(st.text(max_size=60) | st.text("Source 0123,-–and&|:N", max_size=60))
def test_any_text_is_read(inner: str) -> None:
    marker = parse_marker(inner)
    assert marker is None or len(marker.numbers) <= MAX_NUMBERS
