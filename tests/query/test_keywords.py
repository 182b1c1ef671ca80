from __future__ import annotations

import pytest

from quoth.core.types import Query
from quoth.query.keywords import (
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
