"""Composition root: builds the engine's components from settings."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakSet

from quoth.answering.prompts import Prompt, operator_prompts
from quoth.backends.embedders import registry
from quoth.backends.embedders.registry import DEFAULT_EMBEDDER as DEFAULT_EMBEDDER
from quoth.backends.generators.limited import open_models
from quoth.backends.indexes.registry import store_place
from quoth.backends.moderation.registry import open_moderator
from quoth.backends.s3 import open_files
from quoth.backends.states import PartState, check_parts, part_states, profile_settings
from quoth.backends.transcribers.microphone import open_microphone as open_microphone
from quoth.backends.transcribers.registry import WORKER
from quoth.backends.transcribers.registry import live_speech_settings as live_speech_settings
from quoth.backends.transcribers.registry import speech_folder as speech_folder
from quoth.backends.transcribers.registry import speech_problem as speech_problem
from quoth.core.circuit_breaker import CircuitBreaker
from quoth.core.crash_test import crash_hook
from quoth.core.errors import ConfigError, InputError
from quoth.core.object_folder import ObjectFolder
from quoth.core.plan import PROFILES, make_plan, profile
from quoth.core.prices import LatencyEstimator
from quoth.core.protocols import (
    ClosesAsync,
    Embedder,
    EntailmentModel,
    Generator,
    Index,
    Moderator,
    SparseEmbedder,
)
from quoth.core.remote_parts import RemotePart
from quoth.core.settings import Settings
from quoth.engine import Engine
from quoth.ingest.sandbox.parent import ParserPool, PdfPages
from quoth.ingest.sandbox.speech import SpeechReader, SpeechSettings
from quoth.operations.scale import IngestParts, open_workers
from quoth.pipeline.answer_cache import AnswerCache
from quoth.pipeline.components import Components, IngestWorkers, Observe, OutlineCache, no_op
from quoth.store.catalogue import Catalogue
from quoth.store.database import Database, connect, open_database
from quoth.store.ingest_jobs import Jobs
from quoth.store.rows import index_folder, tokens_folder
from quoth.tenants import Tenants

if TYPE_CHECKING:
    from quoth.backends.late_interaction.token_space import TokenSpace
    from quoth.backends.rerankers.registry import Rerankers


def discard_line(_line: str) -> None:
    """Do nothing."""


@asynccontextmanager
async def open_engine(
    settings: Settings, *, progress: Callable[[str], None] = discard_line
) -> AsyncIterator[Engine]:
    """Open the engine of the settings' own tenant and close it at the end.

    ``progress`` receives a line for each step of the one-time model build. Raises ConfigError,
    MissingExtra and StorageFull.
    """
    async with open_tenants(settings, progress=progress) as tenants:
        yield tenants.engine(settings.tenant)


@asynccontextmanager
async def open_tenants(
    settings: Settings, *, progress: Callable[[str], None] = discard_line, observe: Observe = no_op
) -> AsyncIterator[Tenants]:
    """Open the configured components for any number of tenants and close them at the end.

    ``progress`` receives lines of the one-time model build. Raises ConfigError and StorageFull.
    """
    from quoth.backends.embedders.cached import CachedEmbedder

    remote = check_settings(settings)
    async with AsyncExitStack() as closing:
        embedder = open_embedder(settings, progress=progress)
        closing.push_async_callback(close_embedder, embedder)
        asked = CachedEmbedder(embedder)
        breakers = [asked.breaker]
        generator, small, named = open_models(settings, breakers=breakers)
        judge, moderator = open_judge(settings, generator), open_moderator(settings)
        for model in (generator, small, *named, judge, moderator):
            if model is not None:
                closing.push_async_callback(model.close)
        rerankers, space = open_reranking(settings, embedder)
        if rerankers is not None:
            closing.push_async_callback(rerankers.aclose)
        prompts, about = operator_prompts(settings.prompts)
        database = open_database(settings.catalogue, on_operation=crash_hook(settings.crash_at))
        closing.callback(database.close)
        readers = open_readers(settings, progress=progress)
        closing.push_async_callback(readers.close)
        workers = open_workers(settings, ingest_parts, local=readers)
        pages = PdfPages(workers=min(2, settings.threads))
        closing.push_async_callback(pages.close)
        shared = ProcessResources(
            embedder=embedder,
            remote=remote,
            asked=asked,
            readers=readers,
            pages=pages,
            generator=generator,
            small=small,
            request_models=named,
            judge=judge,
            moderator=moderator,
            breakers=tuple(breakers),
            rerankers=rerankers,
            space=space,
            prompts=prompts,
            about=about,
            observe=observe,
            files=open_files(settings),
            workers=await closing.enter_async_context(workers),
        )

        def open_tenant(tenant: str) -> Engine:
            own = settings.model_copy(update={"tenant": tenant})
            return tenant_engine(own, shared, database=database)

        closing.callback(shared.close_indexes)
        yield Tenants(settings, database=database, open_tenant=open_tenant)


@dataclass(frozen=True, slots=True)
class ProcessResources:
    """Resources shared by all tenants; only the answer cache holds tenant data.

    The tenant is part of every cache key. ``indexes`` lists open indexes, to be closed at the end.
    """

    embedder: Embedder
    remote: tuple[RemotePart, ...]
    asked: Embedder
    readers: SpeechReader
    pages: PdfPages
    generator: Generator | None
    small: Generator | None
    request_models: tuple[Generator, ...]
    judge: EntailmentModel | None
    moderator: Moderator | None
    breakers: tuple[CircuitBreaker, ...]
    rerankers: Rerankers | None
    space: TokenSpace | None
    prompts: Mapping[str, Prompt]
    about: str
    observe: Observe
    files: ObjectFolder | None = None
    workers: IngestWorkers | None = None
    cache: AnswerCache = field(default_factory=AnswerCache)
    pace: LatencyEstimator = field(default_factory=LatencyEstimator)
    indexes: WeakSet[IndexPool] = field(default_factory=WeakSet)

    def close_indexes(self) -> None:
        """Close the tenants' indexes that are still open."""
        for index in self.indexes:
            index.close()


def tenant_engine(settings: Settings, shared: ProcessResources, *, database: Database) -> Engine:
    """Open a tenant's engine and close its resources with it."""
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
    embedder = shared.embedder
    indexes = IndexPool(
        settings,
        dimension=embedder.dimension,
        sparse=embedder if isinstance(embedder, SparseEmbedder) and embedder.has_sparse else None,
        on_operation=database.on_operation,
    )
    shared.indexes.add(indexes)
    return Engine(
        Components(
            settings=settings,
            catalogue=catalogue,
            jobs=Jobs(catalogue),
            outlines=OutlineCache(catalogue),
            embedder=shared.asked,
            remote=shared.remote,
            files=shared.files,
            workers=shared.workers,
            open_index=indexes,
            readers=shared.readers,
            pages=shared.pages,
            reranker=guarded,
            tokens=kept,
            rerank_tokens=() if guarded is None else guarded.token_stores,
            spans=None if kept is None else LateSpans(kept),
            generator=shared.generator,
            small=shared.small,
            request_models=shared.request_models,
            judge=shared.judge,
            moderator=shared.moderator,
            breakers=shared.breakers if guarded is None else (*shared.breakers, guarded.breaker),
            prompts=shared.prompts,
            operator_description=shared.about,
            cache=shared.cache,
            latency_estimator=shared.pace,
            observe=shared.observe,
        )
    )


def check_settings(settings: Settings) -> tuple[RemotePart, ...]:
    """Return the components on servers; raises ConfigError or MissingExtra for what is missing."""
    try:
        for name in (settings.profile, *settings.request_profiles.split(",")):
            if name.strip():
                make_plan(name.strip(), overrides=settings.plan)
    except InputError as error:
        raise ConfigError(f"The settings contain an invalid plan: {error}") from None
    return check_parts(settings)


def open_embedder(
    settings: Settings, *, progress: Callable[[str], None] = discard_line
) -> Embedder:
    """Open the configured embedder, building the default model if needed."""
    build = partial(build_default_model, settings, progress=progress)
    return registry.open_embedder(settings, build=build)


def profile_parts(settings: Settings) -> dict[str, list[PartState]]:
    """Return the state of every profile's own components, by profile."""
    return {name: part_states(profile_settings(settings, name)) for name in PROFILES}


def ingest_parts(settings: Settings) -> IngestParts:
    """Open what a worker of another process needs to read files and embed chunks."""
    from quoth.backends.late_interaction.token_vectors import open_vectors

    embedder = open_embedder(settings)
    space = open_reranking(settings, embedder)[1] if settings.token_vectors else None
    tokens = None if space is None else open_vectors(space, folder=None)
    return IngestParts(embedder, tokens, open_readers(settings))


async def close_embedder(embedder: Embedder) -> None:
    """Close an embedder's connections, threads and memory."""
    if isinstance(embedder, ClosesAsync):
        await embedder.aclose()
    await asyncio.to_thread(embedder.close)


def open_readers(
    settings: Settings, *, progress: Callable[[str], None] = discard_line
) -> SpeechReader:
    """Create the sandboxed parser processes; each starts on first use."""
    files = ParserPool(
        seconds=settings.parser_seconds,
        memory_mb=settings.parser_memory_mb,
        workers=settings.threads,
    )
    speech = ParserPool(seconds=settings.parser_seconds * 5, memory_mb=settings.speech_memory_mb)
    how = SpeechSettings(
        module=WORKER,
        folder=speech_folder(settings),
        work=settings.home / "transcripts",
        threads=settings.threads,
        problem=speech_problem(settings),
    )
    return SpeechReader(files, speech, how, progress=progress)


def open_judge(settings: Settings, generator: Generator | None) -> EntailmentModel | None:
    """Open the configured entailment model; raises ConfigError."""
    if settings.judge is None:
        return None
    from quoth.backends.entailment import registry as judge_open

    return judge_open.open_judge(
        settings.judge, models=settings.models, threads=settings.threads, generator=generator
    )


def open_reranking(
    settings: Settings, embedder: Embedder
) -> tuple[Rerankers | None, TokenSpace | None]:
    """Open the configured rerankers and the token vector space.

    By default late interaction reranks if token vectors are stored: computing them for each query
    would take a second. Raises ConfigError and MissingExtra.
    """
    from quoth.backends.late_interaction.token_space import TokenEmbedder, TokenSpace
    from quoth.backends.rerankers.registry import Rerankers

    space = None
    # Another model may have no token vectors, which is only known once it is open.
    named = "late" in (settings.reranker or "")
    if isinstance(embedder, TokenEmbedder) and (named or embedder.name == DEFAULT_EMBEDDER):
        space = TokenSpace(embedder)
    default = "late" if space is not None and settings.token_vectors else "none"
    name = settings.reranker or profile(settings.profile).reranker or default
    if name == "none":
        return None, space
    return Rerankers(name, settings), space


def default_model(settings: Settings) -> tuple[Path, bool]:
    """Return the folder of the default model, and whether the model is built there."""
    from quoth_e5 import is_built

    folder = settings.models / DEFAULT_EMBEDDER
    return folder, is_built(folder)


def build_default_model(
    settings: Settings,
    *,
    weights: Path | None = None,
    progress: Callable[[str], None] = discard_line,
) -> None:
    """Build the default model if missing; raises ConfigError and StorageFull."""
    folder, built = default_model(settings)
    if built:
        return
    # Imported here: the model builder takes a second to load and is needed once.
    from quoth_e5.build import build_e5

    build_e5(folder, weights=weights, progress=progress)


class IndexPool:
    """Indexes of one tenant, each opened on first use and shared."""

    def __init__(
        self,
        settings: Settings,
        *,
        dimension: int,
        on_operation: Callable[[str], None],
        sparse: SparseEmbedder | None = None,
    ) -> None:
        self._place = store_place(
            settings, folder=index_folder(settings), dimension=dimension, connect=connect
        )
        self._sparse = sparse
        self._on_operation = on_operation
        self._open: dict[str, Index] = {}

    def __call__(self, table: str) -> Index:
        """Return the index of a table."""
        if table not in self._open:
            self._open[table] = self._place.open(
                table, on_operation=self._on_operation, sparse=self._sparse
            )
        return self._open[table]

    def close(self) -> None:
        """Close every open index."""
        for index in self._open.values():
            index.close()
        self._open.clear()
