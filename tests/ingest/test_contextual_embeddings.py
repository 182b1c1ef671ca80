"""A chunk's vector leans towards its title's."""

from __future__ import annotations

import numpy as np
import pytest

from quoth.ingest.contextual_embeddings import prefixed_vectors
from quoth.testing import HashEmbedder

TEXTS = ("Wings in a slipstream\nThe lift rises.", "Wings in a slipstream\nThe drag does not.")
TITLE = "Wings in a slipstream"


async def test_vectors_come_nearer_to_the_title() -> None:
    embedder = HashEmbedder()
    title = (await embedder.embed([TITLE], role="document"))[0]
    plain = await embedder.embed(TEXTS, role="document")
    leaning = await prefixed_vectors(TEXTS, prefixes=[TITLE, TITLE], embedder=embedder)
    assert (leaning @ title > plain @ title).all()


async def test_the_mixture_is_as_stated() -> None:
    embedder = HashEmbedder()
    title = (await embedder.embed([TITLE], role="document"))[0]
    plain = (await embedder.embed(TEXTS[:1], role="document"))[0]
    leaning = await prefixed_vectors(TEXTS[:1], prefixes=[TITLE], embedder=embedder, share=0.5)
    expected = plain + 0.5 * title
    assert leaning[0] == pytest.approx(expected / np.linalg.norm(expected), abs=1e-6)


async def test_a_text_without_prefix_keeps_its_vector() -> None:
    embedder = HashEmbedder()
    plain = await embedder.embed(TEXTS, role="document")
    rows = await prefixed_vectors(TEXTS, prefixes=[TITLE, " "], embedder=embedder)
    assert rows[1] == pytest.approx(plain[1])
