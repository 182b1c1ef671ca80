"""What governs a part of a sentence: who says it, and under which condition it holds."""

from __future__ import annotations

from collections.abc import Sequence

from quoth.answering.verification.claim import WordClasses
from quoth.answering.verification.tokens import TextToken

BEFORE = 8
"""Words before a part of a sentence that may govern it."""
AFTER = 3
"""Words after it that may begin a condition, or say who says it."""
BESIDE = 2
"""Words before a part within which a contrast ("unlike") governs it."""


def governing_words(
    said: Sequence[TextToken],
    before: Sequence[TextToken],
    after: Sequence[TextToken],
    *,
    words: WordClasses,
) -> dict[str, list[str]]:
    """Return the words that govern a part, by kind, as far as the claim ``said`` has none of it."""
    near, next_words = before[-BEFORE:], after[:AFTER]
    return {
        "attribution": _lacking(said, (*near, *next_words), words.attributions),
        "condition": _lacking(said, next_words, words.exceptions),
        "contrast": _lacking(said, before[-BESIDE:], words.contrasts),
    }


def _lacking(
    said: Sequence[TextToken], around: Sequence[TextToken], of: frozenset[str]
) -> list[str]:
    if any(part.word in of for part in said):
        return []
    return [part.word for part in around if part.word in of]
