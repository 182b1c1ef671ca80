"""quoth answers questions from talks, books and documents, and proves every sentence.

    import quoth

    with quoth.open("my-library") as library:
        library.add("talks/", "book.pdf")
        answer = library.ask("What is transfer learning?")
        print(answer.text, answer.citations[0].link)

Importing quoth loads no model, index or SDK; opening a library does.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from quoth.core.errors import (
    BackendError,
    Busy,
    ConfigError,
    DocumentError,
    IndexMismatch,
    InputError,
    NotFound,
    QuothError,
)
from quoth.core.types import (
    Answer,
    Citation,
    Document,
    Filter,
    Hit,
    Turn,
)

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager
    from os import PathLike

    from quoth.engine import Engine
    from quoth.library import Library
    from quoth.pipeline.retrieve import Request

try:
    __version__ = version("quoth")
except PackageNotFoundError:  # a source tree that was never installed
    __version__ = "0.0.0"

__all__ = [
    "Answer",
    "BackendError",
    "Busy",
    "Citation",
    "ConfigError",
    "Document",
    "DocumentError",
    "Engine",
    "Filter",
    "Hit",
    "IndexMismatch",
    "InputError",
    "Library",
    "NotFound",
    "QuothError",
    "Request",
    "Turn",
    "__version__",
    "open",
    "open_async",
]

LATER = {
    "Engine": "quoth.engine",
    "Library": "quoth.library",
    "Request": "quoth.pipeline.retrieve",
}
"""The names whose modules load half of the engine, so they are imported when they are used."""


def open(home: str | PathLike[str] | None = None, **settings: Any) -> Library:
    """Open the library in a folder, by default the user's own; settings as in `Settings`."""
    from quoth.library import Library

    return Library(home, **settings)


def open_async(
    home: str | PathLike[str] | None = None, **settings: Any
) -> AbstractAsyncContextManager[Engine]:
    """Open the library in a folder for programs with an event loop; the engine is asynchronous."""
    from quoth.bootstrap import open_engine
    from quoth.core.load_settings import load_settings

    return open_engine(load_settings({**settings, "home": home}))


def __getattr__(name: str) -> Any:
    if name in LATER:
        return getattr(import_module(LATER[name]), name)
    raise AttributeError(f"module 'quoth' has no attribute '{name}'")
