"""Answer cache: reuses answers to equal queries or paraphrases.

An answer is a function of the query and of everything in its `CacheKey`. Adding or deleting
documents changes the index version, and with it the key, so stale answers are never found. The
cache lives in this process only.

Of paraphrases, cosine alone does not suffice: questions with another number, name or negation are
as similar. The words must be equal as well, after stemming and without what changes nothing:
politeness, articles, and openings that mean the same (``data/paraphrase.*.toml``). Other questions
get a new answer (docs/decisions/026-answer-cache.md).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from threading import Lock
from time import monotonic

from cachetools import TTLCache

from quoth.core.plan import Plan
from quoth.core.protocols import Matrix
from quoth.core.types import Answer
from quoth.query.tokens import compile_phrases, read_table, table_languages
from quoth.text.analyzer import analyze, normalize_name
from quoth.text.language import detect_language

MAX_ANSWERS = 1000
"""Maximum number of cached answers of some 10 kB each."""
TTL_S = 300.0
"""Time to live of a cached answer, in seconds."""
MAX_COMPARED = 100
"""Most recent answers of one key that are compared with a paraphrase."""
MIN_COSINE = 0.98
"""Minimum cosine of the vectors of paraphrases, by the default embedder."""
MAX_LENGTH = 1000
"""Maximum characters of a paraphrase; longer texts are compared by equality alone."""
_WORD = re.compile(r"[^\W\d_]+|\d+(?:[.,:]\d+)*|[%€£$+#<>=]")


@dataclass(frozen=True, slots=True)
class CacheKey:
    """Everything but the query that an answer depends on.

    ``collections`` gives for each the name, the index version and its tuning, in request order;
    ``choices`` are the caller's own plan overrides, which plans for other kinds of query apply
    differently; ``models`` names embedder, reranker, generators and judge with their revisions;
    ``prompt`` is the text of the instructions and ``history`` a hash of the turns so far;
    ``session`` is empty where there is none.
    """

    tenant: str
    session: str
    history: str
    collections: tuple[tuple[str, ...], ...]
    filters: tuple[str, ...]
    choices: str
    plan: Plan
    models: tuple[str, ...]
    prompt: str
    checked: bool


@dataclass(frozen=True, slots=True)
class _CachedAnswer:
    question: str
    answer: Answer
    vector: Matrix | None


class AnswerCache:
    """Recent answers, found by an equal query or by a paraphrase.

    ``hits`` and ``misses`` count the look-ups.

    `CacheKey.plan` holds the caller's cache mode (`Plan.cache`), which is not "none". Thread-safe;
    ``clock`` gives seconds. A full cache evicts its oldest answer.
    """

    def __init__(self, *, clock: Callable[[], float] = monotonic) -> None:
        self._kept: TTLCache[tuple[CacheKey, str], _CachedAnswer] = TTLCache(
            MAX_ANSWERS, TTL_S, timer=clock
        )
        self._lock = Lock()
        self.hits = 0
        self.misses = 0

    def look_up(
        self, key: CacheKey, question: str, *, vector: Matrix | None = None
    ) -> Answer | None:
        """Return the answer to an equal query or to a paraphrase, and count the look-up.

        ``vector`` is the query's unit vector; without it, only an equal query is looked for.
        """
        found = self.find(key, question)
        if found is None and vector is not None:
            found = self.find_semantic(key, question, vector=vector)
        with self._lock:
            self.hits += found is not None
            self.misses += found is None
        return found

    def find(self, key: CacheKey, question: str) -> Answer | None:
        """Return the answer to an equal query, with ``cached`` set."""
        with self._lock:
            kept = self._kept.get((key, normalize(question)))
        return None if kept is None else replace(kept.answer, cached=True)

    def find_semantic(self, key: CacheKey, question: str, *, vector: Matrix) -> Answer | None:
        """Return the answer to a paraphrase of the query, with ``cached`` set.

        ``vector`` is the query's unit vector. Only in semantic mode and within a session.
        """
        if not self.shares(key):
            return None
        with self._lock:
            there = [each for (one, _), each in self._kept.items() if one == key]
        newest = there[::-1][:MAX_COMPARED]
        # Compared outside the lock, so that other threads need not wait.
        scored = [(float(each.vector @ vector), each) for each in newest if each.vector is not None]
        for cosine, each in sorted(scored, key=lambda pair: -pair[0]):
            if is_paraphrase(each.question, question, cosine=cosine):
                return replace(each.answer, cached=True)
        return None

    def shares(self, key: CacheKey) -> bool:
        """Return whether answers may be shared with paraphrases under this key."""
        return key.plan.cache == "semantic" and bool(key.session)

    def keep(
        self, key: CacheKey, question: str, *, answer: Answer, vector: Matrix | None = None
    ) -> None:
        """Store a complete answer; with the question's ``vector`` paraphrases find it, too."""
        whole = answer.status in ("answered", "partial") and not answer.degraded
        if not whole or answer.cached:
            return
        row = None
        if vector is not None and self.shares(key) and len(question) <= MAX_LENGTH:
            row = vector.copy()
        place = (key, normalize(question))
        with self._lock:
            # New entries are appended, so that the oldest is always first.
            self._kept.pop(place, None)
            self._kept[place] = _CachedAnswer(question, answer, row)

    def clear(self) -> None:
        """Remove all entries."""
        with self._lock:
            self._kept.clear()

    def __len__(self) -> int:
        return len(self._kept)


def normalize(question: str) -> str:
    """Normalize a query for comparison: single spaces, composed characters (NFC).

    Case stays: capitals distinguish names from words ("us", "US"), and query analysis uses them.
    """
    return " ".join(unicodedata.normalize("NFC", question).split())


# --- paraphrases -----------------------------------------------------------------------------


def is_paraphrase(first: str, second: str, *, cosine: float) -> bool:
    """Return whether two questions share an answer; ``cosine`` compares their vectors."""
    return cosine >= MIN_COSINE and have_equal_words(first, second)


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
