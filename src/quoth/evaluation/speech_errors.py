"""Words of a lecture as a recogniser without punctuation, or with errors, would write them."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Literal

Speech = Literal["plain", "unpunctuated", "misheard"]
WORD_ERRORS = 0.15
"""Share of the words that are replaced, left out, or followed by another one, a third each."""
_MARKS = re.compile(r"[.,;:!?…—–\"“”«»()\[\]]|(?<!\w)[-']|[-'](?!\w)")


def with_errors(texts: Sequence[str], *, speech: Speech, seed: str) -> list[str]:
    """Return the texts of one lecture with errors; wrong words are other words of the lecture."""
    if speech == "plain":
        return list(texts)
    if speech == "unpunctuated":
        return [" ".join(_MARKS.sub(" ", text).casefold().split()) for text in texts]
    rng = random.Random(seed)  # noqa: S311 - no secret
    words = sorted({word for text in texts for word in text.split()})
    return [" ".join(_misheard(text.split(), words, rng)) for text in texts]


def _misheard(spoken: Sequence[str], words: Sequence[str], rng: random.Random) -> list[str]:
    written: list[str] = []
    for word in spoken:
        chance = rng.random() / WORD_ERRORS
        if chance < 1 / 3:
            written.append(rng.choice(words))
        elif chance < 2 / 3:
            continue
        else:
            written += [word, rng.choice(words)] if chance < 1 else [word]
    return written
