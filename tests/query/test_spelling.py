"""Slips of the pen in words of asking, and real words beside them."""

from __future__ import annotations

import pytest

from quoth.core.outline import CollectionOutline
from quoth.core.types import Document
from quoth.query.entity_index import build_entity_index
from quoth.query.spelling import correct_spelling, misspelled_words, replace_words
from quoth.query.tokens import tokenize_query
from quoth.query.understand import understand
from tests.support.made_outline import NAMES
from tests.support.passages import passage
from tests.support.tables import rows


@pytest.mark.parametrize(("typed", "meant"), rows("query", "spelling.it_is_mended"))
def test_it_is_mended(typed: str, meant: str) -> None:
    assert correct_spelling(tokenize_query(typed), NAMES).clean == meant


@pytest.mark.parametrize("text", rows("query", "spelling.it_is_left"))
def test_it_is_left(text: str) -> None:
    asked = tokenize_query(text)
    assert correct_spelling(asked, NAMES) is asked


def test_a_word_of_a_title_is_left() -> None:
    names = build_entity_index(
        CollectionOutline("1", ("en",), (Document("a", "Compair and sons", "pdf", "ready"),))
    )
    asked = tokenize_query("Who was Compair?")
    assert correct_spelling(asked, names) is asked


def test_the_question_is_kept_as_it_was_typed() -> None:
    query = understand("Sumarize the manual", names=NAMES)
    assert (query.kind, query.original) == ("summary", "Sumarize the manual")
    assert understand("waht is a lock", names=NAMES).standalone == "what is a lock"


TEXTS = (
    "KeePass may connect to the Internet. A résumé of the databases.",
    "One database connects. They explain it.",
)


@pytest.mark.parametrize(
    ("question", "better"),
    [
        ("does it conect to the internt?", {"conect": "connect", "internt": "internet"}),
        ("Which databse is it?", {"databse": "database"}),
        ("wich resmue is it?", {"resmue": "résumé"}),
        ("Is connecting to databases or a resume possible?", {}),  # other forms, no accents
        ("does it conct to the net", {}),  # too short
        ("does it disconnect from the ethernet", {}),  # two letters away
        ("Is there a xnternet?", {}),  # another first letter
        ("What is a Datbase?", {}),  # a title
        ("Did they explian the internet", {"explian": "explain"}),
        ("Explain the internet", {}),  # a word of asking
    ],
)
def test_words_that_no_text_has_are_taken_for_their_nearest(
    question: str, better: dict[str, str]
) -> None:
    chunks = [each for text in TEXTS for each in passage(text).chunks]
    found = misspelled_words(question, chunks, titles=["The datbase"], language="en")
    assert found == better
    assert misspelled_words(question, chunks, language="fr") == {}
    for asked, found in better.items():
        assert found in replace_words(question, better)
        assert asked not in replace_words(question, better)
