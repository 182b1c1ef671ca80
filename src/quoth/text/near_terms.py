"""Terms that are one typing error away: what an unknown term of a query is searched as."""

from __future__ import annotations

from string import ascii_lowercase
from unicodedata import category

NEAR_WEIGHT = 0.5
"""Weight of all terms together that take the place of an unknown one (docs/decisions/057)."""
MAX_NEAR = 3
MIN_LETTERS, MAX_LETTERS = 4, 32
BLOCK = 128
"""Characters of a script lie together in blocks of so many code points."""


def near_terms(term: str) -> list[str]:
    """Return every string at edit distance one of a term (F. Damerau, 1964), sorted.

    One letter too few, too many or another one, or two exchanged. The letters are those from a to z
    and those of the term's own blocks. None for short terms, very long ones and numbers.
    """
    if not MIN_LETTERS <= len(term) <= MAX_LETTERS or any(map(str.isdigit, term)):
        return []
    letters = _letters_of(term)
    cuts = [(term[:at], term[at:]) for at in range(len(term) + 1)]
    near = {before + letter + after for before, after in cuts for letter in letters}
    for before, after in cuts[:-1]:
        near.add(before + after[1:])
        near.update(before + letter + after[1:] for letter in letters)
        near.add(before + after[1:2] + after[0] + after[2:])
    return sorted(near - {term})


def _letters_of(term: str) -> set[str]:
    blocks = {ord(letter) // BLOCK * BLOCK for letter in term if not letter.isascii()}
    others = (chr(first + at) for first in blocks for at in range(BLOCK))
    return {*ascii_lowercase, *(each for each in others if category(each)[0] in "LM")}
