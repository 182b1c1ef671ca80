"""Tokenization for verification: words comparable across printings, with offsets.

Two texts whose tokens have the same words are equal letter by letter: white space, quotation marks,
ligatures, composed and decomposed letters, capitals and hyphens between letters make no difference,
and nothing else is ignored. Token offsets refer to the stored text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import NamedTuple

from quoth.answering.verification.units import SPELLED, UNITS
from quoth.text.analyzer import STOP_WORDS, analyze, normalize_name

NEGATIONS = frozenset(
    """
    not no never none neither nor nobody nothing nowhere cannot without hardly
    pas jamais aucun aucune sans rien ni nullement non personne
    nicht kein keine keinen keiner nie ohne weder ningun ninguna nunca tampoco sin
    """.split()
)
"""Words that negate a clause."""

# Letters, their combining marks, and invisible characters inside words.
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u0900-\u0963\u0970-\u0df4\u0e31-\u0e4e\u0ec8-\u0ecd\u0f71-\u0f84\u102b-\u103e\u17b4-\u17d3"
    "\u20d0-\u20f0"
)
_UNSEEN = "\u00ad\u200b-\u200f\u2060\ufeff\u0640"
_UNSPACED = (
    "\u1100-\u11ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
)
_HYPHENS = "-\u2010\u2011"
_LETTER = rf"[^\W\d_{_UNSPACED}]"
_INSIDE = rf"(?:[^\W{_UNSPACED}]|[{_MARKS}{_UNSEEN}])"
_TOKEN = re.compile(
    rf"(?P<number>(?:(?<![^\s(\[])[-\u2212](?=\d))?\d+(?:[.,:\u00a0\u202f\u2009]\d+)*)"
    r"|(?P<elided>(?<!\w)(?i:[cdjlmnst]|(?:jus|lors|puis|quoi)?qu)['\u2019](?=\w))"
    rf"|(?P<word>[_{_UNSEEN}]*{_LETTER}{_INSIDE}*"
    rf"(?:[{_HYPHENS}\u00ad](?:[^\S\n]*\n[^\S\n]*|[^\S\n]+(?=[a-z\u00df-\u00ff]))?(?={_LETTER}|\d){_INSIDE}+)*"
    rf"(?:['\u2019](?:t|s|re|ve|ll|d|m)(?![\w]))?)"
    rf"|(?P<character>[\u1100-\u115f][\u1160-\u11a7][\u11a8-\u11ff]?|[{_UNSPACED}])"
    r"|(?P<sign>[%‰$€£¥<>≤≥=±×÷+°≠≈]|[^\W\d])"
)
_JOINTS = re.compile(rf"[{_HYPHENS}\u00ad{_UNSEEN}\s]+")
_SPACES = re.compile("[\u00a0\u202f\u2009]")
_THOUSANDS = re.compile(r"[-\u2212]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_LETTERS = str.maketrans({"œ": "oe", "æ": "ae", "\u2212": "-"})


BETWEEN = "\x1f"
"""Separates the words of joined tokens; occurs in no word."""


class TextToken(NamedTuple):
    """A word, number or symbol, and its characters in the tokenized text.

    ``word`` is its form for exact comparison, ``stem`` that for comparison by meaning, empty for a
    function word.
    """

    word: str
    stem: str
    start: int
    end: int


def tokens(text: str, *, language: str, offset: int = 0) -> tuple[TextToken, ...]:
    """Split a text into tokens; ``offset`` is added to their positions."""
    found: list[TextToken] = []
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        kind, raw = match.lastgroup, match.group()
        if kind == "number":
            found += _numbers(raw, start=start + offset)
            continue
        if kind == "elided":
            continue
        word, stem, negated = _word(raw, language)
        if word:
            found.append(TextToken(word, stem, start + offset, end + offset))
        if negated:
            found.append(TextToken("not", "", end + offset - 2, end + offset))
    return tuple(found)


def concatenate(parts: Sequence[TextToken]) -> str:
    """Join the words of tokens so that a search finds only whole ones."""
    return BETWEEN + BETWEEN.join(part.word for part in parts) + BETWEEN


def negations(parts: Sequence[TextToken]) -> list[str]:
    """Return the words that negate."""
    return [part.word for part in parts if part.word in NEGATIONS]


def plain_number(raw: str) -> str:
    """Write a number in canonical form: "1,000.50" and "1000.5" are equal."""
    text = raw.translate(_LETTERS)
    if ":" in text:
        return text
    if _THOUSANDS.fullmatch(text):
        text = text.replace(",", "")
    text = text.replace(",", ".")
    if text.count(".") > 1 or len(text) > 30:
        return text
    try:
        value = Decimal(text)
    except InvalidOperation:
        return text
    return format(value.normalize(), "f")


def _numbers(raw: str, *, start: int) -> list[TextToken]:
    """Return one number, or several where spaces separate more than thousands."""
    spaced = _SPACES.split(raw)
    if len(spaced) > 1 and all(len(each) == 3 and each.isdecimal() for each in spaced[1:]):
        value = plain_number("".join(spaced))
        return [TextToken(value, value, start, start + len(raw))]
    found, at = [], start
    for each in spaced:
        value = plain_number(each)
        found.append(TextToken(value, value, at, at + len(each)))
        at += len(each) + 1
    return found


@lru_cache(maxsize=100_000)
def _word(raw: str, language: str) -> tuple[str, str, bool]:
    """Return a token's word and stem, and whether it is negated."""
    word = raw if raw.isascii() else _readable(raw)
    word = _JOINTS.sub("", word).replace("\u2019", "'").strip("_")
    bare, apostrophe, ending = word.partition("'")
    negated = bool(apostrophe) and ending.casefold() == "t"
    if negated:
        bare = "can" if bare.casefold() == "can" else bare.removesuffix("n").removesuffix("N")
    folded = normalize_name(bare).translate(_LETTERS)
    if folded in _STOPS.get(language, frozenset()) or folded in NEGATIONS:
        return folded, "", negated
    if known := SPELLED.get(folded) or UNITS.get(folded):
        return folded, known, negated
    stems = analyze(bare, language=language)
    return folded, stems[-1] if stems else "", negated


def _readable(raw: str) -> str:
    """Compose letters and expand ligatures; superscripts and fractions stay unchanged."""
    composed = unicodedata.normalize("NFC", raw)
    return "".join(
        unicodedata.normalize("NFKC", each) if unicodedata.category(each)[0] == "L" else each
        for each in composed
    )


_STOPS = {name: frozenset(map(normalize_name, words)) for name, words in STOP_WORDS.items()}
