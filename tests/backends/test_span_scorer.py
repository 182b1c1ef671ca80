"""Sentences are scored by the kept token vectors of their chunks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from quoth.backends.late_interaction.token_space import TokenSpace, quantize_nbits
from quoth.backends.late_interaction.token_vectors import open_vectors
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
    assert [int(np.argmax(each)) for each in (found.whole, found.asked, found.pooled)] == [1] * 3


async def test_titles_in_front_do_not_shift_the_spans() -> None:
    titled = chunk("mill mill owl owl", prefix="salt salt")
    found = await spans(Words()).score("owl", [titled], spans=[(0, 0, 9), (0, 10, 17)])
    assert int(np.argmax(found.whole)) == 1


async def test_a_mean_vector_is_compared_by_its_direction() -> None:
    parts = [(0, 0, 8), (0, 0, 4), (0, 5, 8)]
    found = await spans(Words()).score("mill mill owl", [chunk("mill owl")], spans=parts)
    assert found.pooled == pytest.approx([3 / 10**0.5, 2 / 5**0.5, 1 / 5**0.5], abs=0.05)


async def test_what_is_asked_for_is_scored_by_itself() -> None:
    text, parts = "mill mill owl owl", [(0, 0, 9), (0, 10, 17)]
    question = "owl owl owl owl mill"
    opening = await spans(Words()).score(question, [chunk(text)], spans=parts)
    closing = await spans(Words()).score(question, [chunk(text)], spans=parts, asking=16)
    assert (int(np.argmax(opening.asked)), int(np.argmax(closing.asked))) == (1, 0)
