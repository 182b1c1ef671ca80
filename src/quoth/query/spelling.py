"""Words of a query that no passage has: the nearest words of the passages that were found."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from quoth.core.translations import translate
from quoth.core.types import Chunk
from quoth.query.keywords import content_words
from quoth.query.tokens import normalize_query
from quoth.text.analyzer import analyze, near_terms

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
        alike = near_terms(folded, known=list(spelled), limit=None)
        near = [spelled[each] for each in alike if each[0] == folded[0]]
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
