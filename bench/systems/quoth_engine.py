"""quoth end to end, as `quoth ask` runs it up to the generator: its own embedder, both indexes,
the catalogue's texts, neighbours and context. The environment names the shared model.

Chunks come ready-made, fifty consecutive ones to a document, so that neighbours exist.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np

from bench.corpus import Corpus
from bench.system import Found, Hit, Retrieve, Tools
from quoth.answering.context import build_context
from quoth.bootstrap import open_engine
from quoth.core.errors import QuothError
from quoth.core.load_settings import load_settings
from quoth.core.settings import Settings
from quoth.core.trace import Trace
from quoth.core.types import Chars, Chunk, Document
from quoth.engine import Engine
from quoth.pipeline.commit import BATCH_CHUNKS, commit_entries
from quoth.pipeline.components import embedding_fingerprint
from quoth.pipeline.retrieve import Request
from quoth.store.rows import Entry
from quoth.text.analyzer import estimate_tokens

DOCUMENT_CHUNKS = 50


def build(corpus: Corpus, *, folder: Path) -> None:
    """Commit the chunks in batches as `quoth add` does."""
    asyncio.run(
        add_chunks(corpus, settings=load_settings({"home": folder, "token_vectors": False}))
    )


def finish(folder: Path) -> None:
    """Copy the index for searching, as `quoth add` does when everything can be found already."""
    asyncio.run(_settle(load_settings({"home": folder, "token_vectors": False})))


async def _settle(settings: Settings) -> None:
    async with open_engine(settings) as engine:
        await engine.settle()


def load(folder: Path, *, tools: Tools, choices: Mapping[str, Any] | None = None) -> Retrieve:
    """Open the engine on an event loop of its own, which every client's thread asks.

    ``choices`` are fields of the plan that differ from its defaults.
    """
    opened: Future[tuple[Engine, asyncio.AbstractEventLoop]] = Future()
    serving = _serve(load_settings({"home": folder, "token_vectors": False}), opened=opened)
    threading.Thread(target=asyncio.run, args=(serving,), daemon=True).start()
    engine, loop = opened.result()

    def retrieve(query: str, limit: int) -> Found:
        request = Request(query, {**(choices or {}), "final_k": limit})
        asked = ask(engine, request=request, tools=tools)
        return asyncio.run_coroutine_threadsafe(asked, loop).result()

    return retrieve


async def _serve(
    settings: Settings, *, opened: Future[tuple[Engine, asyncio.AbstractEventLoop]]
) -> None:
    try:
        async with open_engine(settings) as engine:
            opened.set_result((engine, asyncio.get_running_loop()))
            await asyncio.Event().wait()
    except QuothError as error:
        opened.set_exception(error)


async def ask(engine: Engine, *, request: Request, tools: Tools) -> Found:
    """Retrieve for a question and build the context."""
    trace = Trace()
    found = await engine.retrieve(request, trace=trace)
    with trace.stage("context"):
        context = build_context(
            found.passages,
            max_tokens=found.plan.max_context_tokens,
            count_tokens=estimate_tokens,
            order=found.plan.context_order,
        )
    for stage, spent_ms in trace.timings_ms().items():
        tools.stages.add(stage, seconds=spent_ms / 1000)
    hits = tuple(Hit(hit.chunk_id, hit.score, hit.text) for hit in found.hits)
    return Found(hits=hits, context=context.text)


async def add_chunks(corpus: Corpus, *, settings: Settings) -> None:
    """Commit chunks in batches, without embedding."""
    async with open_engine(settings) as engine:
        parts = engine.parts
        identity = embedding_fingerprint(parts.embedder)
        collection = parts.catalogue.make_collection(settings.collection, identity=identity)
        batch: list[Entry] = []
        first = row = 0
        for entry in _entries(corpus):
            batch.append(entry)
            row += len(entry.chunks)
            if row - first >= BATCH_CHUNKS or row == len(corpus.ids):
                await commit_entries(
                    parts,
                    settings.collection,
                    entries=batch,
                    chunks=[chunk for each in batch for chunk in each.chunks],
                    vectors=np.ascontiguousarray(corpus.vectors[first:row]),
                )
                batch, first = [], row
        await parts.open_index(collection.table).optimize()


def _entries(corpus: Corpus) -> Iterator[Entry]:
    for begin in range(0, len(corpus.ids), DOCUMENT_CHUNKS):
        key = f"d{corpus.ids[begin]}"
        chunks = []
        at = 0
        for row in range(begin, min(begin + DOCUMENT_CHUNKS, len(corpus.ids))):
            text = corpus.texts[row] + "\n\n"
            end = at + len(text)
            chunks.append(
                Chunk(
                    chunk_id=corpus.ids[row],
                    document_id=key,
                    ordinal=row - begin,
                    start=at,
                    end=end,
                    text=text,
                    locator=Chars(start=at, end=end),
                    kind="text",
                )
            )
            at = end
        source = f"/library/{key}.txt"  # as `quoth add` writes it: the whole path
        document = Document(
            key, corpus.titles[begin], "text", "ready", len(chunks), language="en", source=source
        )
        yield Entry(document=document, sha256=key, labels=(), chunks=tuple(chunks))
