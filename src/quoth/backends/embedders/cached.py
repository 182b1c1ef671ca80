"""Remembers the vectors of questions that come again."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from functools import partial
from threading import Lock

import numpy as np

from quoth.core.protocols import Embedder, Matrix, Role

MOST = 500
"""Questions remembered; with 384 dimensions they take less than 1 MB."""


class CachedEmbedder:
    """An `Embedder` in front of another one that keeps the last ``most`` questions' vectors.

    Documents pass through: they come once. The rows that are kept cannot be written to, and
    every caller gets an array of its own.
    """

    def __init__(self, embedder: Embedder, *, most: int = MOST) -> None:
        self._embedder = embedder
        self._most = most
        self._rows: OrderedDict[str, Matrix] = OrderedDict()
        self._coming: dict[str, asyncio.Task[Matrix]] = {}
        self._ahead: set[str] = set()  # kept before anybody asked: the first who does is no hit
        self._alone = Lock()
        self.hits = 0
        self.misses = 0
        self.name = embedder.name
        self.revision = embedder.revision
        self.dimension = embedder.dimension
        self.max_tokens = embedder.max_tokens
        self.query_prefix = embedder.query_prefix
        self.document_prefix = embedder.document_prefix

    @property
    def inner(self) -> Embedder:
        """The embedder that computes."""
        return self._embedder

    async def embed(self, texts: Sequence[str], *, role: Role) -> Matrix:
        """Give one unit row per text, shape (texts, dimension); raises EmbeddingError."""
        if role != "query":
            return await self._embedder.embed(texts, role=role)
        known = self._look_up(texts)
        coming = self._foreseen([text for text in texts if text not in known])
        absent = list(dict.fromkeys(text for text in texts if text not in {**known, **coming}))
        if absent:
            rows = await self._embedder.embed(absent, role=role)
            known.update(self._keep(absent, rows))
        for text, task in coming.items():
            # Others may wait for it too: who gives up does not end it.
            (known[text],) = await asyncio.shield(task)
        result = np.empty((len(texts), self.dimension), np.float32)
        for at, text in enumerate(texts):
            result[at] = known[text]
        return result

    def foresee(self, text: str) -> None:
        """Begin to embed a question that is about to be asked for; who asks is told of failures."""
        with self._alone:
            if text in self._rows or text in self._coming:
                return
            task = asyncio.ensure_future(self._embedder.embed([text], role="query"))
            self._coming[text] = task
            self._ahead.add(text)
        task.add_done_callback(partial(self._arrived, text))

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text, without the role's prefix and special tokens."""
        return self._embedder.count_tokens(texts)

    def close(self) -> None:
        """Release threads and memory."""
        with self._alone:
            self._rows.clear()
        self._embedder.close()

    def _foreseen(self, texts: Sequence[str]) -> dict[str, asyncio.Task[Matrix]]:
        """Give what is under way in this event loop."""
        if not self._coming:
            return {}
        here = asyncio.get_running_loop()
        with self._alone:
            found = {text: self._coming[text] for text in texts if text in self._coming}
        return {text: task for text, task in found.items() if task.get_loop() is here}

    def _arrived(self, text: str, task: asyncio.Task[Matrix]) -> None:
        with self._alone:
            self._coming.pop(text, None)
        if not task.cancelled() and task.exception() is None:
            self._keep([text], task.result())
        else:
            with self._alone:
                self._ahead.discard(text)

    def _look_up(self, texts: Sequence[str]) -> dict[str, Matrix]:
        with self._alone:
            known = {text: self._rows[text] for text in texts if text in self._rows}
            for text in known:
                self._rows.move_to_end(text)
            hits = sum(text in known and text not in self._ahead for text in texts)
            self.hits += hits
            self.misses += len(texts) - hits
            self._ahead.difference_update(texts)
        return known

    def _keep(self, texts: Sequence[str], rows: Matrix) -> dict[str, Matrix]:
        kept = {}
        for text, row in zip(texts, rows, strict=True):
            # A view would hold the whole matrix of its batch in memory.
            kept[text] = row.copy()
            kept[text].setflags(write=False)
        with self._alone:
            self._rows.update(kept)
            for text in kept:
                self._rows.move_to_end(text)
            while len(self._rows) > self._most:
                text, _row = self._rows.popitem(last=False)
                self._ahead.discard(text)
        return kept
