"""A small library in memory for the tests of the engine: three sources, no model, no index file.

The catalogue is the real one, in a temporary folder; the index and the embedder are the doubles
of `quoth.testing`. Files are read in this process, which saves the start of another.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from quoth.bootstrap import IndexPool
from quoth.core.protocols import Embedder, Generator, Index
from quoth.core.settings import Settings
from quoth.core.types import Document, ParsedDocument
from quoth.engine import Engine
from quoth.ingest.readers.links import page_links
from quoth.ingest.readers.metadata import EMPTY, Metadata
from quoth.ingest.readers.page_links import PageLinks
from quoth.ingest.readers.registry import read
from quoth.ingest.sandbox.parent import PdfPages
from quoth.pipeline.components import Components, OutlineCache
from quoth.store.catalogue import Catalogue
from quoth.store.database import open_database
from quoth.store.ingest_jobs import Jobs
from quoth.testing import HashEmbedder, MemoryIndex
from tests.support.made_documents import put_catalogue

FIXTURES = Path(__file__).parents[1] / "fixtures"

TALK = """1
00:00:05,000 --> 00:00:12,000
A beehive has one queen, and she is the mother of every bee in it.

2
00:00:12,000 --> 00:00:21,500
Honey is made from nectar, which the workers carry home in their stomachs.

3
00:00:21,500 --> 00:00:30,000
They fan it with their wings until it is thick enough to keep.
"""

NOTES = """# Keeping bees

## Winter

In winter the colony gathers around the queen in a tight ball and shivers to keep warm.
A strong colony needs fifteen kilograms of honey to live until spring.

## Swarms

A colony swarms when the hive becomes too small for it. The old queen leaves with half of the
workers, and a new queen hatches in the hive that they left.
"""

FRENCH = """# Le miel

Le miel de châtaignier est presque noir et son goût est amer.

Le miel d'acacia reste liquide pendant des années, parce qu'il contient peu de glucose.
"""


def write_sources(folder: Path) -> Path:
    """A talk with the address of its video, notes in English and in French, and a short book."""
    folder.mkdir(parents=True)
    (folder / "hive.srt").write_text(TALK, encoding="utf-8")
    (folder / "hive.meta.json").write_text(
        '{"title": "Inside the hive", "url": "https://youtu.be/aaaaaaaaaaa", "speaker": "Ada"}',
        encoding="utf-8",
    )
    (folder / "notes.md").write_text(NOTES, encoding="utf-8")
    (folder / "miel.md").write_text(FRENCH, encoding="utf-8")
    (folder / "book.pdf").write_bytes((FIXTURES / "pdf" / "book.pdf").read_bytes())
    return folder


class ReadHere:
    """Reads files in this process."""

    async def read(self, path: Path, given: Metadata = EMPTY) -> ParsedDocument:
        return await asyncio.to_thread(read, path, given)

    async def links(self, path: Path, address: str) -> PageLinks:
        return await asyncio.to_thread(page_links, path, address=address)

    async def close(self) -> None:
        pass


def _files(settings: Settings) -> IndexPool:
    return IndexPool(settings, dimension=HashEmbedder.dimension, on_operation=lambda _name: None)


@asynccontextmanager
async def open_tour(
    home: Path,
    *,
    embedder: Embedder | None = None,
    index: Index | None = None,
    settings: Settings | None = None,
    stored: bool = False,
    generator: Generator | None = None,
    address: str | None = None,
) -> AsyncIterator[Engine]:
    """An engine over a catalogue in `home`, with doubles for all that is not given.

    ``stored`` takes the real index, in files, instead of the one in memory. With an ``address``
    the catalogue is on that server.
    """
    chosen = settings or Settings(home=home, chunk_tokens=32)
    if address is None:
        put_catalogue(home / "catalogue.sqlite")
    opened = open_database(address or home / "catalogue.sqlite")
    catalogue = Catalogue(opened, tenant=chosen.tenant)
    tables: dict[str, Index] = {}
    files = _files(chosen) if stored else None

    def open_index(table: str) -> Index:
        if index is not None:
            return index
        if files is not None:
            return files(table)
        return tables.setdefault(table, MemoryIndex())

    try:
        yield Engine(
            Components(
                settings=chosen,
                catalogue=catalogue,
                jobs=Jobs(catalogue),
                outlines=OutlineCache(catalogue),
                embedder=embedder or HashEmbedder(),
                open_index=open_index,
                readers=ReadHere,
                pages=PdfPages,
                generator=generator,
            )
        )
    finally:
        if files is not None:
            files.close()
        catalogue.close()


async def add(engine: Engine, *sources: Path) -> list[Document]:
    """Add files and folders; gives the documents."""
    steps = engine.add(sources)
    return [step async for step in steps if isinstance(step, Document)]
