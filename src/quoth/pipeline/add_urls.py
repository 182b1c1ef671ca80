"""Fetches URLs to add: each page becomes an uploaded file."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from quoth.ingest.sources.http import (
    Connect,
    Fetched,
    Resolve,
    fetch,
)
from quoth.pipeline.add import DocumentMetadata
from quoth.pipeline.components import Components
from quoth.pipeline.uploads import tenant_blobs


def is_address(source: str) -> bool:
    """Return whether a source is a web address rather than a file."""
    return source.lower().startswith(("http://", "https://"))


async def fetch_urls(
    parts: Components,
    urls: Sequence[str],
    *,
    given: DocumentMetadata,
    resolve: Resolve | None = None,
    connect: Connect | None = None,
) -> dict[Path, DocumentMetadata]:
    """Fetch pages into the tenant's files; return the metadata of each for adding it.

    The url is the address after all redirects, to which citations link. Raises as
    `quoth.ingest.sources.http` does, and StorageFull.
    """
    found: dict[Path, DocumentMetadata] = {}
    for url in urls:
        with TemporaryDirectory(prefix="quoth-") as folder:
            page = await fetch(
                url,
                folder=Path(folder),
                allowed=parts.settings.allow_urls,
                resolve=resolve,
                connect=connect,
            )
            path = await asyncio.to_thread(_keep, parts, page)
        about = replace(given, files={}, url=given.url or page.address, name=page.path.name)
        found[path.resolve()] = about
    return found


def _keep(parts: Components, page: Fetched) -> Path:
    data = page.path.read_bytes()
    blobs = tenant_blobs(parts)
    found = sha256(data).hexdigest()
    # Copied, since a file cannot be moved across file systems.
    part = blobs.part(found)
    part.parent.mkdir(parents=True, exist_ok=True)
    part.write_bytes(data)
    return blobs.store(part, sha256=found, name=page.path.name)
