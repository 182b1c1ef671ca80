"""Writes prepared documents: embed → summarize → index → commit, in batches.

The index is written first: until the catalogue commits, its rows have no document. Vectors of a
large document are kept while it is embedded, so that a stop costs one part at most; a part that is
missing or damaged is embedded again.
"""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from quoth.core.protocols import Embedder, Matrix, TokenRows, TokenVectorStore
from quoth.core.replace_file import replacing
from quoth.core.settings import Settings
from quoth.core.types import Chunk, Document
from quoth.ingest.contextual_embeddings import prefixed_vectors
from quoth.ingest.enrich.summaries import make_summaries
from quoth.pipeline.components import (
    Components,
    components_of,
    delete_tokens,
    embedding_fingerprint,
    model_names,
    put_tokens,
)
from quoth.store.rows import Collection, Entry, digest, tokens_folder

BATCH_CHUNKS = 512
EMBED_CHUNKS = 64

EmbeddedText = tuple[str, str]
"""The prefix and the text of a chunk."""
ChunkVectors = tuple[Matrix, TokenRows]
"""The vector of a chunk, and those of its tokens."""
NO_TOKENS: TokenRows = np.zeros((0, 0), np.uint8)


@dataclass(frozen=True, slots=True)
class IngestProgress:
    """Ingestion progress: files done of all files, and chunks of the current batch of files.

    ``source`` is the document of the batch that is embedded, ``own`` its chunks done and all.
    """

    source: str
    files: int
    of_files: int
    chunks: int
    of_chunks: int
    in_batch: int = 1
    own: tuple[int, int] = (0, 0)

    @property
    def done(self) -> float:
        """Return the files done, with the share of the batch that is."""
        return self.files + self.in_batch * self.chunks / max(1, self.of_chunks)


async def write_batch(
    parts: Components, collection: Collection, *, batch: Sequence[Entry]
) -> AsyncIterator[Document | IngestProgress]:
    """Embed, summarize, index and commit a batch; return its documents once stored.

    A large document comes alone: its vectors are saved part by part, so that a stop loses little.
    """
    now = await asyncio.to_thread(parts.catalogue.collection, collection.name)
    parts = await asyncio.to_thread(components_of, parts, now)
    chunks = [chunk for entry in batch for chunk in entry.chunks]
    documents = {entry.document.document_id: entry.document for entry in batch}
    known = await known_vectors(parts, now, batch)
    absent = [chunk for chunk in chunks if embedded_text(chunk) not in known]
    partial = None
    if len(batch) == 1 and len(absent) > EMBED_CHUNKS:
        model = model_names(parts)[0]
        partial = PartialVectors(parts.settings, chunks[0].document_id, model=model)
    for at in range(0, len(absent), EMBED_CHUNKS):
        done = len(chunks) - len(absent) + at
        now_read = documents[absent[at].document_id]
        counts = (absent[at].ordinal, now_read.chunks)
        yield IngestProgress(now_read.title, 0, 0, done, len(chunks), len(batch), counts)
        part = absent[at : at + EMBED_CHUNKS]
        saved = None if partial is None else await asyncio.to_thread(partial.load, part)
        own, tokens_of = saved or await embed_chunks(parts, part)
        if partial is not None and saved is None:
            await asyncio.to_thread(partial.save, part, (own, tokens_of))
        made = zip(own, tokens_of or [NO_TOKENS] * len(part), strict=True)
        known.update(zip(map(embedded_text, part), made, strict=True))
    rows = np.stack([known[embedded_text(chunk)][0] for chunk in chunks])
    tokens = [known[embedded_text(chunk)][1] for chunk in chunks] if parts.tokens else []
    summed = await asyncio.to_thread(_summarize, batch, rows)
    await commit_entries(
        parts, collection.name, entries=summed, chunks=chunks, vectors=rows, tokens=tokens
    )
    if partial is not None:
        await asyncio.to_thread(partial.delete)
    last = batch[-1].document
    counts = (last.chunks, last.chunks)
    yield IngestProgress(last.title, 0, 0, len(chunks), len(chunks), len(batch), counts)
    for entry in batch:
        yield entry.document


def embedded_text(chunk: Chunk) -> EmbeddedText:
    """Return what the vectors of a chunk depend on."""
    return chunk.prefix, chunk.text


async def known_vectors(
    parts: Components, collection: Collection, batch: Sequence[Entry]
) -> dict[EmbeddedText, ChunkVectors]:
    """Return the vectors of the versions that a batch replaces, by what they depend on.

    What has not changed between two versions of a document is not embedded again.
    """
    if collection.identity != embedding_fingerprint(parts.embedder):
        return {}
    sources = [entry.document.source for entry in batch]
    old = await asyncio.to_thread(parts.catalogue.chunks_from, collection, sources)
    vectors = await parts.open_index(collection.table).vectors(
        [chunk.chunk_id for chunk in old], exact=True
    )
    tokens: Mapping[str, TokenRows] = {}
    if parts.tokens is not None:
        tokens = await parts.tokens.stored(old)
    return {
        embedded_text(chunk): (vectors[chunk.chunk_id], tokens.get(chunk.chunk_id, NO_TOKENS))
        for chunk in old
        if chunk.chunk_id in vectors and (parts.tokens is None or chunk.chunk_id in tokens)
    }


def _summarize(batch: Sequence[Entry], vectors: Matrix) -> list[Entry]:
    done: list[Entry] = []
    at = 0
    for entry in batch:
        own = vectors[at : at + len(entry.chunks)]
        at += len(entry.chunks)
        made = make_summaries(entry.chunks, headings=entry.headings, vectors=own)
        done.append(replace(entry, summaries=made))
    return done


async def embed_chunks(
    parts: Components, chunks: Sequence[Chunk]
) -> tuple[Matrix, list[TokenRows]]:
    """Return chunk vectors, and token vectors where these are stored, from one pass.

    Raises EmbeddingError.
    """
    if parts.workers is not None:
        return await parts.workers.embed(chunks)
    return await embed_here(chunks, embedder=parts.embedder, tokens=parts.tokens)


async def embed_here(
    chunks: Sequence[Chunk], *, embedder: Embedder, tokens: TokenVectorStore | None
) -> tuple[Matrix, list[TokenRows]]:
    """Return the vectors of `embed_chunks`, computed by this process."""
    if tokens is None:
        return await chunk_vectors(chunks, embedder=embedder), []
    texts = [chunk.indexed for chunk in chunks]
    rows, made = await tokens.embed(texts)
    prefixes = [chunk.prefix for chunk in chunks]
    rows = await prefixed_vectors(texts, prefixes=prefixes, embedder=embedder, rows=rows)
    return rows, made


async def chunk_vectors(chunks: Sequence[Chunk], *, embedder: Embedder) -> Matrix:
    """Embed chunks for the index, shape (chunks, dimension); raises EmbeddingError."""
    return await prefixed_vectors(
        [chunk.indexed for chunk in chunks],
        prefixes=[chunk.prefix for chunk in chunks],
        embedder=embedder,
    )


async def _embed_again(
    parts: Components, chunks: Sequence[Chunk]
) -> tuple[Matrix, list[TokenRows]]:
    starts = range(0, len(chunks), EMBED_CHUNKS)
    made = [await embed_chunks(parts, chunks[at : at + EMBED_CHUNKS]) for at in starts]
    vectors = np.concatenate([rows for rows, _tokens in made])
    return vectors, [each for _rows, tokens in made for each in tokens]


async def commit_entries(
    parts: Components,
    name: str,
    *,
    entries: Sequence[Entry],
    chunks: Sequence[Chunk],
    vectors: Matrix,
    tokens: Sequence[TokenRows] = (),
) -> None:
    """Write chunks of ready entries to the index, then make them visible in the catalogue."""
    while True:
        collection = await asyncio.to_thread(parts.catalogue.collection, name)
        if collection.identity != embedding_fingerprint(parts.embedder):
            # Another embedder has rebuilt the index meanwhile.
            parts = await asyncio.to_thread(components_of, parts, collection)
            vectors, tokens = await _embed_again(parts, chunks)
        index = parts.open_index(collection.table)
        await index.upsert(chunks, vectors=vectors)
        await put_tokens(parts, chunks, tokens)
        replaced = await asyncio.to_thread(parts.catalogue.commit, collection, entries)
        if replaced is not None:
            await index.delete(replaced)
            await delete_tokens(parts, replaced)
            return
        # A rebuild activated another table meanwhile: the rows belong there.


STALE_DAYS = 7.0
"""Days after which the parts of a document that was never completed are deleted."""

Embedded = tuple[Matrix, list[TokenRows]]


class PartialVectors:
    """The embedded parts of one document; ``model`` names what embeds them."""

    def __init__(self, settings: Settings, document_id: str, *, model: str) -> None:
        self._folder = _folder(settings) / document_id
        self._model = model

    def load(self, chunks: Sequence[Chunk]) -> Embedded | None:
        """Return the vectors of these chunks and their tokens' if they were saved."""
        try:
            path = self._path(chunks)
            with path.open("rb") as file, np.load(file, allow_pickle=False) as saved:
                rows, ends = saved["rows"], saved["ends"]
                tokens = np.split(saved["tokens"], ends[:-1]) if len(ends) else []
        except (OSError, ValueError, KeyError, EOFError, BadZipFile):
            return None
        return (rows, tokens) if len(rows) == len(chunks) else None

    def save(self, chunks: Sequence[Chunk], embedded: Embedded) -> None:
        """Save the vectors of these chunks; without room they are embedded again after a stop."""
        rows, tokens = embedded
        path = self._path(chunks)
        with suppress(OSError):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with replacing(path) as draft, draft.open("wb") as file:
                np.savez(
                    file,
                    rows=rows,
                    ends=np.cumsum([len(each) for each in tokens], dtype=np.int64),
                    tokens=np.concatenate(tokens) if tokens else np.zeros(0, np.uint8),
                )

    def delete(self) -> None:
        """Delete all parts of the document."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _path(self, chunks: Sequence[Chunk]) -> Path:
        return self._folder / f"{digest(self._model, *(chunk.chunk_id for chunk in chunks))}.npz"


def delete_stale_vectors(settings: Settings) -> None:
    """Delete the parts of a tenant's documents that were not completed in `STALE_DAYS`."""
    with suppress(OSError):
        for folder in list(_folder(settings).iterdir()):
            if time.time() - folder.stat().st_mtime > STALE_DAYS * 86_400:
                shutil.rmtree(folder, ignore_errors=True)


def _folder(settings: Settings) -> Path:
    return tokens_folder(settings) / "partial"
