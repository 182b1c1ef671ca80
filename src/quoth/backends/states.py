"""What each component of the settings still needs, and what leaves this machine through it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from quoth.backends.embedders.registry import DEFAULT_EMBEDDER, embedding_access, folder_of
from quoth.backends.indexes.registry import store_access
from quoth.backends.registry import Part, plugin, require, transformer_name
from quoth.backends.s3 import SCHEME, S3Access, checked_address
from quoth.core.errors import ConfigError
from quoth.core.plan import profile
from quoth.core.remote_parts import RemoteKind, RemotePart

if TYPE_CHECKING:
    from quoth.core.settings import Settings

SENT: Mapping[RemoteKind, tuple[str, ...]] = {
    "embedder": ("the documents that are added", "the question"),
    "reranker": ("the question", "the passages that were found for it"),
    "store": ("vectors of the documents", "names of speakers, sections and labels"),
    "moderator": ("the question", "what a language model wrote"),
    "files": ("the uploaded files",),
}


@dataclass(frozen=True, slots=True)
class PartState:
    """One component of the settings; ``error`` says what is missing, None if it is ready."""

    part: Part
    name: str
    error: ConfigError | None
    sends: tuple[RemotePart, ...] = ()


def part_states(settings: Settings) -> list[PartState]:
    """Return the state of embedder, store, reranker and generator; connects to nothing."""
    own = profile(settings.profile)
    parts: list[tuple[Part, str, Callable[[Settings], list[RemotePart]]]] = [
        ("embedder", settings.embedder or own.embedder, _embedder),
        ("store", (settings.store or own.store).partition("@")[0], _store),
        ("reranker", _reranker_names(settings), _reranker),
        ("generator", settings.generator or own.generator, _generator),
    ]
    if settings.page_embedder not in (None, "none"):
        parts.append(("page_embedder", settings.page_embedder or "", _pages))
    if transformer := transformer_name(settings):
        parts.append(("query_transformer", transformer, _transformer))
    if settings.moderation.strip() not in ("off", "none"):
        parts.append(("moderator", settings.moderation, _moderator))
    states = []
    for part, name, look in parts:
        error: ConfigError | None = None
        sends: tuple[RemotePart, ...] = ()
        try:
            sends = tuple(look(settings))
        except ConfigError as problem:
            error = problem
        away = [sent for sent in sends if not sent.local]
        if away and part != "moderator" and not settings.documents_may_leave:
            error = ConfigError(
                f"The {part} {away[0].name} would send {' and '.join(away[0].what)} to "
                f"{away[0].endpoint}. Allow it with QUOTH_DOCUMENTS_MAY_LEAVE=true, or choose "
                f"another with --{part}."
            )
        states.append(PartState(part, name, error, sends))
    return states


def check_parts(settings: Settings) -> tuple[RemotePart, ...]:
    """Return the components on servers; raises the error of the first that is not ready."""
    states = part_states(settings)
    for state in states:
        if state.error is not None:
            raise state.error
    return tuple(sent for state in states for sent in state.sends)


def profile_settings(settings: Settings, name: str) -> Settings:
    """Return the settings with another profile and its own components; keys stay."""
    own = ("embedder", "store", "reranker", "generator", "small_llm")
    return settings.model_copy(update={"profile": name, **dict.fromkeys(own)})


def names_models(settings: Settings) -> bool:
    """Return whether the settings, or their profile, name any language model."""
    own = profile(settings.profile)
    writes = settings.generator or own.generator
    small = settings.small_llm or own.small_llm or "none"
    return (
        bool(settings.request_llms)
        or {writes.strip(), small.strip()} - {"none", "extractive"} != set()
    )


def _embedder(settings: Settings) -> list[RemotePart]:
    access = embedding_access(settings)
    if access is None:
        name = settings.embedder or profile(settings.profile).embedder
        if name != "fake" and plugin("embedder", name) is None:
            folder_of(settings)
        return []
    return [_sent("embedder", f"{access.provider}:{access.model}", access.url)]


def _store(settings: Settings) -> list[RemotePart]:
    name, access = store_access(settings, folder=Path(), dimension=0, connect=_no_engine)
    sent = []
    if access.address or settings.files is not None:
        s3 = S3Access.of(settings)
    if access.address:
        in_bucket = access.address.startswith(SCHEME)
        store = _sent("store", name, s3.url if in_bucket else access.address)
        # A table of LanceDB has the terms beside the vectors.
        sent.append(replace(store, what=(*store.what, "their words")) if in_bucket else store)
    if settings.files is not None:
        sent.append(_sent("files", checked_address(settings.files), s3.url))
    return sent


def _reranker_names(settings: Settings) -> str:
    """Return what reranks; where nothing is named, late interaction with stored token vectors."""
    own = profile(settings.profile)
    has_tokens = (settings.embedder or own.embedder) == DEFAULT_EMBEDDER and settings.token_vectors
    return settings.reranker or own.reranker or ("late" if has_tokens else "none")


def _reranker(settings: Settings) -> list[RemotePart]:
    sent = []
    for name in (each.strip() for each in _reranker_names(settings).split(",")):
        if name in ("", "none", "late", "fake") or plugin("reranker", name) is not None:
            continue
        from quoth.backends.rerankers.access import rerank_access

        access = rerank_access(name, settings)
        if access is not None:
            sent.append(_sent("reranker", f"{access.provider}:{access.model}", access.url))
            continue
        from quoth.backends.rerankers.model_folder import canonical, find_folder

        if canonical(name) is None and "/" not in name and not Path(name).expanduser().is_dir():
            require("reranker", name)
        find_folder(name, models=settings.models)
    return sent


def _pages(settings: Settings) -> list[RemotePart]:
    from quoth.backends.page_embedders.registry import page_model_folder

    page_model_folder(settings)
    return []


def _transformer(settings: Settings) -> list[RemotePart]:
    require("query_transformer", transformer_name(settings))
    return []


def _moderator(settings: Settings) -> list[RemotePart]:
    from quoth.backends.moderation.registry import (
        moderation_access,
        moderation_names,
        open_moderator,
    )

    open_moderator(settings)
    found = (moderation_access(name, settings) for name in moderation_names(settings))
    return [_sent("moderator", f"{a.provider}:{a.model}", a.url) for a in found if a is not None]


def _generator(settings: Settings) -> list[RemotePart]:
    if not names_models(settings):
        return []
    from quoth.backends.generators.registry import open_generator, open_named, open_small

    open_generator(settings, default=profile(settings.profile).generator)
    open_small(settings)
    open_named(settings)
    return []


def _sent(part: RemoteKind, name: str, url: str) -> RemotePart:
    from quoth.backends.generators.access import is_local_url

    parts = urlsplit(url)
    local = not parts.hostname or is_local_url(url)  # PostgreSQL: a socket of this machine
    return RemotePart(part, name, parts.netloc.rpartition("@")[2], local, SENT[part], url)


def _no_engine(_address: Path | str) -> Any:
    raise AssertionError
