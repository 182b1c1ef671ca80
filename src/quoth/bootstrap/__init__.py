"""Composition root: builds the engine's components from settings."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from quoth.answering.prompts import operator_prompts
from quoth.backends.embedders.registry import DEFAULT_EMBEDDER as DEFAULT_EMBEDDER
from quoth.backends.embedders.registry import with_embedder as with_embedder
from quoth.backends.generators.limited import open_models
from quoth.backends.moderation.registry import open_moderator
from quoth.backends.page_embedders.registry import open_page_embedder
from quoth.backends.s3 import open_files
from quoth.backends.states import PartState, check_parts, part_states, profile_settings
from quoth.backends.transcribers.microphone import open_microphone as open_microphone
from quoth.backends.transcribers.registry import WORKER
from quoth.backends.transcribers.registry import live_speech_settings as live_speech_settings
from quoth.backends.transcribers.registry import speech_folder as speech_folder
from quoth.backends.transcribers.registry import speech_problem as speech_problem
from quoth.bootstrap.embedding import build_default_model as build_default_model
from quoth.bootstrap.embedding import (
    close_embedder,
    open_rerankers,
    open_sentence_embedder,
    token_space,
)
from quoth.bootstrap.embedding import default_model as default_model
from quoth.bootstrap.embedding import discard_line as discard_line
from quoth.bootstrap.embedding import open_embedder as open_embedder
from quoth.bootstrap.tenant import EmbedderPool, ProcessResources, tenant_components
from quoth.bootstrap.tenant import IndexPool as IndexPool
from quoth.core.crash_test import crash_hook
from quoth.core.errors import ConfigError, InputError
from quoth.core.page_images import PageEmbedder
from quoth.core.plan import PROFILES, make_plan
from quoth.core.protocols import EntailmentModel, Generator
from quoth.core.remote_parts import RemotePart
from quoth.core.settings import Settings
from quoth.engine import Engine
from quoth.ingest.sandbox.parent import ParserPool, PdfPages
from quoth.ingest.sandbox.speech import SpeechReader, SpeechSettings
from quoth.operations.scale import IngestParts, open_workers
from quoth.pipeline.components import IngestWorkers, Observe, no_op
from quoth.store.database import open_database
from quoth.tenants import Tenants


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
        sentences = open_sentence_embedder(settings, embedder, progress=progress)
        asked = CachedEmbedder(embedder)
        for each in filter(None, (embedder, sentences)):
            closing.push_async_callback(close_embedder, each)
        breakers = [asked.breaker]
        generator, small, named = open_models(settings, breakers=breakers)
        judge, moderator = open_judge(settings, generator), open_moderator(settings)
        for model in (generator, small, *named, judge, moderator):
            if model is not None:
                closing.push_async_callback(model.close)
        rerankers = open_rerankers(settings, space := token_space(settings, embedder))
        if rerankers is not None:
            closing.push_async_callback(rerankers.aclose)
        prompts, about = operator_prompts(settings.prompts)
        database = open_database(settings.catalogue, on_operation=crash_hook(settings.crash_at))
        closing.callback(database.close)
        readers, pages, workers = await _open_processes(settings, closing, progress)
        shared = ProcessResources(
            embedder=embedder,
            sentences=sentences,
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
            page_embedder=_open_page_embedder(settings, closing),
            prompts=prompts,
            about=about,
            observe=observe,
            files=open_files(settings),
            workers=workers,
        )
        others = EmbedderPool(settings, shared)
        closing.push_async_callback(others.aclose)

        def open_tenant(tenant: str) -> Engine:
            own = settings.model_copy(update={"tenant": tenant})
            return Engine(tenant_components(own, shared, database=database, others=others))

        closing.callback(shared.close_indexes)
        yield Tenants(settings, database=database, open_tenant=open_tenant)


def _open_page_embedder(settings: Settings, closing: AsyncExitStack) -> PageEmbedder | None:
    opened = open_page_embedder(settings)
    if opened is not None:
        closing.push_async_callback(close_embedder, opened)
    return opened


async def _open_processes(
    settings: Settings, closing: AsyncExitStack, progress: Callable[[str], None]
) -> tuple[SpeechReader, PdfPages, IngestWorkers | None]:
    """Open the processes that read files and draw pages, and the workers on a cluster."""
    readers = open_readers(settings, progress=progress)
    closing.push_async_callback(readers.close)
    pages = PdfPages(workers=min(2, settings.threads))
    closing.push_async_callback(pages.close)
    workers = open_workers(settings, ingest_parts, local=readers)
    return readers, pages, await closing.enter_async_context(workers)


def check_settings(settings: Settings) -> tuple[RemotePart, ...]:
    """Return the components on servers; raises ConfigError or MissingExtra for what is missing."""
    try:
        for name in (settings.profile, *settings.request_profiles.split(",")):
            if name.strip():
                make_plan(name.strip(), overrides=settings.plan)
    except InputError as error:
        raise ConfigError(f"The settings contain an invalid plan: {error}") from None
    return check_parts(settings)


def profile_parts(settings: Settings) -> dict[str, list[PartState]]:
    """Return the state of every profile's own components, by profile."""
    return {name: part_states(profile_settings(settings, name)) for name in PROFILES}


def ingest_parts(settings: Settings) -> IngestParts:
    """Open what a worker of another process needs to read files and embed chunks."""
    from quoth.backends.late_interaction.token_vectors import open_vectors

    embedder = open_embedder(settings)
    space = token_space(settings, embedder) if settings.token_vectors else None
    tokens = None if space is None else open_vectors(space, folder=None)
    return IngestParts(embedder, tokens, open_readers(settings))


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
