"""Components of the engine; `quoth.bootstrap` assembles them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple, Protocol

from cachetools import LRUCache

from quoth.answering.prompts import PROMPTS
from quoth.core.circuit_breaker import CircuitBreaker
from quoth.core.command_line import command_line
from quoth.core.errors import ConfigError, IndexMismatch, InputError, NotFound
from quoth.core.object_folder import ObjectFolder
from quoth.core.outline import CollectionOutline
from quoth.core.page_images import PageEmbedder
from quoth.core.protocols import (
    Embedder,
    EntailmentModel,
    Generator,
    Index,
    Matrix,
    Moderator,
    QueryTransformer,
    Reranker,
    TokenRows,
    TokenVectorStore,
)
from quoth.core.remote_parts import RemotePart
from quoth.core.sentence_scores import SentenceScorer, SpanScorer
from quoth.core.settings import Settings
from quoth.core.trace import LatencyEstimator, Trace
from quoth.core.types import Answer, Chunk, IndexIdentity, ParsedDocument, Passage
from quoth.pipeline.answer_cache import AnswerCache
from quoth.pipeline.unread import why_empty
from quoth.query.entity_index import EntityIndex, build_entity_index
from quoth.store.catalogue import Catalogue
from quoth.store.history import AnswerMeasures
from quoth.store.ingest_jobs import Jobs
from quoth.store.rows import Collection, IndexBuild
from quoth.text.analyzer import ANALYSER
from quoth.text.links import opens_page

if TYPE_CHECKING:
    from quoth.ingest.readers.metadata import Metadata
    from quoth.ingest.readers.page_links import PageLinks
    from quoth.ingest.sandbox.parent import PdfPages

MAX_ENTRIES = 8
"""Maximum number of cached look-ups, one per set of collections."""


def with_pages(passages: Sequence[Passage], catalogue: Catalogue) -> list[Passage]:
    """Return passages with the texts of those documents that open as pages."""
    ids = {each.document.document_id for each in passages if opens_page(each.document)}
    pages = {document_id: catalogue.stored_text(document_id) for document_id in ids}
    return [replace(each, page=pages.get(each.document.document_id, "")) for each in passages]


class CollectionView(NamedTuple):
    """The collections that a query searches, with their outlines and names."""

    collections: Sequence[tuple[Collection, CollectionOutline]]
    names: EntityIndex


class OutlineCache:
    """Outlines of one catalogue's collections, with their look-up tables."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._names: LRUCache[tuple[str, ...], tuple[str, EntityIndex]] = LRUCache(MAX_ENTRIES)
        self._alone = Lock()  # queries are analysed in threads

    def read(self, names: Sequence[str]) -> CollectionView:
        """Return the named collections with their outlines; raises NotFound."""
        found = []
        for name in names:
            collection = self._catalogue.collection(name)
            outline = self._catalogue.collection_outline(collection)
            if not outline.documents:
                raise NotFound(why_empty(self._catalogue, collection))
            found.append((collection, outline))
        outlines = [outline for _, outline in found]
        whole = outlines[0] if len(outlines) == 1 else _merge_outlines(outlines)
        ids = tuple(each.id for each, _outline in found)
        with self._alone:
            version, index = self._names.get(ids, ("", EntityIndex()))
            if version != whole.version:
                labels = {}
                for collection, _outline in found:
                    labels.update(self._catalogue.labels(collection))
                index = build_entity_index(whole, labels=labels)
                self._names[ids] = whole.version, index
        return CollectionView(found, index)


def _merge_outlines(outlines: Sequence[CollectionOutline]) -> CollectionOutline:
    """Merge outlines into one, for queries over several collections."""
    return CollectionOutline(
        version=" ".join(outline.version for outline in outlines),
        languages=tuple(
            dict.fromkeys(language for outline in outlines for language in outline.languages)
        ),
        documents=tuple(document for outline in outlines for document in outline.documents),
        headings=tuple(heading for outline in outlines for heading in outline.headings),
        speakers=tuple(speaker for outline in outlines for speaker in outline.speakers),
    )


class Observe(Protocol):
    """Called after every answered query, and after every search, which has no answer."""

    def __call__(
        self, trace: Trace, answer: Answer | None, *, measures: AnswerMeasures | None = None
    ) -> None:
        """Observe the timings, and the answer with its measures, None for a cached one."""
        ...


def no_op(trace: Trace, answer: Answer | None, *, measures: AnswerMeasures | None = None) -> None:
    """Do nothing."""


class FileParser(Protocol):
    """Parses files in a sandbox."""

    async def read(self, path: Path, given: Metadata = ...) -> ParsedDocument:
        """Parse one file; ``given`` overrides its own metadata; raises DocumentError."""
        ...

    async def links(self, path: Path, address: str) -> PageLinks:
        """Read the links of a page that was fetched from an address; raises DocumentError."""
        ...

    async def close(self) -> None:
        """Stop the processes."""
        ...


class OtherEmbedders(Protocol):
    """Opens the components of the embedders that other indexes were built with."""

    def remote(self, build: IndexBuild) -> tuple[RemotePart, ...]:
        """Return the components on servers that an index needs; raises ConfigError."""
        ...

    def open(self, build: IndexBuild) -> Components:
        """Return the tenant's components, opened once; raises ConfigError, MissingExtra."""
        ...


class IngestWorkers(Protocol):
    """Processes, also on other machines, that read files and embed chunks for this one."""

    async def read(self, path: Path, given: Metadata = ...) -> ParsedDocument:
        """Parse one file as `FileParser` does."""
        ...

    async def embed(self, chunks: Sequence[Chunk]) -> tuple[Matrix, list[TokenRows]]:
        """Return what `quoth.pipeline.commit.embed_chunks` does; raises EmbeddingError."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedComponents:
    """Components of a process, which its tenants share.

    A tenant may add the breaker of its reranker, and has no sentence scorer without token vectors.
    """

    readers: Callable[[], FileParser]
    pages: Callable[[], PdfPages]
    page_embedder: PageEmbedder | None = None
    """What compares the question with pictures of pages."""
    transformer: QueryTransformer | None = None
    """What rewords a query before it is searched."""
    sentences: Embedder | None = None
    """What embeds the sentences of passages and answers where ``embedder`` is on a server."""
    remote: tuple[RemotePart, ...] = ()
    """The components on servers, beside language models."""
    files: ObjectFolder | None = None
    """The storage of uploaded files that several machines share; None: the home folder."""
    workers: IngestWorkers | None = None
    """Who reads and embeds documents; None: this process."""
    sentence_scorer: SentenceScorer | None = None
    generator: Generator | None = None
    small: Generator | None = None
    """A smaller language model for reading and rewording queries: ask `task_model`."""
    request_models: tuple[Generator, ...] = ()
    """Further language models that a request may name."""
    judge: EntailmentModel | None = None
    moderator: Moderator | None = None
    prompts: Mapping[str, str] = field(default_factory=lambda: PROMPTS)
    operator_description: str = ""
    """The operator's description of the collections."""
    cache: AnswerCache = field(default_factory=AnswerCache)
    latency_estimator: LatencyEstimator = field(default_factory=LatencyEstimator)
    breakers: tuple[CircuitBreaker, ...] = ()
    observe: Observe = no_op


@dataclass(frozen=True, slots=True, kw_only=True)
class Components(SharedComponents):
    """Components of an engine; ``open_index`` returns a table's index, opened once."""

    settings: Settings
    catalogue: Catalogue
    jobs: Jobs
    embedder: Embedder
    open_index: Callable[[str], Index]
    outlines: OutlineCache
    shared_tables: Callable[[], Mapping[str, float]] = dict
    """The tables of an index on shared storage, and when each was last written to."""
    embedder_setting: str = ""
    """The setting that opens the embedder again, as the catalogue stores it."""
    others: OtherEmbedders | None = None
    """The embedders of collections that another one than ``embedder`` indexed."""
    reranker: Reranker | None = None
    tokens: TokenVectorStore | None = None
    """Token vectors of the embedder, from the pass that embeds a chunk."""
    rerank_tokens: tuple[TokenVectorStore, ...] = ()
    """Token vectors of rerankers with a model of their own (ColBERT)."""
    spans: SpanScorer | None = None
    generation_disabled_reason: str = ""
    """Why an existing language model may not be used: the reason in `Answer.degraded`."""
    verified_tables: set[str] = field(default_factory=set)
    """Index tables verified to be complete; later writes always reach them."""

    @property
    def task_model(self) -> Generator | None:
        """Return the language model for small tasks: the small one, else the generator."""
        return self.small or self.generator

    @property
    def models(self) -> tuple[Generator, ...]:
        """Return the language models that there are."""
        own = (self.generator, self.small, *self.request_models)
        return tuple(each for each in own if each is not None)

    def model_named(self, name: str) -> Generator:
        """Return the model for writing that is named PROVIDER, MODEL or PROVIDER:MODEL.

        Raises InputError for one that a request may not name.
        """
        for each in (self.generator, *self.request_models):
            if each is not None and name in (
                f"{each.provider}:{each.model}",
                each.model,
                each.provider,
            ):
                return each
        raise InputError("There is no such language model here. `none` answers without one.")


def token_stores(parts: Components) -> list[TokenVectorStore]:
    """Return every store of token vectors."""
    own = [] if parts.tokens is None else [parts.tokens]
    return [*own, *parts.rerank_tokens]


async def delete_tokens(parts: Components, document_ids: Sequence[str]) -> None:
    """Delete the token vectors of documents."""
    for store in token_stores(parts):
        await store.delete(document_ids)


async def damaged_tokens(parts: Components) -> list[str]:
    """Return the names of files of token vectors that are not as they were written."""
    return [name for store in token_stores(parts) for name in await store.damaged()]


async def put_tokens(
    parts: Components, chunks: Sequence[Chunk], tokens: Sequence[TokenRows]
) -> None:
    """Write the token vectors of chunks: the embedder's, and those of rerankers, which compute."""
    if parts.tokens is not None:
        await parts.tokens.put(chunks, tokens)
    for store in parts.rerank_tokens:
        await store.add(chunks)


def model_names(parts: Components) -> tuple[str, str, str, str, str]:
    """Return the names of embedder, reranker, generator, judge and page model, empty if missing."""
    generator, embedder = parts.generator, parts.embedder
    return (
        f"{embedder.name} {embedder.revision}",
        parts.reranker.name if parts.reranker else "",
        f"{generator.provider}:{generator.model}" if generator else "",
        parts.judge.name if parts.judge else "",
        parts.page_embedder.name if parts.page_embedder else "",
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


def make_collection(parts: Components, name: str) -> Collection:
    """Return the collection of that name, made for the components' embedder if it is not there."""
    return parts.catalogue.make_collection(
        name,
        identity=embedding_fingerprint(parts.embedder),
        embedder=parts.embedder_setting,
    )


def components_of(parts: Components, collection: Collection) -> Components:
    """Return the components with the embedder that built the collection's index.

    The first use opens the embedder, which blocks. Raises IndexMismatch where it cannot be opened.
    """
    if collection.identity == embedding_fingerprint(parts.embedder):
        return parts
    if parts.others is not None and collection.embedder:
        try:
            other = parts.others.open(collection.build)
        except ConfigError as error:
            raise IndexMismatch(
                f"The collection '{collection.name}' was indexed with "
                f"{collection.identity.embedder}, which cannot be opened here. {error}"
            ) from error
        require_same_identity(collection, other.embedder, settings=parts.settings)
        return other
    require_same_identity(collection, parts.embedder, settings=parts.settings)
    return parts


def require_same_identity(
    collection: Collection, embedder: Embedder, *, settings: Settings
) -> None:
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
    rebuild = command_line("reindex", settings, collection=collection.name)
    raise IndexMismatch(
        f"The collection '{collection.name}' was indexed with {what}; this process uses "
        f"{now.embedder} (revision {now.revision[:12]}, {now.dimension} dimensions, analyser "
        f"{now.analyser}). Rebuild it with: {rebuild}, or name the model it was built with by "
        "--embedder."
    )
