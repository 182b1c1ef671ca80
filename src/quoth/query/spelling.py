"""Corrects misspelled question words: "sumarize", "diference", "coment"."""

from __future__ import annotations

from functools import lru_cache

from rapidfuzz import process
from rapidfuzz.distance import OSA

from quoth.query.entity_index import EntityIndex
from quoth.query.filters.patterns import mapping, word_set
from quoth.query.tokens import FUNCTION_WORDS, TokenizedQuery, stem, tokenize_query

MAX_WORDS = 40
"""Maximum words of a query that are checked."""
MIN_LETTERS, MAX_LETTERS = 5, 16


def correct_spelling(query: TokenizedQuery, entities: EntityIndex) -> TokenizedQuery:
    """Return the query with corrected question words, the same object if unchanged.

    A word in the names of the collection is not corrected.
    """
    text = query.clean
    for place in reversed(range(min(len(query.words), MAX_WORDS))):
        word = query.words[place]
        corrected = _corrected(word, first=not place)
        if corrected and not _is_a_name(word, entities):
            start, end = query.starts[place], query.ends[place]
            shown = corrected.capitalize() if text[start].isupper() else corrected
            text = text[:start] + shown + text[end:]
    return query if text is query.clean else tokenize_query(text)


def _is_a_name(word: str, entities: EntityIndex) -> bool:
    known = stem(word)
    lookups = (entities.titles, entities.topics, entities.speakers)
    return any(known in lookup.by_word for lookup in lookups)


@lru_cache(maxsize=4096)
def _corrected(word: str, *, first: bool) -> str:
    """Return the question word that a word misspells, empty if none.

    At edit distance one inside the word (F. Damerau, 1964).
    """
    known = mapping("typos").get(word) or (first and mapping("first_typos").get(word))
    if known:
        return str(known)
    asking = word_set("asking")
    if not MIN_LETTERS <= len(word) <= MAX_LETTERS or word in asking:
        return ""
    if word in FUNCTION_WORDS or word in word_set("not_asking"):
        return ""
    close = process.extract(word, sorted(asking), scorer=OSA.distance, score_cutoff=1, limit=3)
    return next(
        (
            meant
            for meant, _, _ in close
            if (word[0], word[-1]) == (meant[0], meant[-1])
            and not word.startswith(meant) and not meant.startswith(word)
        ),
        "",
    )  # fmt: skip
