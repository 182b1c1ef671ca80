"""Ways of asking the same thing, in English and French: data for `quoth.query.paraphrase.features`.

Everything is written folded: small letters, no accents, no hyphens, apostrophes resolved. A saying
turns a phrase into words in capitals that say what is asked for (HOW, WHY, …), or into plain words.
What is not listed is another word: the lists may miss a paraphrase, and must not make one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from quoth.query.paraphrase import english, french

Sayings = tuple[tuple[re.Pattern[str], str], ...]

CONTRACTIONS = tuple(
    (re.compile(old), new)
    for old, new in (
        (r"[`´]", "'"),
        (r"\bwon'?t\b", "will not"),
        (r"\b(?:can'?t|cannot)\b", "can not"),
        (r"\b(do|does|did|is|are|was|were|has|have|had|would|could|should)n'?t\b", r"\1 not"),
        (r"n't\b", " not"),
        (r"\b(i|you|we|they)'ve\b", r"\1 have"),
        (r"\bi'?m\b", "i am"),
        (r"'re\b", " are"),
        (r"'ll\b", " will"),
        (r"'d\b", " would"),
        (r"\b(what|who|where|when|how|why|it|that|there|he|she)'s\b", r"\1 is"),
        (r"\b(what|where|how)s\b", r"\1 is"),
        (r"'s\b|(?<=s)'(?!\w)", ""),
        (r"\bgonna\b", "going to"),
        (r"\bwanna\b", "want to"),
        (r"\be[- ]mail", "email"),
    )
)
"""Short forms and what they stand for; applied to folded text with its apostrophes."""


def _sayings(block: str) -> Iterator[tuple[re.Pattern[str], str]]:
    for line in block.replace("\n        ", "").strip().splitlines():
        phrase, _, stands = line.partition(" >")
        # At either end of a phrase stands the end of a word, or something that is no word.
        yield re.compile(rf"\b(?:{phrase.strip()})(?:(?<!\w)|(?!\w))"), f" {stands.strip()} "


def _groups(block: str) -> Mapping[str, str]:
    """Give for each word the first of its group, that of the first group it stands in."""
    found: dict[str, str] = {}
    for group in " ".join(block.split()).split("; "):
        words = group.split()
        for word in words:
            found.setdefault(word, words[0])
    return found


_BLOCKS = {"en": english, "fr": french}


@cache
def paraphrase_table(language: str) -> Sayings:
    """Give a language's phrases and what they come to, in the order in which they are applied."""
    return tuple(_sayings(_BLOCKS[language].SAYINGS))


@cache
def synonyms(language: str) -> Mapping[str, str]:
    """Give for each word of a group the one that stands for it."""
    return _groups(_BLOCKS[language].GROUPS)
