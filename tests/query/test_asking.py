"""Ways of asking are no part of what is asked about."""

from __future__ import annotations

import pytest

from quoth.query.dialogue_act import direct_question
from quoth.query.tokens import tokenize_query
from tests.support.tables import rows


@pytest.mark.parametrize(
    ("text", "language", "direct"), rows("query", "asking.a_question_becomes_direct")
)
def test_a_question_becomes_direct(text: str, language: str, direct: str) -> None:
    assert direct_question(tokenize_query(text), language=language) == direct
