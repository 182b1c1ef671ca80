"""Embed chunks with extra weight on the titles of their sections."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from quoth.core.protocols import Embedder, Matrix

PREFIX_SHARE = 0.25
"""Weight of the prefix's vector against the text's 1 (docs/decisions/015)."""


async def prefixed_vectors(
    texts: Sequence[str],
    *,
    prefixes: Sequence[str],
    embedder: Embedder,
    share: float = PREFIX_SHARE,
    rows: Matrix | None = None,
) -> Matrix:
    """Embed texts and shift each vector towards that of its prefix; raises EmbeddingError.

    Return unit rows, shape (texts, dimension): ``text + share · prefix``, normalized. A text
    contains its prefix already, but one line among two hundred tokens weighs little in a mean over
    tokens. Every distinct prefix is embedded once; a text without one keeps its own vector.
    ``rows`` are the texts' own vectors where they are known already.
    """
    known = list(dict.fromkeys(prefix for prefix in prefixes if prefix.strip()))
    if rows is None:
        rows = await embedder.embed([*texts, *known], role="document")
    elif known:
        rows = np.concatenate([rows, await embedder.embed(known, role="document")])
    if not known or share <= 0:
        return rows[: len(texts)]
    at = {prefix: len(texts) + number for number, prefix in enumerate(known)}
    prefixed = [row for row, prefix in enumerate(prefixes) if prefix in at]
    mixed: Matrix = rows[: len(texts)].copy()
    mixed[prefixed] += np.float32(share) * rows[[at[prefixes[row]] for row in prefixed]]
    length = np.linalg.norm(mixed[prefixed], axis=1, keepdims=True)
    # A prefix opposite to the text at the same weight gives a zero vector.
    mixed[prefixed] /= np.where(length > 0, length, 1)
    return mixed
