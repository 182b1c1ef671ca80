"""Language identification: of documents, of passages and of queries."""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from quoth.core.errors import StorageFull
from quoth.text.stop_words import ENGLISH, FRENCH, query_stop_words

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

CONFIDENCE_FLOOR = 0.8
"""Probability among the languages asked for, below which the fallback is taken."""

SAMPLE, SAMPLES = 2000, 8
"""Characters of a text that the model looks at at once, and how often in a document."""

SINGLE_FLOOR = 0.7
"""The probability from which a single function word tells the language of a question."""
OTHER_FLOOR = 0.9
"""The same of a query in another language: of 7,000 judged English and French queries one is taken
for another language; .959 of German ones and .958 of Spanish ones are right."""

NO_LANGUAGE = "zxx"
"""What the model calls numbers and signs."""

NEIGHBOURS = ("de", "es", "it", "nl", "pt")
"""Languages that share function words with English and French."""

# Function words that only one language has, without those that English texts use as well.
_TELLING: Mapping[str, frozenset[str]] = MappingProxyType(
    {"en": ENGLISH - FRENCH, "fr": FRENCH - ENGLISH - {"car", "non", "plus", "via"}}
)

# Signs with which questions and exclamations of one language begin.
_SIGNS: Mapping[str, str] = MappingProxyType({"¿": "es", "¡": "es"})

# A sign of Chinese or Japanese counts as a word.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\d_]+")

# Neither elided ("l'état"), which French and Italian do alike, nor a part of a name.
_WHOLE_WORD = re.compile(r"[^\W\d_]+(?![’'\w])")


@cache
def _own_function_words() -> Mapping[str, frozenset[str]]:
    """Return those of the words above that the neighbouring languages do not use as well."""
    others = frozenset[str]().union(*map(query_stop_words, NEIGHBOURS))
    return {language: words - others for language, words in _TELLING.items()}


def detect_language(text: str, *, among: Sequence[str], fallback: str) -> str:
    """Return the language of a text, one of `among`, or the fallback when uncertain.

    Function words decide where they are clear, which takes microseconds; a statistical model
    (py3langid) decides the rest, and costs a few hundred milliseconds the first time.
    """
    languages = tuple(dict.fromkeys(among))
    if len(languages) < 2:
        return languages[0] if languages and text.strip() else fallback
    return _by_function_words(text, languages, _TELLING) or _by_model(text, languages) or fallback


def detect_query_language(text: str, *, among: Sequence[str], fallback: str) -> str:
    """Return the language of a query, one of `among` or another one that is clearly more likely.

    A sign of one language ("¿") tells it. The other one is of those whose stop words are known, and
    the query has one of them: "panna cotta recipe" may be asked in any language. Function words
    count more than the other words, which are often English terms: "Was ist Transfer Learning?" is
    German. Among English and French alone, half of German queries and nine tenths of Spanish ones
    are taken for one of the two.
    """
    languages = tuple(dict.fromkeys(among))
    if found := _by_function_words(text, languages, _own_function_words()):
        return found
    if sign := next((each for each in _SIGNS if each in text), ""):
        return _SIGNS[sign]
    if found := _by_most_function_words(text):
        return found
    likeliest = next(
        language for language, _ in _ranked(text[:SAMPLE]) if query_stop_words(language)
    )
    if not query_stop_words(likeliest).isdisjoint(_WORD.findall(text.casefold())):
        found = _by_model(text, (*languages, likeliest), floor=OTHER_FLOOR)
    return found or detect_language(text, among=languages, fallback=fallback)


def _by_function_words(
    text: str, languages: tuple[str, ...], telling: Mapping[str, frozenset[str]]
) -> str | None:
    """Return the language whose ``telling`` words are more than twice those of all others."""
    if len(languages) < 2 or any(language not in telling for language in languages):
        return None
    words = _WORD.findall(text[:SAMPLE].casefold())
    counts = {each: sum(word in telling[each] for word in words) for each in languages}
    best, second = sorted(languages, key=counts.__getitem__, reverse=True)[:2]
    return best if counts[best] > 2 * counts[second] else None


def _by_most_function_words(text: str) -> str | None:
    """Return the neighbouring language whose function words a query has most of.

    None where English or French has as many, and for a single one outside a question: "die
    casting". Abbreviations in capitals are none. The model decides between neighbours that have
    equally many, and whether a single word is English or French: "Hat trick?".
    """
    found = _WHOLE_WORD.findall(text[:SAMPLE])
    capitals = text.isupper()
    words = [each.casefold() for each in found if capitals or not each[1:].isupper()]
    counts = {
        language: sum(word in query_stop_words(language) for word in words)
        for language in (*_TELLING, *NEIGHBOURS)
    }
    most = max(counts.values())
    best = [language for language, count in counts.items() if count == most]
    if most < (1 if text.rstrip().endswith("?") else 2) or not _TELLING.keys().isdisjoint(best):
        return None
    if most == 1:
        return _by_model(text, (*best, *_TELLING), floor=SINGLE_FLOOR)
    return best[0] if len(best) == 1 else _by_model(text, tuple(best), floor=0)


def clear_language(text: str) -> str | None:
    """Return the language of more than half of the samples of a text, None without one.

    It is one of all that py3langid knows; each sample is in one with the `CONFIDENCE_FLOOR`. A text
    in English and French has the language of most of its function words.
    """
    step = max(SAMPLE, len(text) // SAMPLES)
    samples = [text[at : at + SAMPLE] for at in range(0, len(text), step)][:SAMPLES]
    whole = [sample for sample in samples if 2 * len(sample) >= min(len(text), SAMPLE)]
    ranked = (_model().rank(sample)[0] for sample in whole)
    found = Counter[str](language for language, score in ranked if score >= CONFIDENCE_FLOOR)
    del found[NO_LANGUAGE]
    most = next((each for each, count in found.items() if 2 * count > len(whole)), None)
    if most is None and len(found) > 1 and found.keys() <= _TELLING.keys():
        words = text.casefold().split()
        return max(found, key=lambda each: sum(map(_TELLING[each].__contains__, words)))
    return most


def _by_model(
    text: str, languages: tuple[str, ...], *, floor: float = CONFIDENCE_FLOOR
) -> str | None:
    ranked = _ranked(text[:SAMPLE])
    scores = {language: float(score) for language, score in ranked if language in languages}
    total = sum(scores.values())
    if not total:
        return None
    best = max(languages, key=lambda language: scores.get(language, 0.0))
    return best if scores[best] / total >= floor else None


@lru_cache(maxsize=16)  # A query is identified several times in a row.
def _ranked(sample: str) -> tuple[tuple[str, float], ...]:
    """Return all languages with their probabilities, the likeliest first."""
    return tuple(_model().rank(sample))


def _model() -> LanguageIdentifier:
    with _loading:  # once, however many threads need it first
        return _identifier()


_loading = threading.Lock()


@cache
def _identifier() -> LanguageIdentifier:
    # Imported on first use: loading the model can take longer than answering a query.
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    try:
        return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    except OSError as error:  # it unpacks its model into a temporary file
        raise StorageFull(
            f"The folder for temporary files cannot be written to ({error.strerror}). Free some "
            "space there, or name another folder in the variable TMPDIR."
        ) from error
