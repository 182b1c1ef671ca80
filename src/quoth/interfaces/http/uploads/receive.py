"""Receives files: from the bytes of a request to a task in the queue, without holding them."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Self
from uuid import uuid4

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from quoth.core.custom_metadata import check_metadata, read_metadata
from quoth.core.errors import (
    DocumentError,
    InputError,
    NotFound,
    StorageFull,
    TooLarge,
)
from quoth.ingest.readers.metadata import KEYS, SIDECAR, custom_in_sidecar, parse_sidecar
from quoth.ingest.sources.http import Internet, get, in_utf8, page_name
from quoth.interfaces.http.text_rules import (
    DocumentDate,
    Language,
    NewCollectionName,
    Text,
    WebAddress,
)
from quoth.pipeline.components import Components
from quoth.pipeline.uploads import (
    content_key,
    describe_again,
    metadata_of,
    require_room,
    tenant_blobs,
    upload_store,
)
from quoth.store.blobs import BLOCK, Blobs, PartialUpload, clean_name
from quoth.store.upload_tasks import LEASE_SECONDS, Task
from quoth.store.uploads import UploadStore

METADATA = (*KEYS, "metadata")
EMPTY = "This file is empty: it has no bytes to read."


class UploadMetadata(BaseModel):
    """Metadata of a file; it takes precedence over the metadata in the file."""

    model_config = ConfigDict(extra="forbid")

    name: str | None = Field(default=None, max_length=4096, examples=["lecture-3.pdf"])
    collection: NewCollectionName | None = None
    title: Annotated[Text, Field(max_length=500)] | None = None
    url: Annotated[WebAddress, Field(max_length=2000)] | None = None
    speaker: Annotated[Text, Field(max_length=200)] | None = None
    language: Annotated[Language, Field(max_length=20, examples=["en"])] | None = None
    date: Annotated[DocumentDate, Field(max_length=40, examples=["2024-03-01"])] | None = None
    metadata: Annotated[
        Annotated[str, Field(max_length=8000)] | None,
        BeforeValidator(lambda given: json.dumps(given) if isinstance(given, dict) else given),
        Field(examples=['{"team": "legal"}']),
    ] = None
    """Keys and values of the caller's own, as a JSON object, by which questions can be filtered."""
    sidecar: Annotated[str | None, Field(max_length=8000)] = None
    """The text of the file's ``.meta.json``: it gives what the other fields do not."""

    @model_validator(mode="after")
    def _read_sidecar(self) -> Self:
        if self.sidecar is not None:
            said, _ = parse_sidecar(self.sidecar, name=SIDECAR)
            self.title = self.title or (said.title and said.title[:500])
            self.speaker = self.speaker or (said.speaker and said.speaker[:200])
            self.url = self.url or said.url
            self.language = self.language or said.language
            self.date = self.date or said.date
            if self.metadata is None and (own := custom_in_sidecar(self.sidecar)):
                with suppress(InputError):
                    self.metadata = json.dumps(check_metadata(own))
        if self.metadata is not None:
            read_metadata(self.metadata)
        return self


class NotFetched(InputError):
    """A web page could not be fetched; its message says why."""

    code = "not_fetched"


class WrongOffset(InputError):
    """The bytes sent do not continue those received."""

    code = "wrong_offset"
    status = 409

    def __init__(self, message: str, *, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


def metadata_fields(said: dict[str, str | None]) -> dict[str, str]:
    """Return the metadata of a file that is set."""
    return {name: text for name in METADATA if (text := said.get(name))}


async def receive_whole(
    parts: Components,
    stream: AsyncIterator[bytes],
    *,
    about: Callable[[], dict[str, str | None]],
    key_id: str,
) -> tuple[Task, bool]:
    """Store a complete file and queue it once; return True for a new one.

    ``about`` returns its metadata after the last byte. An error leaves nothing behind. Raises
    InputError, TooLarge and StorageFull.
    """
    await asyncio.to_thread(require_room, parts)
    blobs, arrivals = tenant_blobs(parts), upload_store(parts)
    part = blobs.part(uuid4().hex)
    most = parts.settings.max_upload_mb * 2**20
    async with _growing(part, offset=0, most=most) as growing:
        try:
            await _receive(stream, growing)
            said = about()
            await asyncio.to_thread(growing.close)
            sha256, given = growing.sha256(), metadata_fields(said)
            collection = said["collection"] or parts.settings.collection
            name = clean_name(said["name"] or "")
            about_file = metadata_of(given)
            key = content_key(parts, collection=collection, sha256=sha256, given=about_file)
            await asyncio.to_thread(check_size, parts, growing.received, key=key)
            task, new = await asyncio.to_thread(
                arrivals.submit,
                key,
                name=name,
                collection=collection,
                given=given,
                size=growing.received,
                sha256=sha256,
                key_id=key_id,
                place=lambda: blobs.store(part, sha256=sha256, name=name),
                share=_sharing(blobs, part, sha256=sha256, name=name),
            )
            if not new and await asyncio.to_thread(describe_again, parts, task, about_file):
                return await asyncio.to_thread(arrivals.find, key), True
            return task, new
        finally:
            growing.discard()


async def receive_page(
    parts: Components,
    url: str,
    *,
    said: dict[str, str | None],
    key_id: str,
    internet: Internet | None = None,
) -> tuple[Task, bool]:
    """Fetch a web page and queue it as a file once; return True for a new one.

    Its url is the address at the end of all redirects. Raises NotFetched and InputError, and as
    `receive_whole` does.
    """
    try:
        page = await get(url, internet=internet or Internet())
    except DocumentError as error:
        raise NotFetched(str(error)) from error
    about = {**said, "url": page.address, "name": said["name"] or page_name(page)}

    async def content() -> AsyncIterator[bytes]:
        yield await asyncio.to_thread(in_utf8, page)

    return await receive_whole(parts, content(), about=lambda: about, key_id=key_id)


async def receive_more(
    parts: Components, key: str, stream: AsyncIterator[bytes], *, offset: int
) -> Task:
    """Store the next bytes of an upload, and queue it with its last one.

    Bytes received before a client disconnected stay. Raises NotFound, Busy, TooLarge, WrongOffset,
    and StorageFull, after which the upload starts over.
    """
    blobs, arrivals = tenant_blobs(parts), upload_store(parts)
    task = await asyncio.to_thread(arrivals.take, key)
    if task.state != "receiving":
        # A client that missed the response to its last bytes sends them again.
        sent = sum([len(data) async for data in stream])
        if task.size in (offset, offset + sent):
            return task
        whole = f"This upload is complete: all {task.size:,} bytes were received."
        raise WrongOffset(whole, offset=task.size)
    part = blobs.part(key)
    there = received(part)
    try:
        if offset != there:
            raise WrongOffset(
                f"{there:,} bytes were received. Continue at that offset.", offset=there
            )
        async with _growing(part, offset=offset, most=task.size) as growing:
            try:
                await _receive(stream, growing, renew=lambda: arrivals.take(key))
            except StorageFull:
                growing.discard()
                raise
            finally:
                there = received(part)
            await asyncio.to_thread(growing.close)
            if there < task.size:
                return task
            sha256 = await asyncio.to_thread(growing.sha256)
        return await asyncio.to_thread(_complete, parts, arrivals, task, sha256)
    finally:
        # Also when the client disconnects: it can continue from here.
        await asyncio.shield(asyncio.to_thread(arrivals.save_progress, key, received=there))


def received(part: Path) -> int:
    """Return the bytes received of an upload: the length of its file, also after a crash."""
    try:
        return part.stat().st_size
    except FileNotFoundError:
        return 0


def check_size(parts: Components, size: int, *, key: str | None = None) -> None:
    """Refuse an empty or too large file, or one beyond the tenant's quotas, unless it is there.

    ``key`` is its upload's, once its content is known. Raises InputError, TooLarge, StorageFull.
    """
    most = parts.settings.max_upload_mb
    if size < 1:
        raise InputError(EMPTY)
    if size > most * 2**20:
        raise TooLarge(f"A file can have up to {most} MB.")
    try:
        known = key is not None and upload_store(parts).find(key)
    except NotFound:
        known = False
    if not known:
        require_room(parts, size=size)


def _complete(parts: Components, arrivals: UploadStore, task: Task, sha256: str) -> Task:
    blobs = tenant_blobs(parts)
    part = blobs.part(task.id)
    return arrivals.complete(
        task.id,
        sha256=sha256,
        place=lambda: blobs.store(part, sha256=sha256, name=task.name),
        share=_sharing(blobs, part, sha256=sha256, name=task.name),
    )


def _sharing(blobs: Blobs, part: Path, *, sha256: str, name: str) -> Callable[[], object] | None:
    return partial(blobs.share, part, sha256=sha256, name=name) if blobs.is_shared else None


async def file_bytes(path: Path) -> AsyncIterator[bytes]:
    """Yield the bytes of a file on the disk, as a request sends them."""
    yield await asyncio.to_thread(path.read_bytes)


@asynccontextmanager
async def _growing(part: Path, *, offset: int, most: int) -> AsyncIterator[PartialUpload]:
    growing = await asyncio.to_thread(PartialUpload, part, offset=offset, most=most)
    try:
        yield growing
    finally:
        growing.release()


async def _receive(
    stream: AsyncIterator[bytes],
    growing: PartialUpload,
    *,
    renew: Callable[[], object] | None = None,
) -> None:
    """Write a stream block by block; the data before an interruption is kept."""
    held = bytearray()
    renewed = time.monotonic()
    try:
        async for data in stream:
            # Also for a slow stream, or another request would write to the same file.
            if renew is not None and time.monotonic() - renewed > LEASE_SECONDS / 4:
                await asyncio.to_thread(renew)
                renewed = time.monotonic()
            held += data
            if len(held) >= BLOCK:
                block, held = bytes(held), bytearray()
                await asyncio.to_thread(growing.write, block)
    finally:
        if held:
            await asyncio.shield(asyncio.to_thread(growing.write, bytes(held)))
