"""Sentences are scored by the kept token vectors of their chunks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from quoth.backends.late_interaction.encoding import quantize_nbits
from quoth.backends.late_interaction.token_vectors import TokenSpace, open_vectors
from quoth.backends.rerankers.late_interaction import LateSpans
from quoth.core.protocols import Matrix, Role
from quoth.core.types import Chars, Chunk

WORDS = ("mill", "owl", "corn", "salt")


class Words:
    """An embedder whose tokens are words, each with a direction of its own."""

    name = "words"
    revision = "1"
    dimension = len(WORDS)

    def __init__(self) -> None:
        self.read: list[str] = []

    async def embed_tokens(
        self, texts: Sequence[str], *, role: Role
    ) -> tuple[Matrix, list[Matrix]]:
        self.read += texts if role == "document" else []
        tokens = [
            np.array([[word == each for each in WORDS] for word in text.split()], np.float32)
            for text in texts
        ]
        return np.ones((len(texts), self.dimension), np.float32), tokens


def chunk(text: str, *, at: int = 0, prefix: str = "") -> Chunk:
    place = Chars(0, len(text))
    return Chunk(f"c{at}", "d", at, 0, len(text), text, place, "text", prefix=prefix)


def space(embedder: Words) -> TokenSpace:
    return TokenSpace(embedder, form=quantize_nbits(len(WORDS)))


def spans(embedder: Words, folder: Path | None = None) -> LateSpans:
    return LateSpans(open_vectors(space(embedder), folder=folder))


async def test_the_span_that_holds_the_word_is_nearest() -> None:
    text = "mill mill owl owl corn corn"
    found = await spans(Words()).score(
        "owl", [chunk(text)], spans=[(0, 0, 9), (0, 10, 17), (0, 18, 27)]
    )
    assert int(np.argmax(found)) == 1


async def test_titles_in_front_do_not_shift_the_spans() -> None:
    titled = chunk("mill mill owl owl", prefix="salt salt")
    found = await spans(Words()).score("owl", [titled], spans=[(0, 0, 9), (0, 10, 17)])
    assert int(np.argmax(found)) == 1
