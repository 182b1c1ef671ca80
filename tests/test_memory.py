"""What is kept to be quick for the next question is bounded, also where each question is new."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import numpy as np

from quoth.answering.extractive.score import stems_of
from quoth.answering.verification.tokens import _word
from quoth.backends.rerankers.late_interaction import _piece_starts
from quoth.store.database import open_database
from quoth.store.sqlite import KEPT_OPEN

MB = 1_000_000
WORDS = [f"{first}{second}ing" for first in "bcdfglmnprst" for second in ("ea", "oo", "ai")]


def text(number: int, *, words: int) -> str:
    return " ".join([str(number), *np.random.default_rng(number).choice(WORDS, words).tolist()])


def size(value: Iterable[object]) -> int:
    """Return the bytes of a collection and of what is in it, without small shared numbers."""
    own = sum(sys.getsizeof(each) for each in value if not isinstance(each, int) or each > 256)
    return sys.getsizeof(value) + (0 if type(value).__name__ == "array" else own)


def test_what_is_kept_of_texts_takes_few_megabytes() -> None:
    passages = [text(number, words=300) for number in range(8)]
    pieces = max(size(_piece_starts(each)) + sys.getsizeof(each) for each in passages)
    sentences = [text(number, words=25) for number in range(8)]
    stems = max(size(stems_of(each, "en")) + sys.getsizeof(each) for each in sentences)
    word = size(_word("Tokenizers", "en")) + 200
    for kept, one, most in (
        (_piece_starts, pieces, 6 * MB),
        (stems_of, stems, 8 * MB),
        (_word, word, 10 * MB),
    ):
        limit = kept.cache_info().maxsize
        assert limit is not None
        assert limit * one <= most, (kept, limit * one)


def test_a_few_questions_use_few_connections(tmp_path: Path) -> None:
    database = open_database(tmp_path / "catalogue.sqlite")
    together = Barrier(KEPT_OPEN)

    def connection(*, wait: bool) -> int:
        with database.reading() as opened:
            if wait:
                together.wait(30)
            return id(opened.connection.dbapi_connection)

    try:
        with ThreadPoolExecutor(KEPT_OPEN) as threads:
            used = list(threads.map(lambda _: connection(wait=True), range(KEPT_OPEN)))
        assert len(set(used)) == KEPT_OPEN
        assert len({connection(wait=False) for _ in used}) == 1
    finally:
        database.close()
