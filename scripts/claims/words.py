"""Word tables and patterns that the claims of one language are made with."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

Pairs = tuple[tuple[str, ...], ...]
LETTER = "A-Za-zÀ-ÖØ-öø-ÿ"
CAPITAL = "A-ZÀ-ÖØ-Þ"
NAME = re.compile(
    rf"(?<![.!?:;«\"“(] )(?<!^)\b[{CAPITAL}][{LETTER}'’-]*[a-zà-ÿ][{LETTER}-]*"
    rf"(?:(?: (?:of|the|de|du|des|la|von|van|and the))? [{CAPITAL}][{LETTER}-]+)*"
)
NUMBER = re.compile(r"(?<![\w.,-])\d+(?:[.,]\d+)*(?![\w-]|[.,]\d)")
YEAR = re.compile(r"(?<![\w.,-])(?:1[0-9]|20)\d\d(?![\w-]|[.,]\d)")


FUNCTION_WORDS = frozenset(
    "the a an this these those in on at by for from after before during when while as it he she "
    "they we that le la les un une des ce cet cette ces en dans sur par pour après avant pendant "
    "il elle ils elles au aux".split()
)
"""Words that a sentence begins with in a small letter elsewhere."""


@dataclass(frozen=True)
class Words:
    """The word tables of a language."""

    language: str
    auxiliaries: frozenset[str]
    pronouns: frozenset[str]
    asking: frozenset[str]
    units: Pairs
    months: tuple[str, ...]
    numbers: tuple[str, ...]
    directions: Pairs
    quantifiers: Pairs
    causes: tuple[str, ...]
    synonyms: Pairs
    openings: tuple[str, ...]
    join: str
    links: tuple[str, ...]
    additions: tuple[str, ...]
    past: Mapping[str, str]
    """The past tense of verbs."""


@cache
def read_words(language: str) -> Words:
    """Read the tables of a language."""
    path = Path(__file__).parent / f"{language}.toml"
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    pairs = {
        name: tuple(tuple(row) for row in data[name])
        for name in ("units", "directions", "quantifiers", "synonyms")
    }
    return Words(
        language=language,
        auxiliaries=frozenset(data["auxiliaries"].split()),
        pronouns=frozenset(data["subject_pronouns"].split()),
        asking=frozenset(data["asking"].split()),
        months=tuple(data["months"].split()),
        numbers=tuple(data["numbers"].split()),
        causes=tuple(data["causes"]),
        openings=tuple(data["openings"]),
        join=data["join"],
        links=tuple(data["links"]),
        additions=tuple(data["additions"]),
        past=dict(row.split() for row in data["past"].split(",") if row.strip()),
        **pairs,
    )


def find_word(text: str, word: str) -> re.Match[str] | None:
    """Find a word or phrase as whole words; with a capital only at the beginning."""
    left = r"(?<![\w-])" if word[0].isalnum() else ""
    right = r"(?![\w-])" if word[-1].isalnum() else ""
    found = re.search(left + re.escape(word) + right, text)
    return found or re.match(re.escape(word) + right, text, re.IGNORECASE)


def put(text: str, match: re.Match[str], new: str) -> str:
    """Put other words in the place of a match, with a capital where one stood."""
    if match.group()[:1].isupper() and match.start() == 0:
        new = new[:1].upper() + new[1:]
    return re.sub(r"  +", " ", text[: match.start()] + new + text[match.end() :])


def lower_first(text: str) -> str:
    """Begin with a small letter unless a name begins the text."""
    first = re.match(rf"[{LETTER}'’-]+", text)
    word = first.group() if first else ""
    small = word.lower() in FUNCTION_WORDS
    return text[:1].lower() + text[1:] if small else text
