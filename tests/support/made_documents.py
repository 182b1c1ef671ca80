"""Small collections, documents and chunks for the tests of the stores."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from quoth.core.types import (
    Chars,
    Chunk,
    Document,
    IndexIdentity,
    SpanLocator,
)
from quoth.store.catalogue import Catalogue
from quoth.store.database import open_database
from quoth.store.rows import Collection, Entry

SOURCE = Path(__file__).parents[2] / "src"
IDENTITY = IndexIdentity("hash", "1", 4, "query: ", "passage: ", "terms-1")


def chunk(document_id: str, ordinal: int = 0, *, text: str = "A red fox. ") -> Chunk:
    """A chunk of 11 characters in a document without pages."""
    start = 11 * ordinal
    locator = Chars(start, start + 11, section="1 Animals")
    return Chunk(
        chunk_id=f"{document_id}.{ordinal}",
        document_id=document_id,
        ordinal=ordinal,
        start=start,
        end=start + 11,
        text=text,
        locator=locator,
        kind="markdown",
        places=(SpanLocator(start, start + 11, locator),),
        section=("1 Animals", "Foxes"),
        prefix="Animals › Foxes",
        tokens=3,
    )


def entry(
    document_id: str,
    *,
    chunks: int = 2,
    source: str | None = None,
    language: str = "en",
    labels: Sequence[str] = (),
    title: str = "Animals",
) -> Entry:
    """A document with chunks, ready to be committed."""
    made = Document(
        document_id=document_id,
        title=title,
        kind="markdown",
        status="ready",
        chunks=chunks,
        language=language,
        source=source or f"/{document_id}.md",
        url="https://example.org/animals",
        speaker="Ada",
        warnings=("One line was left out.",),
    )
    parts = tuple(chunk(document_id, ordinal) for ordinal in range(chunks))
    return Entry(made, "0" * 64, tuple(labels), parts)


@cache
def empty_catalogue() -> bytes:
    """An empty catalogue, migrated once for all tests."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "catalogue.sqlite")
        open_database(file).close()
        return file.read_bytes()


def put_catalogue(file: Path) -> Path:
    """Put an empty catalogue where there is none; processes that do so at once find it whole."""
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_name(f"{os.getpid()}.draft")
        draft.write_bytes(empty_catalogue())
        with suppress(FileExistsError):
            os.link(draft, file)
        draft.unlink()
    return file


def open_catalogue(file: Path | str, tenant: str = "local") -> tuple[Catalogue, Collection]:
    """A catalogue with one empty collection, called "default"; migrated once for all tests.

    It is an SQLite file, or a database of a server, which is there already.
    """
    if isinstance(file, Path):
        put_catalogue(file)
    catalogue = Catalogue(open_database(file), tenant=tenant)
    return catalogue, catalogue.make_collection("default", identity=IDENTITY)
