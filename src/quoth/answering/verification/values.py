"""Values of a sentence: numbers, units, months and names, which evidence must repeat."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation
from typing import Literal, NamedTuple

from quoth.answering.verification.tokens import NEGATIONS, TextToken
from quoth.answering.verification.units import SCALES, SPELLED, UNITS
from quoth.text.analyzer import STOP_WORDS, normalize_name
from quoth.text.numbers import WORDS

Kind = Literal["number", "date", "name"]


class Value(NamedTuple):
    """A value with one correct form; ``key`` is its form for comparison.

    ``first`` and ``last`` are the indexes of its tokens, ``unit`` what a number counts, if known.
    ``sure`` is False for a word that may be capitalised only as the first of its sentence.
    ``parts`` are those of a hyphenated name.
    """

    kind: Kind
    key: str
    first: int
    last: int
    unit: str = ""
    sure: bool = True
    parts: frozenset[str] = frozenset()


_BEFORE = frozenset("$ € £ ¥ page pages chapter chapters chapitre chapitres".split())
_MONTHS = {
    word: str(number)
    for number, words in enumerate(
        """
        january jan janvier janv; february feb fevrier fevr; march mar mars; april apr avril avr
        ; may mai; june jun juin; july jul juillet juil; august aug aout
        ; september sept sep septembre; october oct octobre; november nov novembre
        ; december dec decembre
        """.split(";"),
        start=1,
    )
    for word in words.split()
}
_BARE_MONTHS = frozenset(
    "january janvier february fevrier april avril june juin july juillet august aout september "
    "septembre october octobre november novembre december decembre".split()
)
"""Unambiguous month names; others are months only next to a number."""
_ISO = re.compile(r"(?<!\d)\d{4}-(\d{2})-\d{2}(?!\d)")
_NUMBER = re.compile(r"-?\d")
_STOPS = (
    frozenset(normalize_name(word) for words in STOP_WORDS.values() for word in words) | NEGATIONS
)
_SENTENCE_FIRST = ".!?:;\"'“”‘’«»([{-–—*#>…"
_CAPITALISED_NOUNS = frozenset(("de",))


def read_values(
    text: str, parts: Sequence[TextToken], *, language: str, offset: int = 0
) -> tuple[Value, ...]:
    """Find the values among the tokens of a text; ``offset`` was added to their positions."""
    found = [*_numbers(parts), *_months(text, parts)]
    taken = {at for value in found for at in range(value.first, value.last + 1)}
    found += _names(text, parts, taken, language=language, offset=offset)
    return tuple(found)


def is_number(part: TextToken) -> bool:
    """Return whether a token is written in digits."""
    return _NUMBER.match(part.word) is not None


def _numbers(parts: Sequence[TextToken]) -> Iterator[Value]:
    at = 0
    while at < len(parts):
        key, last = _number_at(parts, at)
        if key is None:
            at += 1
            continue
        key, last = _scaled(parts, key, last)
        yield Value("number", key, at, last, unit=_unit(parts, at, last))
        at = last + 1


def _number_at(parts: Sequence[TextToken], at: int) -> tuple[str | None, int]:
    word = parts[at].word
    if is_number(parts[at]):
        return word, at
    following = parts[at + 1].word if at + 1 < len(parts) else ""
    if word in SPELLED and following and f"{word} {following}" in WORDS:
        return str(WORDS[f"{word} {following}"]), at + 1
    return SPELLED.get(word), at


def _scaled(parts: Sequence[TextToken], key: str, last: int) -> tuple[str, int]:
    while last + 1 < len(parts) and (scale := SCALES.get(parts[last + 1].word)):
        try:
            key = format((Decimal(key) * scale).normalize(), "f")
        except InvalidOperation:
            return key, last
        last += 1
    return key, last


def _unit(parts: Sequence[TextToken], first: int, last: int) -> str:
    if first and parts[first - 1].word in _BEFORE:
        return UNITS[parts[first - 1].word]
    following = [part.word for part in parts[last + 1 : last + 3]]
    if following[:2] in (["per", "cent"], ["pour", "cent"]):
        return "%"
    return UNITS.get(following[0], "") if following else ""


def _months(text: str, parts: Sequence[TextToken]) -> Iterator[Value]:
    for at, part in enumerate(parts):
        month = _MONTHS.get(part.word)
        if month is None:
            continue
        beside = (parts[near] for near in (at - 1, at + 1) if 0 <= near < len(parts))
        if part.word in _BARE_MONTHS or any(is_number(each) for each in beside):
            yield Value("date", f"month {month}", at, at)
    for match in _ISO.finditer(text):
        yield Value("date", f"month {int(match[1])}", 0, -1)


def _names(
    text: str, parts: Sequence[TextToken], taken: set[int], *, language: str, offset: int
) -> Iterator[Value]:
    raws = [text[part.start - offset : part.end - offset] for part in parts]
    words = [raw for raw in raws if raw[:1].isalpha()]
    shouted = sum(raw[0].isupper() for raw in words) > 0.6 * len(words) and len(words) > 3
    for at, (part, raw) in enumerate(zip(parts, raws, strict=True)):
        if at in taken or not raw[:1].isalpha() or part.word in _STOPS:
            continue
        mixed = any(sign.isdecimal() for sign in raw)
        inside = any(sign.isupper() for sign in raw[1:]) and not (shouted and raw.isupper())
        if mixed or inside:
            yield Value("name", part.word, at, at, parts=_capitalised_parts(raw))
        elif raw[0].isupper() and not shouted and language not in _CAPITALISED_NOUNS:
            before = text[: part.start - offset].rstrip()[-1:]
            sure = bool(before) and before not in _SENTENCE_FIRST
            yield Value("name", part.word, at, at, sure=sure, parts=_capitalised_parts(raw))


def _capitalised_parts(raw: str) -> frozenset[str]:
    """Return the capitalised parts of a hyphenated word; empty if a part is a number."""
    parts = raw.split("-")
    if len(parts) < 2 or any(part.isdecimal() for part in parts):
        return frozenset()
    return frozenset(normalize_name(part) for part in parts if any(sign.isupper() for sign in part))
