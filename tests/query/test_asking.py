"""Ways of asking are no part of what is asked about."""

from __future__ import annotations

import pytest

from quoth.query.rewrite import direct_question
from quoth.query.tokens import tokenize_query
from tests.support.tables import rows


@pytest.mark.parametrize(
    ("text", "language", "direct"),
    [
        ("What does Ada Byron say about engines?", "en", "What is engines? Ada Byron"),
        ("Que dit Élodie Roy sur les modèles ?", "fr", "Qu'est-ce que les modèles ? Élodie Roy"),
        ("What can I read about engines?", "en", "What is engines?"),
        ("Can you tell me about engines?", "en", "What is engines?"),
    ],
)
def test_a_name_that_no_source_bears_is_still_searched_for(
    text: str, language: str, direct: str
) -> None:
    found = direct_question(tokenize_query(text), language=language, known=False)
    assert found.replace("\u202f", " ") == direct


@pytest.mark.parametrize(
    ("text", "language", "direct"), rows("query", "asking.a_question_becomes_direct")
)
def test_a_question_becomes_direct(text: str, language: str, direct: str) -> None:
    assert direct_question(tokenize_query(text), language=language) == direct
