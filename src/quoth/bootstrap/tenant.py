"""The components of a tenant, and of each embedder that its indexes need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from threading import Lock
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar
from weakref import WeakSet

from quoth.backends.embedders.registry import embedder_setting, with_embedder
from quoth.backends.indexes.registry import store_place
from quoth.backends.states import check_parts
from quoth.bootstrap.embedding import (
    close_embedder,
    open_embedder,
    open_rerankers,
    reranker_names,
    token_space,
)
from quoth.core.command_line import command_line
from quoth.core.page_images import PageEmbedder, PagePictures
from quoth.core.protocols import (
    Embedder,
    Index,
    SparseEmbedder,
)
from quoth.core.remote_parts import RemotePart
from quoth.core.settings import Settings
from quoth.core.types import IndexIdentity
from quoth.pipeline.components import (
    Components,
    OutlineCache,
    SharedComponents,
    embedding_fingerprint,
)
from quoth.store.catalogue import Catalogue
from quoth.store.database import Database, connect
from quoth.store.ingest_jobs import Jobs
from quoth.store.rows import IndexBuild, index_folder, tokens_folder

if TYPE_CHECKING:
    from quoth.backends.late_interaction.token_vectors import TokenSpace
    from quoth.backends.rerankers.registry import Rerankers


class ClosesProcesses(Protocol):
    """What has processes or connections to close."""

    async def close(self) -> None:
        """Close them."""


T = TypeVar("T", bound=ClosesProcesses)


@dataclass(slots=True)
class OnFirstUse(Generic[T]):
    """A component that is opened by the first call, and closed at the end if it was opened."""

    open: Callable[[], T]
    _opened: T | None = None
    _alone: Lock = field(default_factory=Lock)

    def __call__(self) -> T:
        """Return the component."""
        with self._alone:
            if self._opened is None:
                self._opened = self.open()
            return self._opened

    async def close(self) -> None:
        """Close the component."""
        if self._opened is not None:
            await self._opened.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessResources(SharedComponents):
    """Resources shared by all tenants; only the answer cache holds tenant data.

    The tenant is part of every cache key. ``asked`` is the embedder with its cache and breaker;
    ``indexes`` lists open indexes, to be closed at the end.
    """

    embedder: Embedder
    asked: Embedder
    rerankers: Rerankers | None
    space: TokenSpace | None
    indexes: WeakSet[IndexPool] = field(default_factory=WeakSet)


@dataclass(frozen=True, slots=True)
class EmbedderPool:
    """The resources of a process for embedders that indexes need, each opened once.

    An index that was rebuilt with another embedder than the settings' own is searched with that
    one, without a restart.
    """

    _settings: Settings
    _shared: ProcessResources
    _opened: dict[tuple[str, int], ProcessResources] = field(default_factory=dict)
    _alone: Lock = field(default_factory=Lock)

    def settings(self, build: IndexBuild) -> Settings:
        """Return the settings with the embedder of an index."""
        return with_embedder(self._settings, build.embedder, dimension=build.identity.dimension)

    def resources(self, build: IndexBuild) -> ProcessResources:
        """Return what the embedder of an index needs; raises ConfigError, MissingExtra."""
        if embedding_fingerprint(self._shared.embedder) == build.identity:
            return self._shared
        key = build.embedder, build.identity.dimension
        with self._alone:
            if key not in self._opened:
                self._opened[key] = self._open(self.settings(build))
            return self._opened[key]

    def _open(self, settings: Settings) -> ProcessResources:
        from quoth.backends.embedders.cached import CachedEmbedder

        remote, shared = check_parts(settings), self._shared
        embedder = open_embedder(settings)
        asked = CachedEmbedder(embedder)
        space = token_space(settings, embedder)
        rerankers = shared.rerankers
        if reranker_names(settings, space) != reranker_names(self._settings, shared.space):
            rerankers = open_rerankers(settings, space)
        local = shared.sentences or shared.embedder
        return replace(
            shared,
            embedder=embedder,
            sentences=None if getattr(embedder, "local", True) else local,
            asked=asked,
            remote=remote,
            space=space,
            rerankers=rerankers,
            sentence_scorer=None,
            breakers=(asked.breaker, *shared.breakers[1:]),
            workers=None,  # those have the embedder of the settings
        )

    async def aclose(self) -> None:
        """Close the embedders, and the rerankers that only they need."""
        for opened in self._opened.values():
            await close_embedder(opened.embedder)
            if opened.rerankers is not None and opened.rerankers is not self._shared.rerankers:
                await opened.rerankers.aclose()
        self._opened.clear()


@dataclass(frozen=True, slots=True)
class TenantEmbedders:
    """A tenant's components for the embedders of its indexes, each opened once."""

    _settings: Settings
    _pool: EmbedderPool
    _database: Database
    _opened: dict[IndexIdentity, Components] = field(default_factory=dict)
    _alone: Lock = field(default_factory=Lock)

    def remote(self, build: IndexBuild) -> tuple[RemotePart, ...]:
        """Return the components on servers that an index needs; raises ConfigError."""
        return check_parts(self._pool.settings(build))

    def open(self, build: IndexBuild) -> Components:
        """Return the components of an index; raises ConfigError, MissingExtra."""
        with self._alone:
            if build.identity not in self._opened:
                own = self._pool.settings(build).model_copy(
                    update={"tenant": self._settings.tenant}
                )
                self._opened[build.identity] = tenant_components(
                    own, self._pool.resources(build), database=self._database, others=self._pool
                )
            return self._opened[build.identity]


def tenant_components(
    settings: Settings, shared: ProcessResources, *, database: Database, others: EmbedderPool
) -> Components:
    """Open a tenant's components; its indexes are closed with them."""
    from quoth.backends.late_interaction.token_vectors import open_vectors
    from quoth.backends.rerankers.late_interaction import LateSpans

    store = tokens_folder(settings)
    vectors = kept = None
    if shared.space is not None:
        vectors = open_vectors(shared.space, folder=store if settings.token_vectors else None)
        kept = vectors if settings.token_vectors else None
    guarded = None
    if shared.rerankers is not None:
        limit_s = settings.rerank_seconds
        kept_in = store if settings.token_vectors else None
        guarded = shared.rerankers.over(vectors, store=kept_in, limit_s=limit_s)
    catalogue = Catalogue(database, tenant=settings.tenant)
    indexes = _open_indexes(settings, shared, catalogue)
    shared.indexes.add(indexes)
    own = ("sentence_scorer", "breakers")
    names = (each.name for each in fields(SharedComponents) if each.name not in own)
    return Components(
        **{name: getattr(shared, name) for name in names},
        sentence_scorer=None if kept is None else shared.sentence_scorer,
        breakers=shared.breakers if guarded is None else (*shared.breakers, guarded.breaker),
        settings=settings,
        catalogue=catalogue,
        jobs=Jobs(catalogue),
        outlines=OutlineCache(catalogue),
        embedder=shared.asked,
        embedder_setting=embedder_setting(settings),
        others=TenantEmbedders(settings, others, database),
        open_index=indexes,
        shared_tables=indexes.tables,
        reranker=guarded,
        tokens=kept,
        rerank_tokens=() if guarded is None else guarded.token_stores,
        spans=None if kept is None else LateSpans(kept),
    )


def _open_indexes(settings: Settings, shared: ProcessResources, catalogue: Catalogue) -> IndexPool:
    embedder = shared.embedder
    pictures = None
    if shared.page_embedder is not None:
        from quoth.pipeline.page_pictures import DocumentPictures
        from quoth.store.blobs import Blobs

        blobs = Blobs(settings.home, tenant=settings.tenant, shared=shared.files)
        pictures = DocumentPictures(catalogue, blobs, shared.pages())
    return IndexPool(
        settings,
        dimension=embedder.dimension,
        sparse=embedder if isinstance(embedder, SparseEmbedder) and embedder.has_sparse else None,
        on_operation=catalogue.database.on_operation,
        pages=shared.page_embedder,
        pictures=pictures,
        name_of=catalogue.collection_of_index,
    )


class IndexPool:
    """Indexes of one tenant, each opened on first use and shared.

    ``name_of`` returns the name of the collection of a table, for messages.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        dimension: int,
        on_operation: Callable[[str], None],
        sparse: SparseEmbedder | None = None,
        pages: PageEmbedder | None = None,
        pictures: PagePictures | None = None,
        name_of: Callable[[str], str] = lambda _table: "",
    ) -> None:
        self._settings = settings
        self._name_of = name_of
        self._place = store_place(
            settings, folder=index_folder(settings), dimension=dimension, connect=connect
        )
        self._sparse = sparse
        self._pages = pages
        self._pictures = pictures
        self._on_operation = on_operation
        self._open: dict[str, Index] = {}

    def __call__(self, table: str) -> Index:
        """Return the index of a table."""
        # What an index holds must not lead back to it: both go with their engine.
        settings, name_of = self._settings, self._name_of
        if table not in self._open:
            self._open[table] = self._place.open(
                table,
                on_operation=self._on_operation,
                sparse=self._sparse,
                pages=self._pages,
                pictures=self._pictures,
                rebuild=lambda: command_line("reindex", settings, collection=name_of(table)),
            )
        return self._open[table]

    def tables(self) -> dict[str, float]:
        """Return the tables of shared storage, and when each was last written to."""
        return self._place.tables()

    def close(self) -> None:
        """Close every open index."""
        for index in self._open.values():
            index.close()
        self._open.clear()
