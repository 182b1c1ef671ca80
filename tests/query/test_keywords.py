from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.core.types import Query
from quoth.query.keywords import (
    MAX_NAMES,
    capitalised_terms,
    content_words,
)
from tests.support.tables import rows


def asked(text: str, language: str = "en", entities: tuple[str, ...] = ()) -> Query:
    return Query(text, text, language, entities=entities)


@pytest.mark.parametrize(
    ("text", "language", "words"),
    rows("query", "keywords.content_words_are_what_the_question_is_about"),
)
def test_content_words_are_what_the_question_is_about(text: str, language: str, words: str) -> None:
    assert content_words(text, language=language) == words.split()


def test_names_are_sought_as_links_are_folded_and_entities_first() -> None:
    found = capitalised_terms(
        asked("Who built the Analytical-Engine in Éclair 1840?", entities=("Ada L.",))
    )
    assert found[0] == "ada l"
    assert {"analytical engine", "engine", "eclair 1840"} <= set(found)
    assert not {"the", "in", "the analytical engine"} & set(found)


@given(st.text(max_size=200))
def test_any_question_has_a_bounded_number_of_names(text: str) -> None:
    found = capitalised_terms(asked(text))
    assert len(found) == len(set(found)) <= MAX_NAMES
