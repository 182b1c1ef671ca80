"""Composition root: builds the engine's components from settings."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from quoth.answering.prompts import operator_prompts
from quoth.backends.embedders.registry import DEFAULT_EMBEDDER as DEFAULT_EMBEDDER
from quoth.backends.embedders.registry import with_embedder as with_embedder
from quoth.backends.entailment.registry import open_judge
from quoth.backends.generators.limited import NO_MODELS, open_models
from quoth.backends.moderation.registry import open_moderator
from quoth.backends.page_embedders.registry import open_page_embedder
from quoth.backends.registry import open_transformer
from quoth.backends.s3 import open_files
from quoth.backends.servers import require_servers
from quoth.backends.servers import servers as servers
from quoth.backends.servers import unreachable as unreachable
from quoth.backends.states import (
    PartState,
    check_parts,
    names_models,
    profile_settings,
)
from quoth.backends.states import part_states as part_states
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
    open_sentence_scorer,
    token_space,
)
from quoth.bootstrap.embedding import default_model as default_model
from quoth.bootstrap.embedding import discard_line as discard_line
from quoth.bootstrap.embedding import open_embedder as open_embedder
from quoth.bootstrap.tenant import EmbedderPool, OnFirstUse, ProcessResources, tenant_components
from quoth.bootstrap.tenant import IndexPool as IndexPool
from quoth.core.errors import ConfigError, InputError
from quoth.core.plan import PROFILES, make_plan
from quoth.core.settings import Settings
from quoth.engine import Engine
from quoth.pipeline.components import Observe, no_op
from quoth.store.database import open_database
from quoth.tenants import Tenants

if TYPE_CHECKING:
    from quoth.ingest.sandbox.parent import PdfPages
    from quoth.ingest.sandbox.speech import SpeechReader
    from quoth.operations.scale import IngestParts

NONE = (None, "", "none", "off")
"""Settings that name no component."""


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
    try:
        for name in (settings.profile, *settings.request_profiles.split(",")):
            if name.strip():
                make_plan(name.strip(), overrides=settings.plan)
    except InputError as error:
        raise ConfigError(f"The settings contain an invalid plan: {error}") from None
    remote = check_parts(settings)
    if is_new_library(settings):
        await require_servers(settings)
    async with AsyncExitStack() as closing:
        shared = _open_resources(settings, closing, progress=progress)
        if settings.on:
            from quoth.operations.scale import open_workers

            workers = open_workers(settings, ingest_parts, local=shared.readers())
            shared = replace(shared, workers=await closing.enter_async_context(workers))
        shared = replace(shared, remote=remote, observe=observe)
        hook = discard_line if settings.crash_at is None else crash_hook(settings.crash_at)
        database = open_database(settings.catalogue, on_operation=hook)
        closing.callback(database.close)
        others = EmbedderPool(settings, shared)
        closing.push_async_callback(others.aclose)

        def open_tenant(tenant: str) -> Engine:
            own = settings.model_copy(update={"tenant": tenant})
            return Engine(tenant_components(own, shared, database=database, others=others))

        try:
            yield Tenants(settings, database=database, open_tenant=open_tenant)
        finally:
            for index in shared.indexes:
                index.close()


def _open_resources(
    settings: Settings, closing: AsyncExitStack, *, progress: Callable[[str], None]
) -> ProcessResources:
    """Open what all tenants share; the processes that read files start at their first use."""
    from quoth.backends.embedders.cached import CachedEmbedder

    embedder = open_embedder(settings, progress=progress)
    sentences = open_sentence_embedder(settings, embedder, progress=progress)
    pages = None if settings.page_embedder in NONE else open_page_embedder(settings)
    for each in (embedder, sentences, pages):
        if each is not None:
            closing.push_async_callback(close_embedder, each)
    asked = CachedEmbedder(embedder)
    breakers = [asked.breaker]
    models = NO_MODELS
    if names_models(settings):
        models = open_models(settings, breakers=breakers)
    judge = open_judge(settings, models.generator) if settings.judge else None
    moderator = None if settings.moderation.strip() in NONE else open_moderator(settings)
    transformer = open_transformer(settings)
    for model in (models.generator, models.small, *models.named, judge, moderator, transformer):
        if model is not None:
            closing.push_async_callback(model.close)
    rerankers = open_rerankers(settings, space := token_space(settings, embedder))
    if rerankers is not None:
        closing.push_async_callback(rerankers.aclose)
    scorer = open_sentence_scorer(settings, embedder)
    if scorer is not None:
        closing.callback(scorer.close)
    prompts, about = operator_prompts(settings.prompts)
    readers = OnFirstUse(lambda: open_readers(settings, progress=progress))
    drawn = OnFirstUse(lambda: open_pages(settings))
    closing.push_async_callback(readers.close)
    closing.push_async_callback(drawn.close)
    return ProcessResources(
        embedder=embedder,
        sentences=sentences,
        asked=asked,
        readers=readers,
        pages=drawn,
        generator=models.generator,
        small=models.small,
        request_models=models.named,
        judge=judge,
        moderator=moderator,
        breakers=tuple(breakers),
        rerankers=rerankers,
        sentence_scorer=scorer,
        space=space,
        page_embedder=pages,
        transformer=transformer,
        prompts=prompts,
        operator_description=about,
        files=None if settings.files is None else open_files(settings),
    )


def is_new_library(settings: Settings) -> bool:
    """Return whether the home folder holds no library yet."""
    return isinstance(settings.catalogue, Path) and not settings.catalogue.exists()


def profile_parts(settings: Settings) -> dict[str, list[PartState]]:
    """Return the state of every profile's own components, by profile."""
    return {name: part_states(profile_settings(settings, name)) for name in PROFILES}


def ingest_parts(settings: Settings) -> IngestParts:
    """Open what a worker of another process needs to read files and embed chunks."""
    from quoth.backends.embedders.cached import CachedEmbedder
    from quoth.backends.late_interaction.token_vectors import open_vectors
    from quoth.operations.scale import IngestParts

    embedder = open_embedder(settings)
    space = token_space(settings, embedder) if settings.token_vectors else None
    tokens = None if space is None else open_vectors(space, folder=None)
    return IngestParts(CachedEmbedder(embedder), tokens, open_readers(settings))


def open_readers(
    settings: Settings, *, progress: Callable[[str], None] = discard_line
) -> SpeechReader:
    """Create the sandboxed parser processes; each starts on first use."""
    from quoth.ingest.sandbox.parent import ParserPool
    from quoth.ingest.sandbox.speech import SpeechReader, SpeechSettings

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


def open_pages(settings: Settings) -> PdfPages:
    """Create the sandboxed processes that draw and mark pages."""
    from quoth.ingest.sandbox.parent import PdfPages

    return PdfPages(workers=min(2, settings.threads))


def crash_hook(operation: int) -> Callable[[str], None]:
    """Return a hook that kills this process at its n-th store operation, for crash tests."""
    seen = 0

    def count(_name: str) -> None:
        nonlocal seen
        seen += 1
        if seen == operation:
            os.kill(os.getpid(), signal.SIGKILL)

    return count
