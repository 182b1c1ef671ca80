"""Word lists by language that indicate a sentence's quality as an answer.

Only openings are matched, normalized to lower case without accents and with straight apostrophes.
Unlisted languages have no such words; their sentences are scored by the other features.
"""

from __future__ import annotations

import re
import unicodedata

_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'"})

DEFINING = re.compile(
    r"(?:what(?:'s| is| are| was| were| does| do)?|define|definition of|meaning of"
    r"|qu'est[- ]ce (?:que|qu')(?: c'est)?|c'est quoi|que (?:signifie|veut dire|sont|designe)"
    r"|quelle est la definition d[eu']|definition d[eu']|definir|definis)\b"
)
"""Openings of a question that may ask for a definition."""

NEGATION = re.compile(
    r"\b(?:not|no|never|none|neither|cannot|without|ne|pas|jamais|aucune?|sans|non)\b|n't\b|\bn'"
)
"""Negations."""

PRONOUN = re.compile(
    r"(?:it|its|it's|they|they're|their|he|she|his|her|il|ils|elle|elles|cela|ca|c'est|son|sa|ses"
    r"|leur|leurs)(?![\w-])"
)
"""Anaphoric openings; "this theory" repeats its antecedent."""

ASKING_WEIGHT = 0.3
"""Weight of a question word relative to its rarity."""
INVERTED = re.compile(r"-(?:t-)?(?:ils?|elles?|on|je|tu|nous|vous|ce)(?=\W*$)")
"""The inverted subject of a French question ("sait-il")."""

COPULA = (
    r"(?:is|are|was|were|means|refers to|stands for|describes|denotes|consists of|is called"
    r"|est|sont|etait|designe|signifie|consiste|correspond a|represente|permet|c'est|ce sont)\b"
)
"""What separates subject and definition in a defining sentence."""


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
