"""quoth answers questions from talks, books and documents, and proves every sentence.

    import quoth

    with quoth.open("my-library") as library:
        library.add("talks/", "book.pdf")
        answer = library.ask("What does a tokenizer do?")
        print(answer.text, answer.citations[0].link)

Importing quoth loads no model, index or SDK; opening a library does.
"""

from __future__ import annotations

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
    from quoth.library import Library

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
    "Filter",
    "Hit",
    "IndexMismatch",
    "InputError",
    "NotFound",
    "QuothError",
    "Turn",
    "__version__",
    "open",
]


def open(home: str | None = None, **settings: Any) -> Library:
    """Open the library in a folder, by default the user's own; settings as in `Settings`."""
    from quoth.library import Library

    return Library(home, **settings)
