"""Spelling of a query: misspelled question words, and words that no passage has.

The former are corrected before the search, the latter by the words of the passages found.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache

from rapidfuzz import process
from rapidfuzz.distance import OSA

from quoth.core.translations import translate
from quoth.core.types import Chunk
from quoth.query.entity_index import EntityIndex
from quoth.query.filters.patterns import mapping, word_set
from quoth.query.keywords import content_words
from quoth.query.tokens import (
    FUNCTION_WORDS,
    TokenizedQuery,
    normalize_query,
    stem,
    tokenize_query,
)
from quoth.text.analyzer import analyze
from quoth.text.near_terms import near_terms

MIN_LETTERS = 6
"""Shorter words have too many neighbours."""
_WORD = re.compile(r"[^\W\d_]+")


def misspelled_words(
    question: str, chunks: Iterable[Chunk], *, titles: Iterable[str] = (), language: str
) -> Mapping[str, str]:
    """Return the content words of a question that no chunk has, with the nearest that one has.

    Words of ``titles`` and other forms of a word that a chunk has are no errors. The nearest word
    is looked for in chunks of the question's language ("exemple" is no error in French); it is the
    most frequent one with the same first letter at edit distance one (F. Damerau, 1964): one letter
    too few, too many or another one, or two exchanged.
    """
    chunks = list(chunks)
    words = [each for each in content_words(question, language=language) if each.isalpha()]
    unknown = {each: normalize_query(each) for each in words if len(each) >= MIN_LETTERS}
    for texts in ((chunk.text for chunk in chunks), titles):
        known = normalize_query("\n".join(texts)) if unknown else ""
        unknown = {each: folded for each, folded in unknown.items() if folded not in known}
    if not unknown:
        return {}
    own = (chunk.text for chunk in chunks if chunk.language == language)
    counts = Counter(each.lower() for text in own for each in _WORD.findall(text))
    spelled: dict[str, str] = {}
    for each, _count in counts.most_common():
        spelled.setdefault(normalize_query(each), each)
    found = {}
    for word, folded in unknown.items():
        alike = spelled.keys() & near_terms(folded)
        near = sorted(spelled[each] for each in alike if each[0] == folded[0])
        stems = analyze(word, language=language)
        if near and all(analyze(each, language=language) != stems for each in near):
            found[word] = max(near, key=counts.__getitem__)
    return found


def replace_words(question: str, better: Mapping[str, str]) -> str:
    """Return a question with some of its words replaced."""
    return _WORD.sub(lambda word: better.get(word[0], word[0]), question)


def describe_words(better: Mapping[str, str], *, language: str) -> str:
    """Say which words were searched for in place of which."""
    words = (
        translate("pipeline.corrected_word", language, asked=asked, found=found)
        for asked, found in better.items()
    )
    return translate("pipeline.corrected", language, words=", ".join(words))


MAX_WORDS = 40
"""Maximum words of a query that are checked."""
MIN_TYPO_LETTERS, MAX_LETTERS = 5, 16


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
    if not MIN_TYPO_LETTERS <= len(word) <= MAX_LETTERS or word in asking:
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
