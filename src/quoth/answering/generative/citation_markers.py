"""Read the markers by which a language model names its sources.

What is a marker, between square brackets of any width (``[ ] 【 】 ［ ］ 〔 〕 ⟦ ⟧``):

- ``Source 1``, ``source 1``, ``Sources 1, 2``, ``Source 1 and 3``, ``Sources 1-3``, ``Source: 1``,
  ``Source N: 3``, ``Source #1``, with anything behind that says where (``| Page 3``, ``, p. 12``,
  ``, 1:35–1:58``); "and" also as ``&``, ``et``, ``und``, ``y``, ``e``; the word also as
  ``Quelle``, ``Fuente``, ``Fonte``, ``Src``; before it ``see``, ``cf.``, ``from``, ``voir``
- a bare number, ``[1]``: copied footnotes look the same, so it cites only as long as the answer
  has not used the word; afterwards it is taken out
- between round brackets only the word with a number behind it: ``(Source 1)``

The word in look-alike letters of another script is a forgery: it is taken out and cites nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass

LONGEST_RANGE = 20
"""Sources that one range may name; a longer one is a slip and names its ends."""
MOST_NUMBERS = 40
"""Numbers that one marker may name."""

_WORD = r"(?:sources?|src|quellen?|fuentes?|fonti|fonte)"
_LEAD = r"(?:see |cf\.? |from |voir |siehe |ver )?"
_NUMBERED = re.compile(rf"{_LEAD}{_WORD}\s?(?:n\s?[:°#]?|no\.|nr\.|nº|#|:|№)?\s?(?=-?\d)")
_NAMELESS = re.compile(rf"{_LEAD}{_WORD}\s?(?:$|[:#|]|n$|[a-z]$|\?)")
_AGAIN = re.compile(rf"\b{_WORD}\s?(?:n\s?[:°#]?|no\.|#|:)?\s?(?=-?\d)")
_NUMBER = re.compile(r"(-?\d{1,9})(?![\d%]|:\d)")
_RANGE = re.compile(r"\s?(?:-|–|—|\.\.|to|à|bis)\s?(\d{1,9})(?![\d%]|:\d)")
_NEXT = re.compile(rf"\s?(?:[,;&+/]|and|et|und|y|e)\s?(?:{_WORD}\s?)?(?=-?\d)")
_BARE = re.compile(r"\^?\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*")
_DAGGER = re.compile(r"(\d{1,3})(?::\d{1,3})?†")
_TURNED = str.maketrans("οоσѕсϲеευгсаіτ−‐‑", "ooossceeurcait---", "\u200b\u200c\u200d")


@dataclass(frozen=True, slots=True)
class CitationMarker:
    """The numbers that a marker names, unchecked; ``forged`` says that it only looks like one."""

    numbers: tuple[int, ...]
    bare: bool = False
    forged: bool = False


@dataclass(frozen=True, slots=True)
class Checked:
    """The sources of a marker that the model saw, and how many others it named."""

    numbers: tuple[int, ...]
    invented: int


def parse_marker(inner: str, *, round_brackets: bool = False) -> CitationMarker | None:
    """Read what stands between brackets; None for what is no marker.

    A marker that names no number, such as ``[Source]`` or ``[Source: a book]``, has none.
    """
    plain = _folded(inner)
    turned = plain.translate(_TURNED)
    numbered = _NUMBERED.match(turned)
    if round_brackets and numbered is None:
        return None
    if numbered is not None:
        forged = _NUMBERED.match(plain.translate({0x2212: "-", 0x2010: "-", 0x2011: "-"})) is None
        numbers = () if forged else _numbers(turned, numbered.end())
        return CitationMarker(numbers, forged=forged)
    if _NAMELESS.match(turned):
        return CitationMarker((), forged=True)
    dagger = _DAGGER.match(plain)
    if dagger is not None:
        return CitationMarker((int(dagger[1]),))
    if _BARE.fullmatch(plain) and not plain.lstrip("^").startswith("0"):
        return CitationMarker(_numbers(plain.lstrip("^"), 0), bare=True)
    return None


def check(marker: CitationMarker, known: Collection[int]) -> Checked:
    """Keep the sources that the model saw, each once; count the others."""
    numbers = tuple(dict.fromkeys(number for number in marker.numbers if number in known))
    others = {number for number in marker.numbers if number not in known}
    return Checked(numbers, len(others) or int(not marker.numbers))


def _folded(inner: str) -> str:
    """Give the text in small letters of one width, one blank between words, no escapes."""
    text = unicodedata.normalize("NFKC", inner).casefold()
    return " ".join(re.sub(r"[\\*`]|(?<!\w)_|_(?!\w)", "", text).split())


def _numbers(text: str, at: int) -> tuple[int, ...]:
    """Read lists and ranges of numbers, behind the word and behind every further word."""
    starts = [at, *(each.end() for each in _AGAIN.finditer(text, at))]
    found: list[int] = []
    for start in starts:
        found += _listed(text, start)
        if len(found) >= MOST_NUMBERS:
            break
    return tuple(found[:MOST_NUMBERS])


def _listed(text: str, at: int) -> list[int]:
    found: list[int] = []
    while (first := _NUMBER.match(text, at)) and len(found) < MOST_NUMBERS:
        low, at = int(first[1]), first.end()
        found.append(low)
        last = _RANGE.match(text, at)
        if last is not None:
            high, at = int(last[1]), last.end()
            found += range(low + 1, high + 1) if low < high <= low + LONGEST_RANGE else [high]
        following = _NEXT.match(text, at)
        if following is None:
            break
        at = following.end()
    return found


_BEGINNINGS = tuple(
    f"{bracket}{lead}{word}"
    for bracket in ("", "[")
    for lead in ("", "see ", "cf. ", "from ", "voir ")
    for word in ("source", "src", "quelle", "fuente", "fonte")
)
_INITIALS = frozenset({"", *(each[0] for each in _BEGINNINGS)})


def may_begin(head: str) -> bool:
    """Whether the text behind a round bracket, as far as it is there, may become a marker."""
    text = _folded(head).translate(_TURNED)
    return text[:1] in _INITIALS and any(
        text.startswith(each) or each.startswith(text) for each in _BEGINNINGS
    )
