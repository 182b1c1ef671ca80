"""Ways of asking are no part of what is asked about."""

from __future__ import annotations

import pytest

from quoth.query.dialogue_act import direct_question
from quoth.query.tokens import tokenize_query


@pytest.mark.parametrize(
    ("text", "language", "direct"),
    [
        ("I don't understand digital circuits", "en", "What is digital circuits?"),
        ("Would you mind explaining deadlock again?", "en", "What is deadlock?"),
        ("Give me an overview of queues", "en", "What is queues?"),
        ("Got something on streams?", "en", "What is streams?"),
        ("Je ne comprends pas APT", "fr", "Qu'est-ce que APT ?"),
        ("On m'a parlé de SELinux", "fr", "Qu'est-ce que SELinux ?"),
        ("Un aperçu de Squid, s'il vous plaît", "fr", "Qu'est-ce que Squid ?"),
        ("Why do bees swarm?", "en", "Why do bees swarm?"),
        ("Do you know", "en", "Do you know"),
    ],
)
def test_a_question_becomes_direct(text: str, language: str, direct: str) -> None:
    assert direct_question(tokenize_query(text), language=language) == direct
