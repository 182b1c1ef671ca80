"""A corpus as a library: indexed once, by the same path as any document, and kept.

It is kept under the hash of its content and of everything that shapes an index.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from hashlib import sha256

from quoth.add import PIPELINE
from quoth.analyse import ANALYSER
from quoth.engine import Engine
from quoth.evaluation.datasets import Source, corpus_hash
from quoth.evaluation.retrieval import COLLECTION, index_corpus
from quoth.settings import Settings
from quoth.wiring import open_engine

Told = Callable[[str, int, int], None]
"""Takes what is being done, how many are done, and of how many."""


@asynccontextmanager
async def open_corpus(
    corpus: Sequence[Source], *, settings: Settings, progress: Told
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
