"""A corpus as a library: indexed once, by the same path as any document, and kept.

It is kept under the hash of its content and of everything that shapes an index.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from hashlib import sha256

from quoth.bootstrap import open_engine
from quoth.core.settings import Settings
from quoth.core.types import Chars, ParsedDocument, SpanLocator
from quoth.engine import Engine
from quoth.evaluation.datasets import CorpusRow, corpus_hash
from quoth.pipeline.add import PIPELINE, make_entry
from quoth.pipeline.commit import write_batch
from quoth.pipeline.components import make_collection
from quoth.store.rows import Entry, digest
from quoth.text.analyzer import ANALYSER

COLLECTION = "eval"
BATCH_DOCUMENTS = 128

Progress = Callable[[str, int, int], None]
"""Receives what is being done, how many are done, and of how many."""


@asynccontextmanager
async def open_corpus(
    corpus: Sequence[CorpusRow], *, settings: Settings, progress: Progress
) -> AsyncIterator[Engine]:
    """Open an engine on a library that holds exactly this corpus, one document per row."""
    key = sha256(
        f"{corpus_hash(tuple(corpus))} {ANALYSER} {PIPELINE} {settings.chunk_tokens} "
        f"{settings.embedder or settings.profile}".encode()
    ).hexdigest()[:16]
    kept = settings.model_copy(
        update={"home": settings.home / "eval" / key, "collection": COLLECTION}
    )
    async with open_engine(kept) as engine:
        await index_corpus(engine, corpus, progress=progress)
        yield engine


async def index_corpus(engine: Engine, corpus: Sequence[CorpusRow], *, progress: Progress) -> None:
    """Add every row of a corpus as a document of its own, unless it is there already."""
    parts = engine.parts
    collection = await asyncio.to_thread(make_collection, parts, COLLECTION)
    ready = await asyncio.to_thread(parts.catalogue.ready_ids, collection)
    rows = [(digest(collection.id, row.id), row) for row in corpus]
    missing = [(key, row) for key, row in rows if key not in ready]
    for at in range(0, len(missing), BATCH_DOCUMENTS):
        progress("Indexing", at, len(missing))
        batch: list[Entry] = []
        for key, row in missing[at : at + BATCH_DOCUMENTS]:
            text = row.text if row.text.strip() else row.title or row.id
            reading = ParsedDocument(
                kind="text",
                title=row.title,
                text=text,
                places=(SpanLocator(0, len(text), Chars(0, len(text))),),
            )
            batch.append(
                await asyncio.to_thread(
                    make_entry,
                    parts,
                    collection,
                    reading=reading,
                    source=row.id,
                    sha=key,
                    key=key,
                )
            )
        async for _ in write_batch(parts, collection, batch=batch):
            pass
    if missing:
        await parts.open_index(collection.table).optimize()
    await engine.settle()
