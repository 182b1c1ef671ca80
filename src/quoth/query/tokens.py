"""A question as the readers of it see it: folded, cut into words, with what is quoted set apart.

Folding keeps every position, so that what a pattern finds in the folded text can be shown as the
asker wrote it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace

from quoth.text.analyzer import ENGLISH, FRENCH

LONGEST_READ = 2_000
"""Characters that are read; what stands behind them cannot narrow a search."""
HIDDEN = "\ufffc"
"""Stands for a character that the rules shall not read, such as one of a quoted title."""

WORD = re.compile(rf"[^\W_]+(?:\+\+|#(?!\w))?|{HIDDEN}+")
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
"""Words of either language that carry no subject, folded."""


class _NormalizationTable(dict[int, str]):
    """One folded character for each character, found when it is first met."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        plain = _SAME.get(character) or unicodedata.normalize("NFD", character)[0].lower()
        return self.setdefault(code, plain if len(plain) == 1 else character)


_FOLDS = _NormalizationTable()


@dataclass(frozen=True, slots=True)
class TokenizedQuery:
    """A question: as it can be shown, folded letter by letter, and the places of its words.

    ``quoted`` are the stretches between quotation marks.
    """

    clean: str
    folded: str
    words: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    quoted: tuple[tuple[int, int], ...] = ()

    def shown(self, start: int, end: int) -> str:
        """Give a stretch of it as the asker wrote it, without white space around it."""
        return " ".join(self.clean[start:end].split())


def tokenize_query(text: str) -> TokenizedQuery:
    """Read a text into folded words; anything after `LONGEST_READ` characters is left out."""
    clean = _clean(text[:LONGEST_READ])
    folded = normalize_query(clean)
    found = list(WORD.finditer(folded))
    return TokenizedQuery(
        clean,
        folded,
        tuple([each.group() for each in found]),
        tuple([each.start() for each in found]),
        tuple([each.end() for each in found]),
        _quoted(clean, folded),
    )


def mask_spans(asked: TokenizedQuery, spans: Iterable[tuple[int, int]]) -> TokenizedQuery:
    """Give the question with these stretches hidden from the rules, at the same positions."""
    folded = asked.folded
    for start, end in spans:
        folded = folded[:start] + HIDDEN * (end - start) + folded[end:]
    return replace(asked, folded=folded) if folded != asked.folded else asked


def normalize_query(text: str) -> str:
    """Lower a text and take its accents away, one character for each; apostrophes are straight."""
    return text.lower() if text.isascii() else text.translate(_FOLDS)


def folded_words(text: str) -> tuple[str, ...]:
    """Give the folded words of a name."""
    return tuple(WORD.findall(normalize_query(_clean(text))))


def stem(word: str) -> str:
    """Take the plural off a folded word, the same way for names and for questions."""
    return word[:-1] if len(word) > 3 and word[-1] in "sx" and word[-2] != "s" else word


def _clean(text: str) -> str:
    """Compose letters and their marks, and spell ligatures out."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
        for letters, plain in _SPELLED_OUT.items():
            if letters in text:
                text = text.replace(letters, plain)
    return text


def _quoted(clean: str, folded: str) -> tuple[tuple[int, int], ...]:
    spans = []
    if any(mark in clean for mark in '"«“‘'):
        spans += [each.span(each.lastindex or 0) for each in _QUOTED.finditer(clean)]
    if "'" in folded:
        spans += [each.span(1) for each in _SINGLE.finditer(folded)]
    return tuple(spans)
