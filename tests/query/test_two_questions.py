"""Two questions in one are both answered, the second about the subject of the first."""

from __future__ import annotations

import pytest

from quoth.core.types import Query
from quoth.query.comparison_aspects import two_questions


@pytest.mark.parametrize(
    ("text", "language", "both"),
    [
        ("What is rust and why does it matter?", "en", ("What is rust?", "why does rust matter?")),
        ("Who is Ada and where did she live?", "en", ("Who is Ada?", "where did Ada live?")),
        ("What are hives, and how many bees live there?", "en",
         ("What are hives?", "how many bees live there?")),
        ("Qu'est-ce que le miel et à quoi sert-il ?", "fr",
         ("Qu'est-ce que le miel?", "à quoi sert le miel ?")),
        ("What is research and development?", "en", ()),
        ("What is the difference between rust and how iron ages?", "en", ()),
        ("Why does iron rust and how is it stopped?", "en", ()),
        ("Was ist Rost und warum?", "de", ()),
    ],
)  # fmt: skip
def test_two_questions(text: str, language: str, both: tuple[str, ...]) -> None:
    found = two_questions(Query(text, text, language))
    assert tuple(each.replace(" ?", "?") for each in found) == tuple(
        each.replace(" ?", "?") for each in both
    )
