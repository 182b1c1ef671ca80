"""Citation markers: how a language model names its sources by number.

A marker is between square brackets of any width: ``[Source 1]``, ``[sources 1, 2]``, ``[Source 1-3
| Page 3]``, ``【Source: 1】``; the word also in other languages, with "see" before it. In round
brackets the word with a number is one: ``(Source 1)``. A bare number, ``[1]``, may be a copied
footnote: it cites only until the answer uses the word. ``(1)``, ``¹`` and ``<sup>1</sup>`` are
markers by their place, of a source that exists, in an answer without square brackets: behind a
sentence, or behind a phrase where they begin with 1, neither the number of an item nor a square.
The word in look-alike letters of another script is removed and cites nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass, replace

MAX_RANGE = 20
"""Maximum sources in one range; of a longer one only the ends count."""
MAX_NUMBERS = 40
"""Maximum numbers in one marker."""
MARKER = "\x00"
"""Stands for a marker in text being parsed; never part of a model's text."""

RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_OPEN, _SHUT = r"\[【［〔⟦", r"\]】］〕⟧"
BRACKETS = re.compile(
    rf"(?P<stars>\*{{0,3}})(?:[{_OPEN}](?P<square>[^{_OPEN}{_SHUT}]{{0,400}})[{_SHUT}]"
    r"|[(（](?P<round>[^()（）\n\[\]]{0,200})[)）])(?P=stars)"
    rf"|(?P<raised>[{RAISED}]{{1,4}})|(?i:<sup>(?P<tagged>\s{{0,9}}[\d,; ]{{1,20}}\s{{0,9}})</sup>)"
)
"""A pair of brackets without nested ones, or a raised number."""
UNFINISHED = re.compile(
    rf"(?:[{RAISED}]{{1,3}}|(?i:<sup>[\s\d,;]{{0,20}}(?:<(?:/(?:s(?:up?)?)?)?)?))\Z"
)
"""The beginning of a raised number at the end of a text."""
_BROKEN_OFF = re.compile(rf"[{_OPEN}(（]([^{_OPEN}{_SHUT}()\n]{{0,400}})\Z")
_WORD = r"(?:sources?|src|quellen?|fuentes?|fonti|fonte)"
_NUMERO = r"\s?(?:n\s?[:°#]?|no\.|nr\.|nº|#|:|№)?\s?(?=-?\d)"
_MARKER = re.compile(
    rf"(?P<word>(?:see |cf\.? |from |voir |siehe |ver )?{_WORD}(?:(?P<number>{_NUMERO})"
    r"|\s?(?:$|[:#|?]|[a-z]$)))|(?P<dagger>\d{1,3})(?::\d{1,3})?†"
    r"|\^?(?P<bare>[1-9]\d{0,2}(?:\s?[,;–-]\s?\d{1,3})*)$"
)
_REPEATED = re.compile(rf"\b{_WORD}{_NUMERO}")
_NUMBER = re.compile(
    r"(-?\d{1,9})(?![\d%]|:\d)(?:\s?(?:-|–|—|\.\.|to|à|bis)\s?(\d{1,9})(?![\d%]|:\d))?"
)
_NEXT = re.compile(rf"\s?(?:[,;&+/]|and|et|und|y|e)\s?(?:{_WORD}\s?)?(?=-?\d)")
_LOOK_ALIKES = str.maketrans("οоσѕсϲеευгсаіτ", "ooossceeurcait")
_HYPHENS = str.maketrans("−‐‑", "---")
_INDEX = re.compile(r"(?:(?<![^\W\d_])[^\W\d_]|_)\Z")
_SEPARATED = re.compile(rf"{MARKER}(?:[^\S\n]*(?:[,;/&+]|and|et)?[^\S\n]*{MARKER})+")
_WRAPPED = re.compile(rf"[{_OPEN}(（]\s*{MARKER}\s*[{_SHUT})）]")
_ATTRIBUTION = (
    "(?:according to|as per|per|based on|see"
    "|as (?:stated|described|noted|mentioned|reported|shown) (?:in|by)"
    "|selon|d[’']après|voir|comme (?:indiqué|mentionné|décrit) dans"
    "|laut|gemäß|siehe|según|secondo)"
)
"""What stands in front of a source's name and says nothing without it."""
_NAMED = re.compile(rf"(?i)\b({_ATTRIBUTION}\s)({_WORD}\s\d{{1,3}})\b")
_ATTRIBUTED = re.compile(
    rf"(?i)(?P<open>\A\W{{0,8}}|,\s|[(（]\s?){_ATTRIBUTION}\s{MARKER}"
    r"(?P<shut>,\s(?P<next>\w)|(?=\s?[)）.;!?]|\Z))"
)
_PLACED = re.compile(r"[1-9]\d?(?:\s?[,;–-]\s?\d{1,2})*")
_ITEM = re.compile(r"[(（]\d{1,2}[)）]\s+\w")
_LAST_ITEM = re.compile(
    r"[(（]\d{1,2}[)）](?:\s{0,9}(?:[,;/&]|\b(?:and|or|et|ou|und|oder|y|o)\b))?\s{0,9}\Z",
    re.IGNORECASE,
)
_NEXT_ITEM = re.compile(r"(?<!\s)\s*(?:(?:[,;/&+]|and|et)\s*)?[(（]\d{1,2}[)）]")
_LETTERS = re.compile(r"(?<![^\W\d_])[^\W\d_]*\Z")
_OTHER_ITEM = re.compile(r"[)）]\s*(?:or|ou|und|oder|y|o)\s*\Z", re.IGNORECASE)
_UNFINISHED_PHRASE = frozenset(
    "and as by from in of or see than to with comme dans de et ou par selon voir aus in mit nach "
    "oder siehe und von con en o por según y".split()
)
"""Words behind which "(1)" is a part of the phrase: "as in (1)"."""
_STOPS = tuple(".!?…。")
LONGEST_WORD = 60
"""Characters in front of a raised number that tell whether it is a power."""
_YEAR = re.compile(r"(?<!\d)[12]\d{3}\Z")
_LABELS = frozenset(
    "abs. absatz alinéa art art. article articles artikel case clause clauses equation "
    "equations eq. eqs. fig. figure figures item items nr. no. option options para. paragraph "
    "paragraphs paragraphe part point points rule rules satz schritt section sections step "
    "steps table tables étape étapes".split()
)
"""What is numbered by "(1)" behind it: "step (1)", "article 5 (1)"."""
_FUNCTIONS = frozenset("sin cos tan cot sec csc sinh cosh tanh arcsin log ln exp".split())
_SQUARED = re.compile(r"(?:met(?:re|er|ro)s?|inch(?:es)?|yards?|miles?|feet|foot)\Z", re.IGNORECASE)
"""Units that are squared: "300 kilometres²"."""


@dataclass(frozen=True, slots=True)
class CitationMarker:
    """The numbers in a marker, unchecked; empty if it only looks like a marker.

    A ``placed`` one is a marker by its place alone, such as ``(1)``, surely so ``behind_stop``.
    """

    numbers: tuple[int, ...]
    bare: bool = False
    placed: bool = False
    behind_stop: bool = False


def parse_marker(inner: str, *, round_brackets: bool = False) -> CitationMarker | None:
    """Parse the text between two brackets; None if it is not a marker."""
    text = unicodedata.normalize("NFKC", inner).casefold().translate(_HYPHENS)
    text = " ".join(re.sub(r"[\\*`]|(?<!\w)_|_(?!\w)", "", text).split())
    latin = text.translate(_LOOK_ALIKES)
    found = _MARKER.match(latin)
    if found is None or (round_brackets and found["number"] is None):
        return None
    if found["dagger"]:
        return CitationMarker((int(found["dagger"]),))
    if found["bare"]:
        return CitationMarker(_numbers(found["bare"], 0), bare=True)
    forged = found["number"] is None or not text.startswith(found["word"])
    return CitationMarker(() if forged else _numbers(latin, found.end()))


def marker_in(found: re.Match[str]) -> CitationMarker | None:
    """Return the marker of a `BRACKETS` match; None for ``x[1]`` and other brackets."""
    if found["square"] is None:
        named = found["round"] and parse_marker(found["round"], round_brackets=True)
        return named or _placed_marker(found)
    marker = parse_marker(found["square"])
    before = found.string[max(0, found.start() - 2) : found.start()]
    return None if marker and marker.bare and _INDEX.search(before) else marker


def _placed_marker(found: re.Match[str]) -> CitationMarker | None:
    """Return the marker that ``(1)``, ``¹`` or ``<sup>1</sup>`` is at its place."""
    inner = unicodedata.normalize(
        "NFKC", found["round"] or found["raised"] or found["tagged"] or ""
    )
    if not _PLACED.fullmatch(inner.strip()):
        return None
    text, start = found.string, found.start()
    before = text[max(0, start - 400) : start]
    is_placed = _is_behind_phrase if found["round"] else _is_raised_behind
    if not is_placed(before, text[found.end() : found.end() + 12]):
        return None
    numbers = _numbers(inner.strip(), 0)
    behind_stop = before.rstrip(f"{RAISED},; *\"'”’»)")[-1:] in _STOPS
    return CitationMarker(numbers, bare=True, placed=True, behind_stop=behind_stop)


def _is_behind_phrase(before: str, after: str) -> bool:
    """Return whether a number in round brackets is behind a phrase, and numbers no item."""
    phrase = before.rstrip()
    while found := _LAST_ITEM.search(phrase):
        phrase = phrase[: found.start()].rstrip()
    words = phrase.split()[-2:]
    if not words or words[-1][-1] in ":;§" or "§" in words[0]:
        return False
    if words[-1].lower() in _UNFINISHED_PHRASE or _OTHER_ITEM.search(before):
        return False
    if not _LABELS.isdisjoint(" ".join(words).lower().split()):
        return False
    if words[-1].rstrip("*\"'”’»)")[-1:] in _STOPS:
        return not _ITEM.search(before)
    if not before[len(phrase) :][:1].isspace() and phrase[-1] < "\u2e80":
        return False  # "f(1)"; Chinese has no blanks
    if words[-1][-1].isdigit() and not _YEAR.search(words[-1]):
        return False
    if not after.strip(" *") or _NEXT_ITEM.match(after):
        return True
    return after.lstrip(" *")[0] in ".,;:!?…。)]\n"


def _is_raised_behind(before: str, after: str) -> bool:
    """Return whether a raised number is behind a word, and is no power: "km²", "10²", "x²"."""
    behind = before[-LONGEST_WORD:].rstrip(f"{RAISED},; ")
    if not behind or (before[-1:].isspace() and after[:1].isalnum()):
        return False
    if after[:1].isalnum() or (after and after[0] in "⁺⁻+-−=/^([{"):
        return False
    letters = _LETTERS.search(behind)
    if letters is not None and letters[0]:
        word = letters[0]
        is_power = word.lower() in _FUNCTIONS or _SQUARED.search(word) is not None
        return len(word) > 2 and word[-1].isalpha() and not is_power
    return bool(_YEAR.search(behind)) or behind[-1] in ".!?…,;:\"'”’»。"


def without_broken_marker(text: str) -> str:
    """Return the text without an incomplete marker at its end."""
    found = _BROKEN_OFF.search(text)
    if found is None:
        return text
    inner = found[1].strip().casefold()
    begun = bool(inner) and "source".startswith(inner)
    return text[: found.start()] if begun or parse_marker(inner) else text


class MarkerReader:
    """Removes the markers of an answer, sentence by sentence.

    ``known`` are the source numbers in the prompt; ``invented`` counts other numbers.
    """

    def __init__(self, known: Collection[int]) -> None:
        self.invented = 0
        self._known = known
        self._word_used = False
        self._square_used = False
        self._placed_used = False

    def marker_in(self, found: re.Match[str]) -> CitationMarker | None:
        """Return the marker of a `BRACKETS` match, as far as the answer so far uses this form."""
        marker = marker_in(found)
        if marker is None or not marker.placed:
            return marker
        numbers = marker.numbers
        if found["raised"] and not self._are_known(numbers):  # "¹²" for 1 and 2
            numbers = tuple(map(int, unicodedata.normalize("NFKC", found["raised"])))
        if self._word_used or self._square_used or not self._are_known(numbers):
            return None
        if not (marker.behind_stop or self._placed_used or 1 in numbers):  # "had children (3)"
            return None
        return replace(marker, numbers=numbers)

    def _are_known(self, numbers: Collection[int]) -> bool:
        return all(number in self._known for number in numbers)

    def extract(self, text: str) -> tuple[str, tuple[int, ...]]:
        """Return the text with a `MARKER` for every run of markers, and the numbers it cites."""
        numbers: dict[int, None] = {}

        def take(found: re.Match[str]) -> str:
            marker = self.marker_in(found)
            if marker is None:
                return found.group()
            unknown = set(marker.numbers).difference(self._known)
            self.invented += len(unknown) or int(not marker.numbers)
            if not (marker.bare and self._word_used):
                numbers.update(dict.fromkeys(n for n in marker.numbers if n in self._known))
            self._word_used = self._word_used or not marker.bare
            self._square_used = self._square_used or not marker.placed
            self._placed_used = self._placed_used or marker.placed
            return MARKER

        named = _NAMED.sub(r"\1[\2]", text)
        marked = _SEPARATED.sub(MARKER, BRACKETS.sub(take, named))
        marked = _ATTRIBUTED.sub(_without_attribution, marked)
        return _WRAPPED.sub(MARKER, marked), tuple(numbers)


def _without_attribution(found: re.Match[str]) -> str:
    """Return what is left of "According to [1], the dam …": the marker, and "The"."""
    opening, following = found["open"], found["next"]
    if opening.startswith(","):
        return MARKER + (found["shut"] if following else "")
    return f"{opening}{MARKER}{following.upper() if following else ''}"


def _numbers(text: str, start: int) -> tuple[int, ...]:
    """Return the numbers after the word and after each further word."""
    numbers: list[int] = []
    for at in (start, *(found.end() for found in _REPEATED.finditer(text, start))):
        while (found := _NUMBER.match(text, at)) and len(numbers) < MAX_NUMBERS:
            low, high = int(found[1]), int(found[2] or found[1])
            numbers += range(low, high + 1) if low <= high <= low + MAX_RANGE else (low, high)
            following = _NEXT.match(text, found.end())
            if following is None:
                break
            at = following.end()
    return tuple(numbers[:MAX_NUMBERS])
