"""Word lists by language that indicate a sentence's quality as an answer.

Only openings are matched, normalized to lower case without accents and with straight apostrophes.
Unlisted languages have no such words; their sentences are scored by the other features.
"""

from __future__ import annotations

import re
import unicodedata

_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'"})

NEGATION = re.compile(
    r"\b(?:not|no|never|none|neither|cannot|without|ne|pas|jamais|aucune?|sans|non)\b|n't\b|\bn'"
)
"""Negations."""

ASKING_WEIGHT = 0.3
"""Weight of a question word relative to its rarity."""
INVERTED = re.compile(r"-(?:t-)?(?:ils?|elles?|on|je|tu|nous|vous|ce)(?=\W*$)")
"""The inverted subject of a French question ("sait-il")."""

_ACCENTS = re.compile("[\u0300-\u036f]+")


def normalize(text: str) -> str:
    """Return the text in lower case, without accents and with straight apostrophes."""
    if text.isascii():
        return text.lower()
    flat = unicodedata.normalize("NFKD", text.translate(_APOSTROPHES).casefold())
    return _ACCENTS.sub("", flat)


_ASKING_WORD = re.compile(
    r"\b(?:who|whom|whose|what|which|when|where|why|how"
    r"|qui|quoi|quel(?:le)?s?|quand|où|pourquoi|comment|combien)\b",
    re.IGNORECASE,
)


def question_word_offset(question: str) -> int | None:
    """Return the offset of a question's question word, None without one."""
    found = _ASKING_WORD.search(question)
    return found.start() if found else None
