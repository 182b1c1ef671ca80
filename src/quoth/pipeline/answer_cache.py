"""Answers that may be given again: to the same question, or to one that asks the same.

An answer is a function of the question and of everything in its `Key`; a key that differs in any
part is another drawer. Adding or deleting documents changes the index version, and with it the
key, so that nothing stale is ever found. Everything is kept in this process alone.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from threading import Lock
from time import monotonic
from typing import Any, Literal

from cachetools import TTLCache

from quoth.core.plan import Plan
from quoth.core.protocols import Matrix
from quoth.core.types import Answer, Turn
from quoth.query.paraphrase import MAX_LENGTH, is_paraphrase, normalized_words

MOST = 1000
"""Answers kept; one is some 10 kB."""
LIFE_S = 300.0
"""Seconds that an answer is kept."""
NEAREST = 100
"""Answers of one key, the newest, that are compared with a question in other words."""

Sharing = Literal["session", "tenant"]
"""Who may be given an answer that was made for a question in other words."""


@dataclass(frozen=True, slots=True)
class CacheKey:
    """Everything but the question that an answer depends on; made by `key_of`.

    ``collections`` are names with their index versions, in the order asked; ``chosen`` are the
    asker's own choices, which a plan for another kind of question takes up in another way.
    """

    tenant: str
    session: str
    history: str
    collections: tuple[tuple[str, ...], ...]
    filters: tuple[str, ...]
    chosen: tuple[tuple[str, str], ...]
    plan: Plan
    models: tuple[str, ...]
    prompt: str
    checked: bool


@dataclass(frozen=True, slots=True)
class _Kept:
    question: str
    answer: Answer
    vector: Matrix | None


def key_of(
    *,
    plan: Plan,
    collections: Iterable[tuple[str, ...]],
    models: Iterable[str],
    filters: Iterable[str] = (),
    choices: Mapping[str, Any] | None = None,
    history: Sequence[Turn] = (),
    prompt: str = "",
    checked: bool = True,
    tenant: str = "",
    session: str = "",
) -> CacheKey:
    """Make the key of a request from plain values.

    ``collections`` gives of each the name, the index version and what else changes its answers,
    such as its tuning; ``models`` names embedder, reranker, generator and judge with their
    revisions; ``prompt`` is what a model is told to do; ``session`` is empty where there is none.
    """
    chosen = {name: repr(each) for name, each in (choices or {}).items() if each is not None}
    told = repr(tuple(history))
    return CacheKey(
        tenant=tenant,
        session=session,
        history=sha256(told.encode(errors="surrogatepass")).hexdigest(),
        collections=tuple(collections),
        filters=tuple(filters),
        chosen=tuple(sorted(chosen.items())),
        plan=plan,
        models=tuple(models),
        prompt=prompt,
        checked=checked,
    )


class AnswerCache:
    """Answers of the last minutes, found by the same question or by one that asks the same.

    `Key.plan` says what an asker wants of it (`Plan.cache`). Safe to use from several threads;
    ``clock`` gives seconds. What is full loses its oldest answer.
    """

    def __init__(
        self,
        *,
        most: int = MOST,
        life_s: float = LIFE_S,
        sharing: Sharing = "session",
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._sharing = sharing
        self._kept: TTLCache[tuple[CacheKey, str], _Kept] = TTLCache(most, life_s, timer=clock)
        self._lock = Lock()
        self.hits = 0
        self.misses = 0

    def find(self, key: CacheKey, question: str) -> Answer | None:
        """Return the answer to this very question, with ``cached`` set."""
        if key.plan.cache == "none":
            return None
        with self._lock:
            return self._given(self._kept.get((self._partition(key), normalize(question))))

    def find_semantic(self, key: CacheKey, question: str, *, vector: Matrix) -> Answer | None:
        """Return the answer to a question that asks the same in other words, with ``cached`` set.

        ``vector`` is the question's unit row. Only where the plan wants it; without a session
        nothing is shared, unless the cache is shared by the whole tenant.
        """
        if not self.shares(key):
            return None
        drawer = self._partition(key)
        with self._lock:
            there = [each for (one, _), each in self._kept.items() if one == drawer]
        newest = there[::-1][:NEAREST]
        # Compared outside the lock: nobody else need wait for it.
        scored = [(float(each.vector @ vector), each) for each in newest if each.vector is not None]
        for cosine, each in sorted(scored, key=lambda pair: -pair[0]):
            if is_paraphrase(each.question, question, cosine=cosine):
                with self._lock:
                    return self._given(each)
        return None

    def shares(self, key: CacheKey) -> bool:
        """Whether answers may be given to questions in other words under this key."""
        return key.plan.cache == "semantic" and (self._sharing == "tenant" or bool(key.session))

    def keep(
        self, key: CacheKey, question: str, *, answer: Answer, vector: Matrix | None = None
    ) -> bool:
        """Keep an answer that is whole; says whether it was.

        With the question's ``vector`` it can be found by other words, too.
        """
        whole = answer.status in ("answered", "partial") and not answer.degraded
        if key.plan.cache == "none" or not whole or answer.cached:
            return False
        row = None
        if vector is not None and self.shares(key) and len(question) <= MAX_LENGTH:
            row = vector.copy()
            normalized_words(question)  # remembered, so that the look-up need not read it
        place = (self._partition(key), normalize(question))
        with self._lock:
            # A new one goes to the end, so that the oldest is always the first.
            self._kept.pop(place, None)
            self._kept[place] = _Kept(question, answer, row)
        return True

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._kept.clear()

    def __len__(self) -> int:
        return len(self._kept)

    def _partition(self, key: CacheKey) -> CacheKey:
        return key if self._sharing == "session" else replace(key, session="")

    def _given(self, kept: _Kept | None) -> Answer | None:
        if kept is None:
            self.misses += 1
            return None
        self.hits += 1
        return replace(kept.answer, cached=True)


def normalize(question: str) -> str:
    """Return a question as questions are compared: single spaces, composed characters (NFC).

    Case stays: capitals tell names from words ("us", "US"), and the reading uses them.
    """
    return " ".join(unicodedata.normalize("NFC", question).split())
