"""Opens the embedder of the settings, its token vectors and the rerankers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from quoth.backends.embedders import registry
from quoth.backends.embedders.registry import DEFAULT_EMBEDDER
from quoth.core.errors import ConfigError, StorageFull
from quoth.core.page_images import PageEmbedder
from quoth.core.plan import profile
from quoth.core.protocols import ClosesAsync, Embedder
from quoth.core.sentence_scores import SentenceScorer
from quoth.core.settings import Settings
from quoth_e5 import scorer_file

if TYPE_CHECKING:
    from quoth.backends.late_interaction.token_vectors import TokenSpace
    from quoth.backends.rerankers.registry import Rerankers


def discard_line(_line: str) -> None:
    """Do nothing."""


def open_embedder(
    settings: Settings, *, progress: Callable[[str], None] = discard_line
) -> Embedder:
    """Open the configured embedder, building the default model if needed."""
    build = partial(build_default_model, settings, progress=progress)
    return registry.open_embedder(settings, build=build)


def open_sentence_embedder(
    settings: Settings, embedder: Embedder, *, progress: Callable[[str], None] = discard_line
) -> Embedder | None:
    """Open the built-in embedder for the sentences of answers, None where ``embedder`` is local."""
    if getattr(embedder, "local", True):
        return None
    own = registry.with_embedder(settings, DEFAULT_EMBEDDER)
    return open_embedder(own, progress=progress)


async def close_embedder(embedder: Embedder | PageEmbedder) -> None:
    """Close an embedder's connections, threads and memory."""
    if isinstance(embedder, ClosesAsync):
        await embedder.aclose()
    await asyncio.to_thread(embedder.close)


def token_space(settings: Settings, embedder: Embedder) -> TokenSpace | None:
    """Return the space of an embedder's token vectors, None where they are not used."""
    from quoth.backends.late_interaction.token_vectors import TokenEmbedder, TokenSpace

    # Another model may have no token vectors, which is only known once it is open.
    named = "late" in map(str.strip, (settings.reranker or "").split(","))
    if isinstance(embedder, TokenEmbedder) and (named or embedder.name == DEFAULT_EMBEDDER):
        return TokenSpace(embedder, folder=settings.home / "tokens")
    return None


def reranker_names(settings: Settings, space: TokenSpace | None) -> str:
    """Return the rerankers of the settings.

    By default late interaction reranks if token vectors are stored: computing them for each query
    would take a second.
    """
    default = "late" if space is not None and settings.token_vectors else "none"
    return settings.reranker or profile(settings.profile).reranker or default


def open_rerankers(settings: Settings, space: TokenSpace | None) -> Rerankers | None:
    """Open the configured rerankers; raises ConfigError and MissingExtra."""
    from quoth.backends.rerankers.registry import Rerankers

    names = reranker_names(settings, space)
    return None if names == "none" else Rerankers(names, settings)


def open_sentence_scorer(settings: Settings, embedder: Embedder) -> SentenceScorer | None:
    """Open the model that reads sentences with the question, None where it is not used.

    What its scores add to a probability was fitted with the default embedder.
    """
    if embedder.name != DEFAULT_EMBEDDER:
        return None
    path = scorer_file(settings.models / DEFAULT_EMBEDDER)
    if not path.is_file():
        return None
    from quoth.backends.rerankers.sentences import OnnxSentenceScorer

    return OnnxSentenceScorer(path, threads=settings.threads)


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
    """Build the embedder if missing, and the sentence scorer; raises ConfigError and StorageFull.

    An embedder without the scorer beside it is as good as before, so that a folder which cannot be
    written to, a full disk, or weights that are gone are only reported.
    """
    folder, built = default_model(settings)
    if built and scorer_file(folder).is_file():
        return
    # Imported here: the model builder takes a second to load and is needed once.
    from quoth_e5.build import build_e5, build_scorer

    build_e5(folder, weights=weights, progress=progress)
    try:
        build_scorer(folder, weights=weights, progress=progress)
    except (ConfigError, StorageFull) as error:
        progress(f"Doubtful answers are not read again. {error}")
