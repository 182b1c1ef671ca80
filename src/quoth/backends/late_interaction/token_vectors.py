"""Token vectors of chunks, computed in the same pass as the chunk embedding.

Vectors of a model that was not trained for late interaction are centred and rotated before they are
reduced to signs. The mean of all token vectors is not informative, so it is subtracted; it is
estimated on varied sentences, and no collection needs its own mean. The rotation distributes the
rest evenly over the components, so that one bit each is sufficient. Measurements:
docs/decisions/013-late-interaction-reranking.md.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np

from quoth.backends.late_interaction.encoding import (
    Encoding,
    Packed,
    binarize,
    multiply,
    normalize_rows,
)
from quoth.backends.late_interaction.token_store import TokenStore
from quoth.core.protocols import Matrix, Role, TokenRows
from quoth.core.replace_file import replacing
from quoth.core.types import Chunk

SEED = 7
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
    """An embedder that also returns token vectors."""

    name: str
    revision: str
    dimension: int

    async def embed_tokens(
        self, texts: Sequence[str], *, role: Role
    ) -> tuple[Matrix, list[Matrix]]:
        """Return a unit row per text, and the vectors of each text's own tokens."""
        ...


class TokenSpace:
    """Token space of one model, the same for all documents and tenants.

    ``form`` is None for an embedder's tokens; for a model trained for late interaction it is the
    encoding of its vectors, which are then not transformed. ``folder`` keeps the mean of the tokens
    of `COMMON`, so that no later process computes it; None keeps nothing.
    """

    def __init__(
        self,
        embedder: TokenEmbedder,
        *,
        form: Encoding | None = None,
        folder: Path | None = None,
    ) -> None:
        self.name = embedder.name
        self.revision = embedder.revision
        self.form = form or binarize(embedder.dimension)
        self._embedder = embedder
        self._turned: Matrix | None = None
        if form is None:
            # A fixed random rotation, shape (dimension, dimension).
            random = np.random.default_rng(SEED).normal(size=[embedder.dimension] * 2)
            self._turned = np.linalg.qr(random)[0].astype(np.float32)
        self._common: Matrix | None = None
        model = f"{embedder.name}-{embedder.revision[:16]}"
        self._kept = folder and folder / mean_name(model, COMMON)

    async def question(self, text: str, *, tokens: Matrix | None = None) -> Matrix:
        """Return the unit vectors of a question's tokens, shape (tokens, dimension).

        ``tokens`` are those of `Embedder.encode`; None computes them.
        """
        if tokens is None:
            _, (tokens,) = await self._embedder.embed_tokens([text], role="query")
        return normalize_rows(self._cleared(tokens, await self._mean()))

    async def documents(self, texts: Sequence[str]) -> tuple[Matrix, list[Packed]]:
        """Return the unit vectors of documents' texts, and the tokens of each in the stored form.

        Raises EmbeddingError.
        """
        rows, tokens = await self._embedder.embed_tokens(texts, role="document")
        mean = await self._mean()
        return rows, await asyncio.to_thread(
            lambda: [self.form.pack(self._cleared(matrix, mean)) for matrix in tokens]
        )

    def _cleared(self, rows: Matrix, mean: Matrix) -> Matrix:
        """Subtract the mean and rotate."""
        return rows if self._turned is None else multiply(rows - mean, self._turned)

    async def _mean(self) -> Matrix:
        if self._turned is None:
            return _NOTHING
        if self._common is None and self._kept is not None:
            self._common = read_mean(self._kept, dimension=len(self._turned))
        if self._common is None:
            _, tokens = await self._embedder.embed_tokens(COMMON, role="document")
            self._common = np.concatenate(tokens).mean(axis=0).astype(np.float32)
            if self._kept is not None:
                await asyncio.to_thread(write_mean, self._kept, self._common)
        return self._common


NUMBER_BYTES = CHECK_BYTES = 4


def mean_name(model: str, sentences: Sequence[str]) -> str:
    """Return the name of the file: other sentences have another mean."""
    return f"{model}-{zlib.crc32(' '.join(sentences).encode()):08x}.mean"


def read_mean(path: Path, *, dimension: int) -> Matrix | None:
    """Return the mean that an earlier process wrote, None where it is missing or damaged."""
    content = b""
    with suppress(OSError):
        content = path.read_bytes()
    numbers, check = content[:-CHECK_BYTES], content[-CHECK_BYTES:]
    if len(numbers) != NUMBER_BYTES * dimension or check != _check(numbers):
        return None
    return np.frombuffer(numbers, "<f4").astype(np.float32)


def write_mean(path: Path, mean: Matrix) -> None:
    """Write the mean for later processes; where that fails, they compute it."""
    numbers = mean.astype("<f4").tobytes()
    with suppress(OSError), replacing(path) as draft:
        draft.write_bytes(numbers + _check(numbers))


def _check(numbers: bytes) -> bytes:
    return zlib.crc32(numbers).to_bytes(CHECK_BYTES, "little")


MAKE = 1
"""Part of the folder's name; raise it when the same model would give other bits."""


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """Token vectors of chunks: made in the pass that embeds them, stored, computed if missing.

    ``store`` None computes always.
    """

    space: TokenSpace
    store: TokenStore | None

    async def embed(self, texts: Sequence[str]) -> tuple[Matrix, list[TokenRows]]:
        """Return documents' unit vectors, and their token vectors in the form for `put`.

        Raises EmbeddingError.
        """
        return await self.space.documents(texts)

    async def put(self, chunks: Sequence[Chunk], tokens: Sequence[TokenRows]) -> None:
        """Write the token vectors of chunks to disk; raises StorageFull and RerankError."""
        if self.store is None:
            return
        documents: dict[str, dict[int, TokenRows]] = {}
        for chunk, rows in zip(chunks, tokens, strict=True):
            documents.setdefault(chunk.document_id, {})[chunk.ordinal] = rows
        for document_id, by_ordinal in documents.items():
            await asyncio.to_thread(self.store.put, document_id, by_ordinal)

    async def add(self, chunks: Sequence[Chunk]) -> None:
        """Compute and write those that are not on the disk; raises EmbeddingError, StorageFull."""
        known = await self.stored(chunks)
        absent = [chunk for chunk in chunks if chunk.chunk_id not in known]
        if absent and self.store is not None:
            _, tokens = await self.space.documents([chunk.indexed for chunk in absent])
            await self.put(absent, tokens)

    async def delete(self, document_ids: Iterable[str]) -> None:
        """Remove documents from the disk."""
        if self.store is not None:
            await asyncio.to_thread(self.store.delete, list(document_ids))

    async def damaged(self) -> list[str]:
        """Return the names of files on the disk that are not as they were written."""
        return [] if self.store is None else await asyncio.to_thread(self.store.damaged)

    async def keep_only(self, document_ids: Iterable[str]) -> int:
        """Remove all other documents, of other models too; return their number."""
        if self.store is None:
            return 0
        return await asyncio.to_thread(self.store.keep_only, list(document_ids))

    async def stored(self, chunks: Sequence[Chunk]) -> dict[str, TokenRows]:
        """Return the token vectors of those chunks that are on the disk, by chunk id."""
        if self.store is None:
            return {}
        return await asyncio.to_thread(self.store.get, chunks)

    async def passages(self, chunks: Sequence[Chunk]) -> list[TokenRows]:
        """Return each chunk's tokens in the stored form, from disk or computed.

        Raises EmbeddingError.
        """
        known = await self.stored(chunks)
        absent = [chunk for chunk in chunks if chunk.chunk_id not in known]
        if absent:
            _, tokens = await self.space.documents([chunk.indexed for chunk in absent])
            for chunk, bits in zip(absent, tokens, strict=True):
                known[chunk.chunk_id] = bits
        return [known[chunk.chunk_id] for chunk in chunks]


def open_vectors(space: TokenSpace, *, folder: Path | None) -> TokenVectors:
    """Open the token vectors stored below a folder; None disables storage.

    Each model has a separate folder, so that vectors of two models are never mixed.
    """
    kept = None
    if folder is not None:
        name = f"{space.name}-{space.revision[:16]}-{MAKE}"
        kept = TokenStore(folder / name, width=space.form.width)
    return TokenVectors(space, store=kept)
