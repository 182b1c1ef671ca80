"""Whether a cited span and a reference sentence overlap, however either was tokenised.

References often come from corpora that were cut into tokens: signs stand apart (" . "), quotation
marks are pairs of accents, brackets have names ("-LRB-"). So only letters and digits count here.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from dataclasses import dataclass

OVERLAP = 0.5
"""The part of the shorter of two spans, in letters and digits, that both must share."""
ALIKE = 0.8
"""The part of the fewer words that must be shared where a reference is not word for word there."""

_BRACKETS = re.compile(r"-(?:LRB|RRB|LSB|RSB|LCB|RCB)-", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Folded:
    """A text, its letters and digits folded, and the place of each of these in the text."""

    text: str
    letters: str
    places: tuple[int, ...]

    def within(self, start: int, end: int) -> tuple[int, int]:
        """Turn characters of the text into letters of the folded one."""
        return bisect_left(self.places, start), bisect_left(self.places, end)


def fold_letters(text: str) -> Folded:
    """Keep letters and digits alone: small, without accents and without names of brackets."""
    letters: list[str] = []
    places: list[int] = []
    for place, character in enumerate(_without_brackets(text)):
        for each in unicodedata.normalize("NFKD", character).casefold():
            if each.isalnum():
                letters.append(each)
                places.append(place)
    return Folded(text, "".join(letters), tuple(places))


def folded_words(text: str) -> frozenset[str]:
    """Return the words of a text, folded in the same way."""
    flat = unicodedata.normalize("NFKD", _without_brackets(text)).casefold()
    return frozenset(_WORD.findall("".join(c for c in flat if not unicodedata.combining(c))))


def overlaps(span: tuple[int, int], reference: str, *, document: Folded) -> bool:
    """Whether the characters of a document are a reference sentence, or most of its part of it.

    Each place at which the document holds the reference counts. Where it holds it nowhere letter
    by letter, the words decide.
    """
    start, end = document.within(*span)
    wanted = fold_letters(reference).letters
    if not wanted or start >= end:
        return False
    at = document.letters.find(wanted)
    if at < 0:
        return _alike(document.text[slice(*span)], reference)
    while at >= 0:
        shared = min(end, at + len(wanted)) - max(start, at)
        if shared >= OVERLAP * min(end - start, len(wanted)):
            return True
        at = document.letters.find(wanted, at + 1)
    return False


def _alike(one: str, other: str) -> bool:
    first, second = folded_words(one), folded_words(other)
    return len(first & second) >= ALIKE * max(1, min(len(first), len(second))) and (
        min(len(first), len(second)) >= 0.5 * max(len(first), len(second))
    )


def _without_brackets(text: str) -> str:
    return _BRACKETS.sub(lambda match: " " * len(match.group()), text)
