"""Intent and follow-up detection: phrase tables by language, weighted by a small trained head."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt

from quoth.core.protocols import Matrix
from quoth.core.types import QueryKind, Turn
from quoth.query.tokens import (
    FUNCTION_WORDS,
    TokenizedQuery,
    has_phrase,
    normalized_query_words,
    phrase_pattern,
    read_table,
    table_languages,
)
from quoth.text.tables import word_list

BUCKETS = 4096
DIMENSION = 384
"""Dimension of the default embedder's vectors; vectors of other lengths are not used."""
VECTOR_WEIGHT, CUE_WEIGHT = 6.0, 1.5
MODEL = "multilingual-e5-small"
CHECKSUM = "e07abff0b32e7a696944a4a0189fbf7b0c1cffaaa6d43aa61abc160dccc2ea20"
"""SHA-256 of ``data/heads.npz``, which ``python scripts/train_query_heads.py`` makes."""

Array = npt.NDArray[np.float32]


def scores(
    head: str, words: Sequence[str], *, cues: Sequence[bool], vector: Matrix | None = None
) -> Array:
    """Return a score for each class; without a vector the n-gram variant is used."""
    weights = _weights()
    if vector is None or vector.shape != (DIMENSION,):
        return embed_features(words, cues) @ weights[f"{head}_words"]
    # Relative to the mean of the training queries.
    relative = ((vector - weights["mean"]) * VECTOR_WEIGHT).astype(np.float32)
    features = np.concatenate((relative, embed_features(words, cues)))
    return features @ weights[head]


def embed_features(words: Sequence[str], cues: Sequence[bool]) -> Array:
    """Return the hashed n-grams (unit length), the cues and a constant."""
    found = np.zeros(BUCKETS, np.float32)
    numbers = ["0" if word.isdecimal() else word for word in words]
    # Content words become one placeholder, so that only the form of a query counts.
    form = [word if word in FUNCTION_WORDS else "_" for word in numbers]
    for prefix, sequence in (("", numbers), ("~", form)):
        padded = ["^", *sequence, "$"]
        for size in (1, 2, 3):
            for at in range(len(padded) - size + 1):
                code = zlib.crc32((prefix + " ".join(padded[at : at + size])).encode())
                found[code % BUCKETS] += 1.0 if code & 0x10000 else -1.0
    length = float(np.linalg.norm(found))
    rest = np.array([*(CUE_WEIGHT * cue for cue in cues), 1.0], np.float32)
    return np.concatenate((found / length if length else found, rest))


@cache
def _weights() -> dict[str, Array]:
    with (files("quoth.query") / "data" / "heads.npz").open("rb") as file:
        stored = np.load(file, allow_pickle=False)
        return {name: stored[name].astype(np.float32) for name in stored.files}


KINDS: tuple[QueryKind, ...] = (
    "factual", "conceptual", "comparison", "summary", "exploratory"
)  # fmt: skip
"""The classes of the head; page queries are recognised by their locator."""


def classify_intent(text: str, *, language: str, vector: Matrix | None = None) -> QueryKind:
    """Classify the intent of a query in which titles and names may be masked.

    ``vector`` is the query's embedding by the default embedder, where there is one.
    """
    words = normalized_query_words(text)
    found = scores("intent", words, cues=phrase_cues(words, language), vector=vector)
    return KINDS[int(found.argmax())]


def phrase_cues(words: list[str], language: str) -> list[bool]:
    """Return for each intent whether one of its phrases occurs.

    A query without phrases of its language, except factual ones, is matched with all tables.
    """
    for spoken in (language, ""):
        patterns = [phrase_pattern("intent", kind, language=spoken) for kind in KINDS]
        found = [has_phrase(pattern, words) for pattern in patterns]
        if any(found[1:]):
            break
    return found


MAX_TURNS = 3
MAX_ANSWER = 200
"""Characters of an earlier answer that are read."""
MAX_ELLIPTICAL = 8
"""Maximum words of a query whose opening alone can make it a follow-up."""


def recent_turns(history: Sequence[Turn]) -> tuple[Turn, ...]:
    """Return the last turns, with answers truncated."""
    return tuple([Turn(turn.question, turn.answer[:MAX_ANSWER]) for turn in history[-MAX_TURNS:]])


def is_followup(text: str, *, vector: Matrix | None = None, history: Sequence[Turn] = ()) -> bool:
    """Return whether a question cannot be understood without the conversation.

    ``vector`` is its embedding by the default embedder, where there is one.
    """
    words = normalized_query_words(text)
    if not history or not words:
        return False
    return bool(scores("followup", words, cues=followup_cues(words), vector=vector)[0] > 0)


def followup_cues(words: Sequence[str]) -> list[bool]:
    """Return form features of a query, in any language with word lists."""
    content = [word for word in words if is_content_bearing(word) and not word.isdecimal()]
    short = len(words) <= MAX_ELLIPTICAL
    return [
        not content,
        len(content) == 1,
        _only_asks(words),
        short and has_phrase(phrase_pattern("followup", "openings"), words),
        len(words) <= MAX_ELLIPTICAL // 2,
        short,
    ]


def is_elliptical(query: TokenizedQuery) -> bool:
    """Return whether a follow-up has no subject of its own: "and on page 12?", "why?"."""
    words = normalized_query_words(query.clean)
    if len(words) > MAX_ELLIPTICAL:
        return False
    return has_phrase(phrase_pattern("followup", "openings"), words) or not any(
        map(is_content_bearing, words)
    )


def has_only_question_words(query: TokenizedQuery) -> bool:
    """Return whether there are only question words: "why?", "et quand ?"."""
    return _only_asks(normalized_query_words(query.clean))


def names_only_a_subject(*beside: str, prepositions: bool = False) -> bool:
    """Return whether the words beside a subject ask nothing about it: "and a …?".

    With ``prepositions`` nor does a preposition: "and in …?".
    """
    words = normalized_query_words(" ".join(beside))
    names = ("instead", "prepositions") if prepositions else ("instead",)
    # Of one language: "en" of "qu'en est-il" stands beside no subject in Spanish.
    return any(
        frozenset().union(*(table[name].split() for name in names)).issuperset(words)
        for table in _tables()
    )


def follows_preposition(before: str) -> bool:
    """Return whether the words before a name or number end with a preposition: "… in the"."""
    words = normalized_query_words(before)
    while words and words[-1] in _words("articles"):
        words = words[:-1]
    return bool(words) and words[-1] in _words("prepositions")


def asks_what_it_is(query: TokenizedQuery) -> bool:
    """Return whether a question asks what something is."""
    return has_phrase(
        phrase_pattern("followup", "definitions"), normalized_query_words(query.clean)
    )


def may_ask_for_definition(query: TokenizedQuery) -> bool:
    """Return whether a question asks what something is, or only names it: "explain kedges"."""
    words = normalized_query_words(query.clean)
    asking = word_list("quoth.query", "asking", "questions")
    return asks_what_it_is(query) or asking.isdisjoint(words[:1])


def is_content_bearing(word: str) -> bool:
    """Return whether a normalized word of a query is a content word."""
    return len(word) > 1 and word not in FUNCTION_WORDS and word not in _words("empty")


def _only_asks(words: Sequence[str]) -> bool:
    return 0 < len(words) <= MAX_ELLIPTICAL and _words("bare").issuperset(words)


def _tables() -> list[Mapping[str, Any]]:
    return [read_table("followup", language) for language in table_languages("followup")]


@cache
def _words(name: str) -> frozenset[str]:
    return frozenset(word for table in _tables() for word in table[name].split())
