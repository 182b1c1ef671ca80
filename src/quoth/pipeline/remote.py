"""Remote sources: pages and sites of the web are fetched into the collection's mirror folders."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from pathlib import Path

from quoth.core.errors import InputError
from quoth.core.types import Document, Problem
from quoth.ingest.sources.http import Internet
from quoth.ingest.sources.mirror import FetchedItem, SourceListing, locked
from quoth.ingest.sources.site import CrawlLimits, crawl
from quoth.ingest.sources.url_safety import target
from quoth.ingest.sources.youtube.videos import VideoOptions, fetch_videos, is_youtube
from quoth.pipeline.components import Components
from quoth.store.rows import digest, mirrors_folder

Warn = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class RemoteOptions:
    """What a call chooses for its remote sources."""

    limits: CrawlLimits = field(default_factory=CrawlLimits)
    videos: VideoOptions = field(default_factory=VideoOptions)
    drop_gone: bool = False
    """Whether files of items that are gone from their source are deleted."""


def is_address(source: str) -> bool:
    """Return whether a source is a web address rather than a file."""
    return source.lower().startswith(("http://", "https://"))


def check_sources(sources: Iterable[str]) -> None:
    """Raise InputError for an empty name, which would be the folder that quoth runs in."""
    if not all(sources):
        raise InputError("The name of a source is empty. Give a file or a folder.")


def mirror_folder(parts: Components, collection: str, *, host: str = "") -> Path:
    """Return the folder of a collection's fetched files, or that of one host."""
    return mirrors_folder(parts.settings) / digest(collection)[:12] / host


async def fetch_items(
    parts: Components,
    address: str,
    *,
    collection: str,
    options: RemoteOptions,
    internet: Internet | None = None,
    warn: Warn = lambda _line: None,
) -> AsyncGenerator[FetchedItem, None]:
    """Fetch what an address leads to; yields each item with its file, or why it has none.

    Raises InputError, DocumentError, Busy and StorageFull; what was fetched stays, and repeating
    the call continues from there.
    """
    if not parts.settings.allow_urls:
        raise InputError(
            "Addresses are not fetched here. Set QUOTH_ALLOW_URLS=true to have them fetched, or "
            "download the file, add that, and give its address as its url."
        )
    host = "youtube.com" if is_youtube(address) else target(address).host
    with locked(mirror_folder(parts, collection, host=host)) as mirror:
        if is_youtube(address):
            steps = fetch_videos(
                address,
                mirror=mirror,
                options=options.videos,
                internet=internet,
                drop_gone=options.drop_gone,
                warn=warn,
            )
        else:
            before = mirror.listings.get(target(address).address, SourceListing())
            steps = crawl(
                address,
                mirror=mirror,
                limits=replace(options.limits, depth=options.limits.depth or before.depth),
                read_links=parts.readers().links,
                internet=internet,
                drop_gone=options.drop_gone,
                warn=warn,
            )
        async with aclosing(steps):
            async for item in steps:
                yield item


def failed_item(item: FetchedItem, *, collection: str) -> Document:
    """Return the document of an item without a file."""
    assert item.problem is not None
    return Document(
        document_id=digest(collection, item.address),
        title=item.address,
        kind=None,
        status="failed",
        error=Problem(item.problem.code, str(item.problem)),
        collection=collection,
        source=item.address,
        url=item.address,
    )


async def forget_mirrored(parts: Components, collection: str, sources: Iterable[str]) -> None:
    """Delete the fetched files of documents that were removed."""
    root = mirror_folder(parts, collection)
    by_host: dict[Path, list[Path]] = {}
    for source in sources:
        path = Path(source)
        if path.is_relative_to(root):
            by_host.setdefault(root / path.relative_to(root).parts[0], []).append(path)

    def drop() -> None:
        for folder, paths in by_host.items():
            with locked(folder) as mirror:
                mirror.drop(paths)

    await asyncio.to_thread(drop)


async def clear_mirrors(parts: Components) -> int:
    """Delete the fetched files that no document of the tenant comes from; return their number."""

    def clear() -> int:
        catalogue, count = parts.catalogue, 0
        root = mirrors_folder(parts.settings)
        there = {digest(each.name)[:12]: each for each in catalogue.collections()}
        for folder in root.iterdir() if root.is_dir() else ():
            collection = there.get(folder.name)
            if collection is None:
                count += sum(each.is_file() for each in folder.rglob("*"))
                shutil.rmtree(folder, ignore_errors=True)
                continue
            known = {document.source for document in catalogue.documents(collection)}
            for host in folder.iterdir():
                with locked(host) as mirror:
                    stray = [
                        path
                        for item in mirror.items.values()
                        if item.file and str(path := mirror.folder / item.file) not in known
                    ]
                    mirror.drop(stray)
                    count += len(stray)
        return count

    return await asyncio.to_thread(clear)
