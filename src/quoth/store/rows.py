"""Rows of the catalogue to values and back."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, cast
from uuid import uuid4

from sqlalchemy import String, Text
from sqlalchemy.types import TypeEngine

from quoth.core.calibration import Tuning
from quoth.core.custom_metadata import MetadataValue
from quoth.core.outline import Heading, Summary
from quoth.core.settings import Settings
from quoth.core.types import Chunk, Document, IndexIdentity
from quoth.text.json_codec import decode_json, dump, pack_locator, pack_places, unpack_spot

T = TypeVar("T")
BATCH = 400
"""Ids in one statement; SQLite allows more, PostgreSQL plans well up to about here."""


def parts(whole: Sequence[T]) -> Iterator[Sequence[T]]:
    """Yield a sequence in parts of up to `BATCH`."""
    for at in range(0, len(whole), BATCH):
        yield whole[at : at + BATCH]


def index_folder(settings: Settings) -> Path:
    """Return the folder of the tenant's indexes; file names begin with their table's name."""
    return settings.home / "index" / folder_name(settings.tenant)


def tokens_folder(settings: Settings) -> Path:
    """Return the folder of the tenant's token vectors."""
    return settings.home / "tokens" / folder_name(settings.tenant)


def mirrors_folder(settings: Settings) -> Path:
    """Return the folder of what was fetched for the tenant, a folder for each collection."""
    return settings.home / "mirrors" / folder_name(settings.tenant)


def words(most: int | None = None) -> TypeEngine[Any]:
    """Text that is compared and ordered by code points, whatever the server's language is.

    ``most`` is the length that writers respect; no database truncates or rejects longer values.
    """
    kind = Text() if most is None else String(most)
    return kind.with_variant(Text(collation="C"), "postgresql")


@dataclass(frozen=True, slots=True)
class IndexBuild:
    """An index of a collection: its table, its identity, and the setting of its embedder.

    ``embedder`` is empty where it is not known, ``replaced_at`` while the index is in use.
    """

    table: str
    identity: IndexIdentity
    embedder: str = ""
    replaced_at: str = ""


@dataclass(frozen=True, slots=True)
class Collection:
    """A named set of documents with one index identity; `table` is the index that serves it.

    ``embedder`` is the setting that opens the identity's embedder, ``kept`` the index of the one
    that it had before.
    """

    id: str
    name: str
    table: str
    identity: IndexIdentity
    version: int
    tuning: Tuning | None = None
    embedder: str = ""
    kept: IndexBuild | None = None

    @property
    def build(self) -> IndexBuild:
        """Return the index that serves it."""
        return IndexBuild(self.table, self.identity, self.embedder)

    @property
    def index_version(self) -> str:
        """Changes whenever what a search can find changes."""
        return f"{self.table}:{self.version}"


def digest(*parts: str) -> str:
    """Return a short id that depends on every part and on the boundaries between them."""
    return sha256(json.dumps(parts).encode()).hexdigest()[:24]


def folder_name(tenant: str) -> str:
    """Return the folder name of a tenant, from which the tenant's id cannot be derived."""
    return digest(tenant)[:12]


def is_path_segment(name: str) -> bool:
    """Return whether a name can be one segment of a URL's path, as a collection's is."""
    plain = name.isprintable() and name.strip() == name != ""
    return plain and not ("/" in name or "\\" in name or name in (".", ".."))


def now() -> str:
    """Return the current time in UTC, as ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


@dataclass(frozen=True, slots=True)
class Entry:
    """A document ready to be committed, with the data that only the catalogue stores."""

    document: Document
    sha256: str
    labels: tuple[str, ...]
    chunks: tuple[Chunk, ...]
    headings: tuple[Heading, ...] = ()
    summaries: tuple[Summary, ...] = ()
    speakers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChunkContext:
    """Chunks with their neighbours, and the documents they belong to, both by id."""

    chunks: dict[str, Chunk]
    documents: dict[str, Document]


def from_row(kind: type[T], row: Any, **others: Any) -> T:
    """Return the value whose fields are the columns of their names; ``others`` are not so named."""
    columns = row._mapping
    names = (field.name for field in fields(cast(Any, kind)) if field.name not in others)
    return kind(**{name: columns[name] for name in names}, **others)


def collection_from_row(row: Any) -> Collection:
    """Return the collection of a row."""
    identity = decode_json(IndexIdentity, json.loads(row.identity))
    return Collection(
        row.id,
        row.name,
        row.index_table,
        identity,
        row.version,
        tuning=None if row.tuning is None else decode_json(Tuning, json.loads(row.tuning)),
        embedder=row.embedder or "",
        kept=None if row.kept is None else decode_json(IndexBuild, json.loads(row.kept)),
    )


def chunk_to_row(chunk: Chunk, *, tenant: str) -> dict[str, Any]:
    """Return the row of a chunk."""
    return {
        "id": chunk.chunk_id,
        "tenant": tenant,
        "document_id": chunk.document_id,
        "ordinal": chunk.ordinal,
        "start": chunk.start,
        "end": chunk.end,
        "text": chunk.text,
        "prefix": chunk.prefix,
        "section": dump(list(chunk.section)),
        "kind": chunk.kind,
        "language": chunk.language,
        "tokens": chunk.tokens,
        "locator": pack_locator(chunk.locator),
        "places": pack_places(chunk.places),
        "chapter": chunk.chapter,
        "segment": chunk.segment,
        "date": chunk.date,
    }


def chunk_from_row(row: Any) -> Chunk:
    """Return the chunk of a row with all columns of the table.

    Columns are read by position: looking each up by name would dominate the cost.
    """
    key, _tenant, document_id, ordinal, start, end, text, prefix, section_json, kind, *more = row
    language, tokens, locator_json, places_json, chapter, segment, date, _checksum = more
    locator, places, section = unpack_spot(
        locator=locator_json, places=places_json, section=section_json
    )
    return Chunk(
        chunk_id=key,
        document_id=document_id,
        ordinal=ordinal,
        start=start,
        end=end,
        text=text,
        locator=locator,
        kind=kind,
        places=places,
        section=section,
        prefix=prefix,
        language=language,
        tokens=tokens,
        chapter=chapter,
        segment=segment,
        date=date,
    )


def document_to_row(entry: Entry, *, tenant: str, collection: str) -> dict[str, Any]:
    """Return the row of a ready document; ``collection`` is the collection's id."""
    document = entry.document
    return {
        "id": document.document_id,
        "tenant": tenant,
        "collection_id": collection,
        "sha256": entry.sha256,
        "source": document.source,
        "title": document.title,
        "kind": document.kind,
        "language": document.language,
        "url": document.url,
        "speaker": document.speaker,
        "pages": document.pages,
        "labels": dump(list(entry.labels)),
        "seconds": document.seconds,
        "chunks": len(entry.chunks),
        "warnings": dump(list(document.warnings)),
        "added_at": now(),
        "date": document.date,
        "metadata": pack_metadata(document.metadata),
    }


def document_from_row(row: Any, *, collection: str) -> Document:
    """Return the document of a row of the documents table."""
    return Document(
        document_id=row.id,
        title=row.title,
        kind=row.kind,
        status="ready",
        chunks=row.chunks,
        pages=row.pages,
        seconds=row.seconds,
        language=row.language,
        collection=collection,
        source=row.source,
        url=row.url,
        speaker=row.speaker,
        date=row.date,
        warnings=() if row.warnings == "[]" else tuple(json.loads(row.warnings)),
        metadata=unpack_metadata(row.metadata),
    )


def pack_metadata(metadata: Mapping[str, MetadataValue]) -> str | None:
    """Encode custom metadata as JSON, None without any; `unpack_metadata` restores them."""
    return dump(dict(metadata)) if metadata else None


def unpack_metadata(packed: str | None) -> dict[str, MetadataValue]:
    """Read what `pack_metadata` wrote; it was checked when it was given."""
    values = json.loads(packed) if packed else {}
    return {key: tuple(each) if isinstance(each, list) else each for key, each in values.items()}


def new_owner() -> str:
    """Return a new owner name, from which this machine can tell whether its process is dead."""
    return f"{os.getpid()}.{machine()}.{uuid4().hex[:12]}"


def is_over(owner: str | None, until: float | None, *, now: float, seconds: float) -> bool:
    """Return whether a lease is free: it has expired, or its owner's process has ended.

    ``seconds`` is the maximum duration. A lease that extends further was written before the clock
    was set back; a live owner soon renews it by the current clock.
    """
    ends = until or 0.0
    return ends < now or ends > now + 2 * seconds or is_dead(owner or "")


@cache
def machine() -> str:
    """Name this machine, since when it runs and where processes are counted, in few characters."""
    found = [platform.node()]
    with suppress(OSError):
        found.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii"))
        found.append(str(Path("/proc/self/ns/pid").readlink()))
    return digest(*found)[:8]


def is_dead(owner: str) -> bool:
    """Return whether the process of an owner (PID.MACHINE.RANDOM) is known to have ended.

    Owners on other machines, which share a server's catalogue, are known by their leases only.
    """
    pid, _, rest = owner.partition(".")
    return rest.startswith(f"{machine()}.") and not _alive(int(pid))


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
