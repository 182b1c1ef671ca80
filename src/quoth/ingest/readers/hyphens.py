"""Hyphens at the ends of lines: part of the word ("well-known"), or where it was broken."""

from __future__ import annotations

import re
from collections import Counter

WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_LAST_PART = re.compile(r"(?<![^\W\d_])[^\W\d_]+$")
_LAST_WORD = re.compile(r"(?<![^\W\d_])(?<![^\W\d_]-)[^\W\d_]+(?:-[^\W\d_]+)*+$")
_FIRST_WORD = re.compile(r"^[^\W\d_]+")
_KEPT_BEFORE = frozenset({"self", "non", "quasi"})
"""First parts that keep the hyphen: of words broken after "ex-", none of 79 was written with it."""
_KEPT_AFTER = frozenset(
    {"ci", "là", "même", "mêmes", "être", "il", "elle", "ils", "elles", "on", "je", "tu", "ce"}
    | {"moi", "toi", "lui", "nous", "vous", "leur", "dessus", "dessous"}
)
"""Last parts that do."""


def belongs(before: str, after: str, *, words: Counter[str]) -> bool:
    """Return whether the hyphen between two lines is part of the word.

    ``before`` is the line without its hyphen, ``words`` are the unbroken words of the document. The
    spelling elsewhere in the document decides; without such evidence, a hyphen between lower-case
    letters marks a broken word, except for parts that keep it and for two longer words.
    """
    parts = _parts(before, after)
    if parts is None:
        return True
    whole, left, right = parts
    joined, compound = _spellings(*parts, words=words)
    if not (left[-1].islower() and right[0].islower()):
        return not joined
    if joined or compound:
        return compound > joined
    if left.casefold() in _KEPT_BEFORE or right in _KEPT_AFTER:
        return True
    if after[len(right) : len(right) + 1] == "-" and words[left] and words[right]:
        return True
    two_words = min(len(left), len(right)) >= 4 and words[left] and words[right]
    return bool(two_words) or "-" in whole


def evidence(before: str, after: str, *, words: Counter[str]) -> tuple[int, int]:
    """Count how often the document writes a word broken between two lines whole and hyphenated."""
    parts = _parts(before, after)
    return (0, 0) if parts is None else _spellings(*parts, words=words)


def _spellings(whole: str, left: str, right: str, *, words: Counter[str]) -> tuple[int, int]:
    joined = words[left + right] + words[(left + right).capitalize()]
    return joined, words[f"{whole}-{right}"] + words[f"{left}-{right}"]


def _parts(before: str, after: str) -> tuple[str, str, str] | None:
    """Return the last word of a line, the last part of it, and the first word of the next line."""
    whole, part = _LAST_WORD.search(before), _LAST_PART.search(before)
    first = _FIRST_WORD.match(after)
    return (whole[0], part[0], first[0]) if whole and part and first else None
