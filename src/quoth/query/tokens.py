"""Tokenized query: normalized, split into words, with its quotations.

Normalization keeps every position, so that matches can be shown as typed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from quoth.text.stop_words import ENGLISH, FRENCH
from quoth.text.tables import Table, language_tables

MAX_CHARACTERS = 2_000
"""Maximum characters that are analysed; later ones filter nothing."""
MASK = "\ufffc"
"""Replaces a masked character, such as one of a quoted title."""

WORD = re.compile(rf"[^\W_]+(?:\+\+|#(?!\w))?|{MASK}+")
_QUOTED = re.compile(r"\"([^\"]{2,200})\"|«\s*([^»]{2,200}?)\s*»|“([^”]{2,200})”|‘([^’]{2,200})’")
_SINGLE = re.compile(r"(?<![\w'])'([^'\s][^']{1,200})'(?![\w'])")
_SPELLED_OUT = {"œ": "oe", "Œ": "Oe", "æ": "ae", "Æ": "Ae", "ß": "ss", "ﬁ": "fi", "ﬂ": "fl"}
_SAME = {
    **dict.fromkeys("’ʼ´`", "'"),
    **dict.fromkeys("\u00a0\u202f\u2009\t\n\r", " "),
    **dict.fromkeys("‐‑‒–—−", "-"),
    **dict.fromkeys("\u200b\u00ad\ufeff", " "),
}

FUNCTION_WORDS = ENGLISH | {"".join(c for c in unicodedata.normalize("NFD", w) if c.isascii())
                            for w in FRENCH}  # fmt: skip
"""Normalized function words of either language."""


class _NormalizationTable(dict[int, str]):
    """One normalized character per character, computed on first use."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        plain = _SAME.get(character) or unicodedata.normalize("NFD", character)[0].lower()
        return self.setdefault(code, plain if len(plain) == 1 else character)


_FOLDS = _NormalizationTable()


@dataclass(frozen=True, slots=True)
class TokenizedQuery:
    """A query: displayed text, normalized text, and the offsets of its words.

    ``quoted`` are the spans between quotation marks.
    """

    clean: str
    folded: str
    words: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    quoted: tuple[tuple[int, int], ...] = ()

    def shown(self, start: int, end: int) -> str:
        """Return a span as typed, without surrounding white space."""
        return " ".join(self.clean[start:end].split())


def tokenize_query(text: str) -> TokenizedQuery:
    """Split a text into normalized words; `MAX_CHARACTERS` characters at most are read."""
    clean = _clean(text[:MAX_CHARACTERS])
    folded = normalize_query(clean)
    found = list(WORD.finditer(folded))
    quoted = []
    if any(mark in clean for mark in '"«“‘'):
        quoted += [each.span(each.lastindex or 0) for each in _QUOTED.finditer(clean)]
    if "'" in folded:
        quoted += [each.span(1) for each in _SINGLE.finditer(folded)]
    return TokenizedQuery(
        clean,
        folded,
        tuple([each.group() for each in found]),
        tuple([each.start() for each in found]),
        tuple([each.end() for each in found]),
        tuple(quoted),
    )


def mask_spans(asked: TokenizedQuery, spans: Iterable[tuple[int, int]]) -> TokenizedQuery:
    """Return the query with these spans masked, at the same offsets."""
    folded = asked.folded
    for start, end in spans:
        folded = folded[:start] + MASK * (end - start) + folded[end:]
    return replace(asked, folded=folded) if folded != asked.folded else asked


def normalize_query(text: str) -> str:
    """Return a text in lower case without accents, of the same length."""
    return text.lower() if text.isascii() else text.translate(_FOLDS)


def folded_words(text: str) -> tuple[str, ...]:
    """Return the normalized words of a name."""
    return tuple(WORD.findall(normalize_query(_clean(text))))


def stem(word: str) -> str:
    """Return a normalized word without its plural ending."""
    return word[:-1] if len(word) > 3 and word[-1] in "sx" and word[-2] != "s" else word


def _clean(text: str) -> str:
    """Compose letters and their marks, and expand ligatures."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
        for letters, plain in _SPELLED_OUT.items():
            if letters in text:
                text = text.replace(letters, plain)
    return text


MAX_WORDS = 80
"""Maximum words of a query that are matched: half at its beginning, half at its end."""


def read_table(topic: str, language: str) -> Table:
    """Return the table of a topic in a language, empty where there is none."""
    return language_tables("quoth.query", topic).get(language, {})


def table_languages(topic: str) -> tuple[str, ...]:
    """Return the languages that have a table of a topic."""
    return tuple(language_tables("quoth.query", topic))


def compile_phrases(phrases: Iterable[str]) -> re.Pattern[str]:
    """Compile one pattern for `normalized_query_words` joined by spaces, with a trailing space.

    In a phrase, ``a/b`` are alternatives, ``a*`` begins a word, ``_`` is any word, ``a?`` is
    optional, ``...`` is up to eight words, a group of the pattern; ``^`` and ``$`` are the ends of
    the query.
    """
    patterns = []
    for phrase in phrases:
        pattern = "^" if phrase.startswith("^") else r"(?<!\S)"
        for word in phrase.removeprefix("^").removesuffix("$").split():
            if word == "...":
                pattern += r"((?:\S+ ){0,8}?)"
                continue
            either = "|".join(
                r"\S+"
                if each == "_"
                else re.escape(each.removesuffix("*")) + r"\S*" * each.endswith("*")
                for each in word.removesuffix("?").split("/")
            )
            pattern += f"(?:(?:{either}) ){'?' * word.endswith('?')}"
        patterns.append(pattern + ("$" if phrase.endswith("$") else ""))
    return re.compile("|".join(patterns) or r"(?!)")


@cache
def phrase_pattern(topic: str, name: str, *, language: str = "") -> re.Pattern[str]:
    """Return one pattern of the phrases of a topic by that name, in a language or in all."""
    tables = [
        read_table(topic, each) for each in ([language] if language else table_languages(topic))
    ]
    return compile_phrases(phrase for table in tables for phrase in table.get(name, ()))


def normalized_query_words(text: str) -> list[str]:
    """Return the normalized words of a query; a masked title is one word."""
    found = WORD.findall(normalize_query(_clean(text)))
    words = [word if word[0] != MASK else MASK for word in found]
    return words if len(words) <= MAX_WORDS else words[: MAX_WORDS // 2] + words[-MAX_WORDS // 2 :]


def has_phrase(pattern: re.Pattern[str], words: Sequence[str]) -> bool:
    """Return whether a phrase of `compile_phrases` occurs among the words."""
    return pattern.search("".join(f"{word} " for word in words)) is not None
