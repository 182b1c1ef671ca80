"""Whether a sentence repeats another one, and whether it is about an aspect of a comparison."""

from __future__ import annotations

import re

from quoth.answering.extractive.score import QueryContext
from quoth.answering.extractive.wording import NEGATION, normalize
from quoth.text.analyzer import analyze

DUPLICATE_OVERLAP = 0.7
"""Minimum word overlap (Jaccard) of duplicate sentences."""

MIN_TITLE = 4
"""Minimum letters of a title that is looked for in a text."""

_BRACKETS = re.compile(r"\([^()]*+\)")
_WORD = re.compile(r"[^\W_]+")
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")


def speaks_of(material: QueryContext, place: int, aspect: str) -> bool:
    """Return whether a sentence, or a title above it, names an aspect."""
    each = material.sentences[place]
    wanted = frozenset(analyze(aspect, language=each.language))
    return bool(wanted) and wanted <= material.stems[place] | material.around[place]


def is_duplicate(material: QueryContext, place: int, other: int) -> bool:
    """Return whether most words are shared, or one sentence nearly contains the other.

    Sentences that differ in a number or in a "not" contradict one another, and both are kept.
    """
    one, two = material.stems[place], material.stems[other]
    texts = (material.sentences[place].text, material.sentences[other].text)
    if not one or not two or _figures(texts[0]) != _figures(texts[1]):
        return False
    if bool(NEGATION.search(normalize(texts[0]))) != bool(NEGATION.search(normalize(texts[1]))):
        return False
    shared = len(one & two)
    smaller = min(len(one), len(two))
    return shared >= DUPLICATE_OVERLAP * len(one | two) or (
        smaller >= 4 and shared >= 0.9 * smaller
    )


def _figures(text: str) -> frozenset[str]:
    return frozenset(_FIGURE.findall(text))


def are_linked(title: str, text: str, *, other_title: str, other_text: str) -> bool:
    """Return whether one of two documents names the title of the other in its text.

    Documents with the same title, or one within the other, are parts of one source.
    """
    titles = _words(_BRACKETS.sub(" ", title)), _words(_BRACKETS.sub(" ", other_title))
    if titles[0] in titles[1] or titles[1] in titles[0]:
        return False
    return any(
        len(name.strip()) >= MIN_TITLE and name in _words(said)
        for name, said in ((titles[0], other_text), (titles[1], text))
    )


def _words(text: str) -> str:
    return f" {' '.join(_WORD.findall(normalize(text)))} "
