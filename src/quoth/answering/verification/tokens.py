"""Tokenization for verification: words comparable across printings, with offsets.

Two texts whose tokens have the same words are equal letter by letter: white space, quotation marks,
ligatures, composed and decomposed letters, capitals and hyphens between letters make no difference,
and nothing else is ignored. Token offsets refer to the stored text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cache, lru_cache
from typing import Literal, NamedTuple

from quoth.answering.verification.units import (
    SIGN_WORDS,
    below_zero,
    is_percent,
    scales,
    short_months,
    signs_before,
    unit_words,
    units,
)
from quoth.query.filters.patterns import mapping
from quoth.text.analyzer import analyze, normalize_name
from quoth.text.numbers import number_words, spoken_number
from quoth.text.stop_words import STOP_WORDS
from quoth.text.tables import language_tables, tables_for, word_list


@dataclass(frozen=True, slots=True)
class NumberWords:
    """The words of numbers in a language, normalized; ``spelled`` has their digits."""

    spelled: Mapping[str, str]
    joints: frozenset[str]
    hundreds: frozenset[str]
    starts: frozenset[str]
    """Words that a number of several words begins with: "deux cent quarante"."""


@cache
def words_of_numbers(language: str) -> NumberWords:
    """Return the number words of a language; those that usually are other words are not spelled."""
    tables = tables_for("quoth.text", "numbers", language)
    vague, joints, hundreds = (
        frozenset().union(*(table[name].split() for table in tables))
        for name in ("vague", "joints", "hundreds")
    )
    spelled = {
        word.replace(" ", ""): str(number)
        for word, number in number_words(language, "cardinals", "ordinals").items()
        if word not in vague
    }
    starts = frozenset((*vague, *hundreds, *spelled))
    return NumberWords(spelled, joints, hundreds, starts)


NEGATIONS = word_list(__package__, "words", "denials")
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
    return signed(found, language=language)


def signed(parts: Sequence[TextToken], *, language: str) -> tuple[TextToken, ...]:
    """Join signs in words with their numbers: "minus 14" and "14 below zero" have the word -14."""
    words = [part.word for part in parts]
    if not SIGN_WORDS.intersection(words):
        return tuple(parts)
    spelled, known = words_of_numbers(language).spelled, units(language)
    numbers = [is_number(part) or part.word in spelled for part in parts]
    amounts = [number or word in known for number, word in zip(numbers, words, strict=True)]
    before = signs_before(words, numbers, amounts=amounts)
    below = below_zero(words, numbers)
    found: list[TextToken] = []
    for at, part in enumerate(parts):
        if at in before:
            continue
        if at in below or at - 1 in before:
            value = f"-{spelled.get(part.word, part.word)}"
            start = parts[at - 1].start if at - 1 in before else part.start
            part = TextToken(value, value, start, part.end)
        found.append(part)
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


@lru_cache(maxsize=20_000)  # some 400 bytes each
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
    if known := words_of_numbers(language).spelled.get(folded) or units(language).get(folded):
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


_ISO = re.compile(r"(?<!\d)\d{4}-(\d{2})-\d{2}(?!\d)")
_NUMBER = re.compile(r"-?\d")
_ALL_STOPS = (
    frozenset(normalize_name(word) for words in STOP_WORDS.values() for word in words) | NEGATIONS
)
_SENTENCE_FIRST = ".!?:;\"'“”‘’«»([{-–—*#>…"


def read_values(
    text: str, parts: Sequence[TextToken], *, language: str, offset: int = 0
) -> tuple[Value, ...]:
    """Find the values among the tokens of a text; ``offset`` was added to their positions."""
    found = [
        *_number_values(text, parts, language=language, offset=offset),
        *_months(text, parts, language=language),
    ]
    taken = {at for value in found for at in range(value.first, value.last + 1)}
    found += _names(text, parts, taken, language=language, offset=offset)
    return tuple(found)


def is_number(part: TextToken) -> bool:
    """Return whether a token is written in digits."""
    return _NUMBER.match(part.word) is not None


def _number_values(
    text: str, parts: Sequence[TextToken], *, language: str, offset: int
) -> Iterator[Value]:
    at = 0
    while at < len(parts):
        key, last = _number_at(text, parts, at, language=language, offset=offset)
        if key is None:
            at += 1
            continue
        while last + 1 < len(parts) and (scale := scales(language).get(parts[last + 1].word)):
            try:
                key = format((Decimal(key) * scale).normalize(), "f")
            except InvalidOperation:
                break
            last += 1
        yield Value("number", key, at, last, unit=_unit(parts, at, last, language))
        at = last + 1


def _number_at(
    text: str, parts: Sequence[TextToken], at: int, *, language: str, offset: int
) -> tuple[str | None, int]:
    """Return the number that begins with a token, and its last token; None where none does."""
    if is_number(parts[at]):
        return parts[at].word, at
    words, last = words_of_numbers(language), at
    while last < len(parts) and _is_in_number(parts[last].word, language):
        if parts[last].word in words.joints and _scales_again(parts, last + 1, language):
            break
        last += 1
    while last - at > 1 and parts[at].word in words.starts:
        last -= 1
        written = text[parts[at].start - offset : parts[last].end - offset]
        if (number := spoken_number(written)) is not None:
            return str(number), last
    return words.spelled.get(parts[at].word), at


def _is_in_number(word: str, language: str) -> bool:
    words = words_of_numbers(language)
    return word in words.starts or word in words.joints or word in scales(language)


def _scales_again(parts: Sequence[TextToken], at: int, language: str) -> bool:
    """Return whether a number of hundreds or more goes on: "five hundred" after "and"."""
    words = words_of_numbers(language)
    while at < len(parts) and _is_in_number(word := parts[at].word, language):
        if word in words.joints:
            return False
        if word in scales(language) or word in words.hundreds:
            return True
        at += 1
    return False


def _unit(parts: Sequence[TextToken], first: int, last: int, language: str) -> str:
    if first and parts[first - 1].word in unit_words("before", language):
        return units(language).get(parts[first - 1].word, "")
    following = tuple(part.word for part in parts[last + 1 : last + 3])
    if is_percent(language, following):
        return "%"
    return units(language).get(following[0], "") if following else ""


def _months(text: str, parts: Sequence[TextToken], *, language: str) -> Iterator[Value]:
    names, short = mapping("months"), short_months(language)
    for at, part in enumerate(parts):
        month = names.get(part.word) or short.get(part.word)
        if month is None:
            continue
        beside = (parts[near] for near in (at - 1, at + 1) if 0 <= near < len(parts))
        clear = part.word in names and part.word not in unit_words("month_words", language)
        if clear or any(is_number(each) for each in beside):
            yield Value("date", f"month {month}", at, at)
    for match in _ISO.finditer(text):
        yield Value("date", f"month {int(match[1])}", 0, -1)


def _names(
    text: str, parts: Sequence[TextToken], taken: set[int], *, language: str, offset: int
) -> Iterator[Value]:
    raws = [text[part.start - offset : part.end - offset] for part in parts]
    words = [raw for raw in raws if raw[:1].isalpha()]
    capitals = has_capitalised_nouns(language)
    shouted = sum(raw[0].isupper() for raw in words) > 0.6 * len(words) and len(words) > 3
    for at, (part, raw) in enumerate(zip(parts, raws, strict=True)):
        if at in taken or not raw[:1].isalpha() or part.word in _ALL_STOPS:
            continue
        mixed = any(sign.isdecimal() for sign in raw)
        inside = any(sign.isupper() for sign in raw[1:]) and not (shouted and raw.isupper())
        if mixed or inside:
            yield Value("name", part.word, at, at, parts=_capitalised_parts(raw))
        elif raw[0].isupper() and not (shouted or capitals):
            before = text[: part.start - offset].rstrip()[-1:]
            sure = bool(before) and before not in _SENTENCE_FIRST
            yield Value("name", part.word, at, at, sure=sure, parts=_capitalised_parts(raw))


def has_capitalised_nouns(language: str) -> bool:
    """Return whether nouns of a language have capitals, so that names cannot be told from them."""
    table = language_tables(__package__, "words").get(language, {})
    return bool(table.get("capitalised_nouns"))


def _capitalised_parts(raw: str) -> frozenset[str]:
    """Return the capitalised parts of a hyphenated word; empty if a part is a number."""
    parts = raw.split("-")
    if len(parts) < 2 or any(part.isdecimal() for part in parts):
        return frozenset()
    return frozenset(normalize_name(part) for part in parts if any(sign.isupper() for sign in part))
