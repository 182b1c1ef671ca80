"""Components of the engine; `quoth.bootstrap` assembles them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from quoth.answering.prompts import PROMPTS, Prompt
from quoth.core.circuit_breaker import CircuitBreaker
from quoth.core.errors import IndexMismatch
from quoth.core.prices import LatencyEstimator
from quoth.core.protocols import (
    Embedder,
    EntailmentModel,
    Generator,
    Index,
    Reranker,
    SpanScorer,
    TokenVectorStore,
)
from quoth.core.settings import Settings
from quoth.core.trace import Trace
from quoth.core.types import Answer, IndexIdentity, ParsedDocument
from quoth.ingest.readers.metadata import EMPTY, Metadata
from quoth.ingest.readers.page_links import PageLinks
from quoth.ingest.sandbox.pages import PdfPages
from quoth.pipeline.answer_cache import AnswerCache
from quoth.pipeline.entity_index import OutlineCache
from quoth.store.catalogue import Catalogue
from quoth.store.ingest_jobs import Jobs
from quoth.store.rows import Collection
from quoth.text.analyzer import ANALYSER

Observe = Callable[[Trace, Answer | None], None]
"""Called after every answered query, and after every search, which has no answer."""


def no_op(_trace: Trace, _answer: Answer | None) -> None:
    """Do nothing."""


class FileParser(Protocol):
    """Parses files in a sandbox."""

    async def read(self, path: Path, given: Metadata = EMPTY) -> ParsedDocument:
        """Parse one file; ``given`` overrides its own metadata; raises DocumentError."""
        ...

    async def links(self, path: Path, address: str) -> PageLinks:
        """Read the links of a page that was fetched from an address; raises DocumentError."""
        ...

    async def close(self) -> None:
        """Stop the processes."""
        ...


@dataclass(frozen=True, slots=True)
class Components:
    """Components of an engine; ``open_index`` returns a table's index, opened once."""

    settings: Settings
    catalogue: Catalogue
    jobs: Jobs
    embedder: Embedder
    open_index: Callable[[str], Index]
    readers: FileParser
    pages: PdfPages
    outlines: OutlineCache
    reranker: Reranker | None = None
    tokens: TokenVectorStore | None = None
    spans: SpanScorer | None = None
    generator: Generator | None = None
    generation_disabled_reason: str = ""
    """Why an existing language model may not be used: the reason in `Answer.degraded`."""
    judge: EntailmentModel | None = None
    prompts: Mapping[str, Prompt] = field(default_factory=lambda: PROMPTS)
    operator_description: str = ""
    """The operator's description of the collections."""
    cache: AnswerCache = field(default_factory=AnswerCache)
    latency_estimator: LatencyEstimator = field(default_factory=LatencyEstimator)
    breakers: tuple[CircuitBreaker, ...] = ()
    observe: Observe = no_op
    verified_tables: set[str] = field(default_factory=set)
    """Index tables verified to be complete; later writes always reach them."""


def model_names(parts: Components) -> tuple[str, str, str, str]:
    """Return the names of embedder, reranker, generator and judge; empty if missing."""
    generator, embedder = parts.generator, parts.embedder
    return (
        f"{embedder.name} {embedder.revision}",
        parts.reranker.name if parts.reranker else "",
        f"{generator.provider}:{generator.model}" if generator else "",
        parts.judge.name if parts.judge else "",
    )


def embedding_fingerprint(embedder: Embedder) -> IndexIdentity:
    """Return the identity of an index built with this embedder."""
    return IndexIdentity(
        embedder=embedder.name,
        revision=embedder.revision,
        dimension=embedder.dimension,
        query_prefix=embedder.query_prefix,
        document_prefix=embedder.document_prefix,
        analyser=ANALYSER,
    )


def require_same_identity(collection: Collection, embedder: Embedder) -> None:
    """Raise IndexMismatch if a collection was built by another embedder or analyzer."""
    now = embedding_fingerprint(embedder)
    if collection.identity == now:
        return
    was = collection.identity
    what = (
        f"the model {was.embedder} (revision {was.revision[:12]}, {was.dimension} dimensions)"
        if (was.embedder, was.revision, was.dimension)
        != (now.embedder, now.revision, now.dimension)
        else f"the analyser {was.analyser}"
        if was.analyser != now.analyser
        else "other prefixes"
    )
    raise IndexMismatch(
        f"The collection '{collection.name}' was indexed with {what}; this process uses "
        f"{now.embedder} (revision {now.revision[:12]}, {now.dimension} dimensions, analyser "
        f"{now.analyser}). Rebuild it with: quoth --collection {collection.name} reindex, or name "
        "the model it was built with by --embedder."
    )
