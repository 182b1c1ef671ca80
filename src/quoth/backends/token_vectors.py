"""The vectors of single tokens, made by the embedder in the pass that embeds the chunk.

Those of a model that was not trained to compare tokens are centred and turned before their signs
are kept. What all its token vectors have in common says nothing about a passage, so it is taken
away; it is measured on sentences of many kinds, and no collection needs a mean of its own.
Turning spreads what is left evenly over the components, so that one bit of each is enough. The
figures are in docs/decisions/013-reranking.md.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np

from quoth.backends.maxsim import product, unit
from quoth.backends.token_bits import Form, signs
from quoth.backends.token_store import Packed, TokenStore
from quoth.protocols import Embedder, Matrix, Role
from quoth.types import Chunk

MAKE = 1
"""Part of the folder's name; raise it when the same model would give other bits."""
SEED = 7
NOTED_BYTES = 64_000_000
"""Memory for what waits to be kept: some 9,000 chunks, which is more than a book has."""
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


class TokenVectors:
    """Token vectors of chunks: made while they are embedded, kept on disk, computed if missing.

    `noting` stands in for the embedder and notes the tokens of every document's text; `keep`
    writes those of chunks before the catalogue commits them, `delete` goes with the index's.
    ``store`` None computes always. ``form`` is None for the embedder's own tokens; for a model
    that was trained to compare tokens it says how its vectors, which then stay as they are, are
    kept.
    """

    def __init__(
        self,
        embedder: TokenEmbedder,
        *,
        store: TokenStore | None,
        form: Form | None = None,
    ) -> None:
        self._embedder = embedder
        self._store = store
        self._noted: OrderedDict[str, Packed] = OrderedDict()
        self._bytes = 0
        self._common: Matrix | None = None
        self._turned = _rotation(embedder.dimension) if form is None else None
        self.form = form or signs(embedder.dimension)

    def noting(self, embedder: Embedder) -> Embedder:
        """Stand in for the embedder: the same vectors, and the tokens of documents are noted."""
        return NotingEmbedder(embedder, self)

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """Give the unit vectors of documents' texts and note their tokens; raises EmbeddingError.

        What nobody keeps is forgotten, the oldest first.
        """
        rows, tokens = await self._embedder.embed_tokens(texts, role="document")
        for text, packed in zip(texts, await self._packed(tokens), strict=True):
            self._forget(text)
            self._noted[text] = packed
            self._bytes += packed.nbytes
        while self._bytes > NOTED_BYTES:
            self._forget(next(iter(self._noted)))
        return rows

    async def keep(self, chunks: Sequence[Chunk], *, compute: bool = False) -> None:
        """Put what was noted for these chunks on disk; ``compute`` makes what was not noted.

        Raises StorageFull and RerankError, and EmbeddingError where it computes.
        """
        if self._store is None:
            return
        texts = [chunk.indexed for chunk in chunks]
        if compute and (absent := [text for text in texts if text not in self._noted]):
            await self.embed(absent)
        documents: dict[str, dict[int, Packed]] = {}
        for chunk, text in zip(chunks, texts, strict=True):
            if text in self._noted:
                documents.setdefault(chunk.document_id, {})[chunk.ordinal] = self._noted[text]
        for document_id, packed in documents.items():
            await asyncio.to_thread(self._store.put, document_id, packed)
        for text in texts:
            self._forget(text)

    async def delete(self, document_ids: Iterable[str]) -> None:
        """Remove documents from the disk."""
        if self._store is not None:
            await asyncio.to_thread(self._store.delete, list(document_ids))

    async def keep_only(self, document_ids: Iterable[str]) -> int:
        """Remove all other documents, also what other models kept of them; gives their number."""
        if self._store is None:
            return 0
        return await asyncio.to_thread(self._store.keep_only, list(document_ids), all_models=True)

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
            texts = [chunk.indexed for chunk in absent]
            _, tokens = await self._embedder.embed_tokens(texts, role="document")
            for chunk, bits in zip(absent, await self._packed(tokens), strict=True):
                known[chunk.chunk_id] = bits
        return [known[chunk.chunk_id] for chunk in chunks]

    def close(self) -> None:
        """Let go of the files."""
        if self._store is not None:
            self._store.close()

    def _forget(self, text: str) -> None:
        packed = self._noted.pop(text, None)
        self._bytes -= 0 if packed is None else packed.nbytes

    async def _packed(self, tokens: Sequence[Matrix]) -> list[Packed]:
        mean = await self._mean()
        return await asyncio.to_thread(
            lambda: [self.form.pack(self._cleared(rows, mean)) for rows in tokens]
        )

    def _cleared(self, rows: Matrix, mean: Matrix) -> Matrix:
        """Take away what all tokens share, and turn what is left."""
        return rows if self._turned is None else product(rows - mean, self._turned)

    async def _mean(self) -> Matrix:
        if self._turned is None:
            return _NOTHING
        if self._common is None:
            _, tokens = await self._embedder.embed_tokens(COMMON, role="document")
            self._common = np.concatenate(tokens).mean(axis=0).astype(np.float32)
        return self._common


class NotingEmbedder:
    """An `Embedder` that notes the tokens of documents while it embeds them."""

    def __init__(self, embedder: Embedder, vectors: TokenVectors) -> None:
        self._embedder = embedder
        self._vectors = vectors
        self.name = embedder.name
        self.revision = embedder.revision
        self.dimension = embedder.dimension
        self.max_tokens = embedder.max_tokens
        self.query_prefix = embedder.query_prefix
        self.document_prefix = embedder.document_prefix

    async def embed(self, texts: Sequence[str], *, role: Role) -> Matrix:
        """Give one unit row per text, shape (texts, dimension); raises EmbeddingError."""
        if role == "query":
            return await self._embedder.embed(texts, role=role)
        return await self._vectors.embed(texts)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text, without the role's prefix and special tokens."""
        return self._embedder.count_tokens(texts)

    def close(self) -> None:
        """Release threads and memory."""
        self._embedder.close()


def open_vectors(
    embedder: TokenEmbedder,
    *,
    folder: Path | None,
    form: Form | None = None,
) -> TokenVectors:
    """Open the token vectors of an embedder, kept below a folder; None keeps nothing.

    Each model has a folder of its own there, so that vectors of two makes never meet.
    """
    kept = None
    if folder is not None:
        name = f"{embedder.name}-{embedder.revision[:16]}-{MAKE}"
        kept = TokenStore(folder / name, width=(form or signs(embedder.dimension)).width)
    return TokenVectors(embedder, store=kept, form=form)


def _rotation(dimension: int) -> Matrix:
    """Give a fixed random rotation, shape (dimension, dimension)."""
    random = np.random.default_rng(SEED).normal(size=(dimension, dimension))
    turned, _ = np.linalg.qr(random)
    return turned.astype(np.float32)
