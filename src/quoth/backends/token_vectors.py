"""The vectors of single tokens, made by the embedder in the pass that embeds the chunk.

Those of a model that was not trained to compare tokens are centred and turned before their signs
are kept. What all its token vectors have in common says nothing about a passage, so it is taken
away; it is measured on sentences of many kinds, and no collection needs a mean of its own.
Turning spreads what is left evenly over the components, so that one bit of each is enough. The
figures are in docs/decisions/013-reranking.md.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np

from quoth.backends.maxsim import unit
from quoth.backends.token_bits import Form, signs
from quoth.backends.token_store import Packed, TokenStore
from quoth.protocols import Matrix, Role
from quoth.types import Chunk

MAKE = 1
"""Part of the folder's name; raise it when the same model would give other bits."""
SEED = 7
PENDING = 4096
"""Documents whose vectors wait for being written; more are never in one batch."""
COMMON = (
    "The first chapter explains how a language model turns text into numbers.",
    "Le premier chapitre explique comment un modèle transforme un texte en nombres.",
    "In 2019 the company sold 3,400 cars, most of them in Germany and France.",
    "La loi prévoit que toute personne peut demander l'accès aux données qui la concernent.",
    "Die Wärme des Wassers steigt, bis es bei hundert Grad zu kochen beginnt.",
    "El profesor pregunta a los alumnos qué recuerdan de la última clase.",
    "Pressure on the wing grows with the square of the speed of the air.",
    "Cells of the immune system were treated with the drug for three weeks.",
    "Welcome back, everybody; today we talk about money, music and the history of Rome.",
    "Note: see Fig. 2 (page 14) for details, or call us at any time.",
)
"""Sentences about anything; what their tokens share is what all tokens share."""

_NOTHING: Matrix = np.zeros(0, np.float32)


@runtime_checkable
class TokenEmbedder(Protocol):
    """An embedder that also gives the vectors of the tokens."""

    name: str
    revision: str
    dimension: int

    async def embed_tokens(
        self, texts: Sequence[str], *, role: Role
    ) -> tuple[Matrix, list[Matrix]]:
        """Give a unit row per text, and the vectors of each text's own tokens."""
        ...


def titled(chunk: Chunk) -> str:
    """Give a chunk's text below the titles that lead to it."""
    return f"{chunk.prefix}\n{chunk.text}" if chunk.prefix else chunk.text


class TokenVectors:
    """Token vectors of chunks: made while they are embedded, kept on disk, computed if missing.

    At ingest: `embed` the chunks, `write` their documents just before the catalogue commits, and
    `delete` with the index. ``store`` None computes always. ``text_of`` gives what is embedded.
    ``form`` is None for the embedder's own tokens; for a model that was trained to compare
    tokens it says how its vectors, which then stay as they are, are kept.
    """

    def __init__(
        self,
        embedder: TokenEmbedder,
        *,
        store: TokenStore | None,
        text_of: Callable[[Chunk], str] = titled,
        form: Form | None = None,
    ) -> None:
        self._embedder = embedder
        self._store = store
        self._text_of = text_of
        self._pending: dict[str, dict[int, Packed]] = {}
        self._common: Matrix | None = None
        self._turned = _rotation(embedder.dimension) if form is None else None
        self.form = form or signs(embedder.dimension)

    async def embed(self, chunks: Sequence[Chunk]) -> Matrix:
        """Give the chunks' unit vectors, as `Embedder.embed` does, and note their tokens'.

        Raises EmbeddingError.
        """
        rows, tokens = await self._embedder.embed_tokens(
            [self._text_of(chunk) for chunk in chunks], role="document"
        )
        for chunk, bits in zip(chunks, await self._packed(tokens), strict=True):
            self._pending.setdefault(chunk.document_id, {})[chunk.ordinal] = bits
        while len(self._pending) > PENDING:  # left over from documents that were given up
            del self._pending[next(iter(self._pending))]
        return rows

    async def write(self, document_ids: Iterable[str]) -> None:
        """Put what was noted for these documents on disk; raises StorageFull and RerankError."""
        for document_id in document_ids:
            chunks = self._pending.pop(document_id, None)
            if chunks is not None and self._store is not None:
                await asyncio.to_thread(self._store.put, document_id, chunks)

    async def delete(self, document_ids: Iterable[str]) -> None:
        """Forget documents, here and on disk."""
        gone = list(document_ids)
        for document_id in gone:
            self._pending.pop(document_id, None)
        if self._store is not None:
            await asyncio.to_thread(self._store.delete, gone)

    async def question(self, text: str) -> Matrix:
        """Give the unit vectors of a question's tokens, shape (tokens, dimension)."""
        _, (tokens,) = await self._embedder.embed_tokens([text], role="query")
        return unit(self._cleared(tokens, await self._mean()))

    async def passages(self, chunks: Sequence[Chunk]) -> list[Packed]:
        """Give each chunk's tokens in the stored form, from disk or computed.

        Raises EmbeddingError.
        """
        known: dict[str, Packed] = {}
        if self._store is not None:
            known = await asyncio.to_thread(self._store.get, chunks)
        absent = [chunk for chunk in chunks if chunk.chunk_id not in known]
        if absent:
            texts = [self._text_of(chunk) for chunk in absent]
            _, tokens = await self._embedder.embed_tokens(texts, role="document")
            for chunk, bits in zip(absent, await self._packed(tokens), strict=True):
                known[chunk.chunk_id] = bits
        return [known[chunk.chunk_id] for chunk in chunks]

    def close(self) -> None:
        """Let go of the files."""
        if self._store is not None:
            self._store.close()

    async def _packed(self, tokens: Sequence[Matrix]) -> list[Packed]:
        mean = await self._mean()
        return await asyncio.to_thread(
            lambda: [self.form.pack(self._cleared(rows, mean)) for rows in tokens]
        )

    def _cleared(self, rows: Matrix, mean: Matrix) -> Matrix:
        """Take away what all tokens share, and turn what is left."""
        return rows if self._turned is None else np.matmul(rows - mean, self._turned)

    async def _mean(self) -> Matrix:
        if self._turned is None:
            return _NOTHING
        if self._common is None:
            _, tokens = await self._embedder.embed_tokens(COMMON, role="document")
            self._common = np.concatenate(tokens).mean(axis=0).astype(np.float32)
        return self._common


def open_vectors(
    embedder: TokenEmbedder,
    *,
    folder: Path | None,
    text_of: Callable[[Chunk], str] = titled,
    form: Form | None = None,
) -> TokenVectors:
    """Open the token vectors of an embedder, kept below a folder; None keeps nothing.

    Each model has a folder of its own there, so that vectors of two makes never meet.
    """
    kept = None
    if folder is not None:
        name = f"{embedder.name}-{embedder.revision[:16]}-{MAKE}"
        kept = TokenStore(folder / name, width=(form or signs(embedder.dimension)).width)
    return TokenVectors(embedder, store=kept, text_of=text_of, form=form)


def _rotation(dimension: int) -> Matrix:
    """Give a fixed random rotation, shape (dimension, dimension)."""
    random = np.random.default_rng(SEED).normal(size=(dimension, dimension))
    turned, _ = np.linalg.qr(random)
    return turned.astype(np.float32)
