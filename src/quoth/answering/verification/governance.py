"""What governs a part of a sentence: who says it, and under which condition it holds."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from quoth.answering.verification.claim import WordClasses
from quoth.answering.verification.source_index import SourceSentence
from quoth.answering.verification.tokens import TextToken

BEFORE = 8
"""Words before a part of a sentence that may govern it."""
AFTER = 3
"""Words after it that may begin a condition, or say who says it."""
BESIDE = 2
"""Words before a part within which a contrast ("unlike") governs it."""
_COMMA = re.compile(r"(?:\A|[\"'”’»)\]]*,)\s*[\"'“‘«(\[]*")


def governing_words(
    said: Sequence[TextToken],
    before: Sequence[TextToken],
    after: Sequence[TextToken],
    *,
    words: WordClasses,
    commas: Collection[int],
) -> dict[str, list[str]]:
    """Return the words that govern a part, by kind, as far as the claim ``said`` has none of it.

    ``commas`` are those of `comma_places`. "As the report says, …" only names the report, and
    "…, only five years later" adds to what is complete.
    """
    near, next_words = before[-BEFORE:], after[:AFTER]
    naming = [*([] if _only_names(near, words, commas) else near)]
    naming += [] if after and after[0].word in words.comparisons else next_words
    limiting = [part for part in after[:1] if part.start not in commas]
    return {
        "attribution": _lacking(said, naming, words.attributions),
        "condition": [
            *_lacking(said, next_words, words.exceptions),
            *_lacking(said, limiting, words.limits),
        ],
        "contrast": _lacking(said, before[-BESIDE:], words.contrasts),
    }


def comma_places(line: SourceSentence) -> frozenset[int]:
    """Return where the words before commas end, and where those after them and the first start."""
    return frozenset(
        line.start + at
        for found in _COMMA.finditer(line.text)
        for at in (found.start(), found.end())
    )


def _only_names(near: Sequence[TextToken], words: WordClasses, commas: Collection[int]) -> bool:
    """Return whether words before a part only name who says the same: "as the report says,".

    They are a clause of their own: in "people such as Ann think, wrongly, that …" they are not.
    """
    naming = [at for at, part in enumerate(near) if part.word in words.attributions]
    if not naming or sum(part.end in commas for part in near[naming[-1] :]) != 1:
        return False
    begins = [part for part in near[: naming[-1] + 1] if part.start in commas]
    return bool(begins) and begins[-1].word in words.comparisons


def _lacking(
    said: Sequence[TextToken], around: Sequence[TextToken], of: frozenset[str]
) -> list[str]:
    if any(part.word in of for part in said):
        return []
    return [part.word for part in around if part.word in of]
