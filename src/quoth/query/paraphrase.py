"""Paraphrase detection for the semantic answer cache.

Cosine alone does not suffice: questions with another number, name or negation are as similar as
paraphrases. The words must be equal as well, after stemming and without what changes nothing:
politeness, articles, and openings that mean the same (``data/paraphrase.*.toml``). Other questions
get a new answer (docs/decisions/026-answer-cache.md).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache

from quoth.query.tokens import compile_phrases, read_table, table_languages
from quoth.text.analyzer import analyze, detect_language, normalize_name

MIN_COSINE = 0.98
"""Minimum cosine of the queries' vectors by the default embedder."""
MAX_LENGTH = 1000
"""Maximum characters; longer texts are compared by equality alone."""
_WORD = re.compile(r"[^\W\d_]+|\d+(?:[.,:]\d+)*|[%€£$+#<>=]")


def is_paraphrase(
    first: str, second: str, *, cosine: float, min_cosine: float = MIN_COSINE
) -> bool:
    """Return whether two questions share an answer; ``cosine`` compares their vectors."""
    return cosine >= min_cosine and have_equal_words(first, second)


def have_equal_words(first: str, second: str) -> bool:
    """Return whether two questions have the same words, except for meaningless ones."""
    if first.split() == second.split():
        return True
    if max(len(first), len(second)) > MAX_LENGTH:
        return False
    words = normalized_words(first)
    return bool(words) and words == normalized_words(second)


@lru_cache(maxsize=2000)
def normalized_words(text: str) -> tuple[str, ...]:
    """Return the stems of a question in order; names, numbers and negations unstemmed."""
    text = unicodedata.normalize("NFC", text).replace("’", "'")
    language = detect_language(text, among=table_languages("paraphrase"), fallback="en")
    raw = _WORD.findall(_spell_out(text))
    names = {normalize_name(word): word for word in raw[1:] if _is_name(word, text)}
    words = _canonical([normalize_name(word) for word in raw], language)
    return tuple([names.get(word) or _stem(word, language) for word in words])


def _spell_out(text: str) -> str:
    """Expand the contractions "n't", "'m" and "'re"."""
    text = re.sub(r"\b(can)not\b", r"\1 not", text, flags=re.IGNORECASE)
    text = re.sub(r"\b(?:won't)\b", "will not", text, flags=re.IGNORECASE)
    text = re.sub(r"\bcan't\b", "can not", text, flags=re.IGNORECASE)
    return re.sub(r"n't\b", " not", re.sub(r"'m\b", " am", re.sub(r"'re\b", " are", text)))


def _is_name(word: str, text: str) -> bool:
    """Return whether a word is a name by its capitals: "US" and "us" differ."""
    return not text.isupper() and word[0].isupper()


def _canonical(words: Sequence[str], language: str) -> list[str]:
    """Return the words without meaningless ones, with openings in canonical form."""
    drop, same = _patterns(language)
    text = "".join(f"{word} " for word in words)
    before = None
    while before != text:
        before = text
        text = drop.sub("", text)
    for pattern, stands_for in same:
        text, count = pattern.subn(stands_for, text, count=1)
        if count:
            break
    return text.split()


def _stem(word: str, language: str) -> str:
    if word in read_table("paraphrase", language)["negations"].split():
        return word
    return " ".join(analyze(word, language=language)) or word


@cache
def _patterns(language: str) -> tuple[re.Pattern[str], tuple[tuple[re.Pattern[str], str], ...]]:
    table = read_table("paraphrase", language)
    same = [
        (compile_phrases(row), " ".join(row[0].removeprefix("^").split()) + " ")
        for row in table["same"]
    ]
    return compile_phrases(table["drop"]), tuple(same)
