"""Where a sentence of a model's answer is cut that does not end."""

from __future__ import annotations

import re

CLAUSE_LIMIT, WORD_LIMIT, LONGEST = 600, 750, 900
"""Characters from which an unfinished sentence is closed: after a clause, after a word,
anywhere."""
_CLAUSE = re.compile(r"[,;:)—–]\s")
_SPACE = re.compile(r"\s")
_PUNCTUATION = re.compile(r"[)\]>*,;、，]")


def forced_end(text: str, begin: int, before: int) -> int:
    """Return where an overlong sentence from `begin` on is cut, else 0.

    It has no end in front of ``before``.
    """
    for pattern, low, high in (
        (_CLAUSE, CLAUSE_LIMIT, WORD_LIMIT),
        (_SPACE, WORD_LIMIT, LONGEST),
        (_PUNCTUATION, WORD_LIMIT, LONGEST),
    ):
        if before > begin + low:
            found = pattern.search(text, begin + low, min(before, begin + high))
            if found is not None:
                return found.start() + (pattern is not _SPACE)
    return begin + LONGEST if before > begin + LONGEST else 0
