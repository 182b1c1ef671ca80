"""Uploads of a tenant: content keys, metadata, cleanup, and quotas of what it may store."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePath
from typing import Any
from uuid import uuid4

from quoth.core.command_line import command_line
from quoth.core.custom_metadata import read_metadata
from quoth.core.errors import Busy, InputError, NotFound, StorageFull
from quoth.core.types import Document
from quoth.ingest.readers.metadata import KEYS
from quoth.pipeline.add import PIPELINE, merge_metadata
from quoth.pipeline.components import Components
from quoth.pipeline.given_metadata import DocumentMetadata
from quoth.store.blobs import Blobs, PartialUpload, source_name, source_path, stored_name
from quoth.store.catalogue import Catalogue
from quoth.store.database import Database
from quoth.store.rows import Collection, digest
from quoth.store.upload_tasks import Task
from quoth.store.uploads import Requirements, UploadStore
from quoth.text.analyzer import normalize_name
from quoth.text.json_codec import dump

STALE_HOURS = 24.0
"""Hours after which a stalled upload is abandoned."""


def tenant_blobs(parts: Components) -> Blobs:
    """Return the tenant's blob store."""
    settings = parts.settings
    return Blobs(settings.home, tenant=settings.tenant, shared=parts.files)


def missing_files(parts: Components, collection: Collection) -> list[str]:
    """Return the titles of documents whose file is not where it was added from.

    Files on a storage of several machines are not looked for.
    """
    blobs = tenant_blobs(parts)
    missing = []
    for document in parts.catalogue.documents(collection):
        if (stored := stored_name(document.source)) is not None:
            there = blobs.is_shared or blobs.exists(stored)
        else:
            path = source_path(document.source)
            there = path is None or os.path.exists(path)
        if not there:
            missing.append(document.title)
    return missing


def upload_store(parts: Components) -> UploadStore:
    """Return the tenant's upload store."""
    return UploadStore.of(parts.catalogue)


def content_key(parts: Components, *, collection: str, sha256: str, given: DocumentMetadata) -> str:
    """Return the content key of an upload, equal for uploads that make the same document."""
    fields = ["" if each is None else f"={each}" for each in given.cleaned().values()]
    fields += [dump(dict(given.custom))] if given.custom else []
    version = PIPELINE, str(parts.settings.chunk_tokens)
    return digest("upload", parts.settings.tenant, collection, sha256, *version, *fields)


def metadata_of(fields: Mapping[str, str], *, name: str | None = None) -> DocumentMetadata:
    """Return the metadata given for an uploaded file of this name."""
    custom = read_metadata(fields["metadata"]) if "metadata" in fields else {}
    known: dict[str, Any] = {key: fields.get(key) for key in KEYS}
    return DocumentMetadata(**known, name=name, custom=custom)


def describe_again(parts: Components, task: Task, given: DocumentMetadata) -> bool:
    """Apply what is given with a file whose document is there; True where it is read again for it.

    The document may have been changed since the file was sent with the same.
    """
    if task.document_id is None:
        return False
    collection = parts.catalogue.collection(task.collection)
    known = parts.catalogue.documents_by_id(collection, [task.document_id]).get(task.document_id)
    if known is None:
        return False
    merge_metadata(parts, collection, known, given)
    given = given.cleaned()
    if all(getattr(given, key) in (None, getattr(known, key)) for key in KEYS):
        return False
    upload_store(parts).repeat(task.id)
    return True


def keep_data(parts: Components, data: bytes, *, name: str) -> Path:
    """Store the content of a file among the uploads of its tenant; return its path.

    Raises StorageFull.
    """
    blobs = tenant_blobs(parts)
    part = blobs.part(uuid4().hex)
    receiving = PartialUpload(part, offset=0, most=len(data))
    try:
        receiving.write(data)
        receiving.close()
        sha256 = receiving.sha256()
        blobs.share(part, sha256=sha256, name=name)
        return blobs.store(part, sha256=sha256, name=name)
    finally:
        receiving.discard()


def forget_documents(parts: Components, ids: Sequence[str]) -> None:
    """Delete the upload records of removed documents, and files that nothing else uses."""
    upload_store(parts).forget(ids)
    delete_stale_parts(parts.catalogue.database, tenant_blobs(parts))


def delete_stale_parts(database: Database, blobs: Blobs, *, hours: float = STALE_HOURS) -> int:
    """Abandon a tenant's stalled uploads and delete unused files; return their number.

    Shared files are listed before the catalogue is read: those of later uploads are not among them.
    """
    shared = set(blobs.shared_names())

    def unused(needs: Requirements) -> int:
        used = {blobs.path(sha256, name=name).name for sha256, name in needs.tasks}
        used |= {name for name in map(stored_name, needs.sources) if name}
        shared.difference_update(used)
        blobs.clear_parts(needs.uploads, older_s=hours * 3600)
        return blobs.clear(used)

    given_up = datetime.now(UTC) - timedelta(hours=hours)
    before = given_up.isoformat(timespec="milliseconds")
    local = UploadStore(database, tenant=blobs.tenant).clear(unused, before=before)
    blobs.delete_shared(shared)
    return len(shared) if blobs.is_shared else local


LISTED = 5
"""Candidates that are named where a reference fits several."""
SHORTEST = 4
"""Characters of an id from which its beginning stands for it."""


def documents_in(catalogue: Catalogue, collection: str) -> list[Document]:
    """List the documents of a collection: ready ones, then failed and pending ones.

    Raises NotFound for an unknown collection, unless the library is new.
    """
    found = catalogue.find_collection(collection)
    if found is None and not catalogue.collections():
        return []
    return catalogue.documents(found or catalogue.collection(collection))


def find_document(documents: Sequence[Document], given: str, *, whole: bool = False) -> Document:
    """Return the document of an id, the beginning of one, a title, a file name or part of a title.

    A file name may be without its ending. With ``whole`` a part of a title is not enough. Raises
    NotFound, and InputError naming the candidates where several fit.
    """
    name, key = normalize_name(given), given.strip().casefold()
    same = [each for each in documents if each.document_id == key]
    same = same or [each for each in documents if name and normalize_name(each.title) == name]
    files = [(each, source_name(each.source)) for each in documents if each.source]
    same = same or [each for each, file in files if file == given]
    same = same or [each for each, file in files if name == normalize_name(PurePath(file).stem)]
    # A document that was not read has the name of its file as its title.
    same = same or [
        each
        for each in documents
        if each.status != "ready" and name and normalize_name(PurePath(each.title).stem) == name
    ]
    if not same and len(key) >= SHORTEST:
        same = [each for each in documents if each.document_id.startswith(key)]
    parts = [each for each in documents if name and name in normalize_name(each.title)]
    if not same and not whole:
        same = parts
    if len(same) == 1:
        return same[0]
    if same:
        raise InputError(f"'{given}' fits several documents. Give one of these ids:{_list(same)}")
    names = {each.collection for each in documents}
    see = command_line("list", collection=names.pop() if len(names) == 1 else "")
    near = f" Is it one of these?{_list(parts)}" if parts else f" See: {see}"
    raise NotFound(f"There is no document '{given}'.{near}")


def _list(documents: Sequence[Document]) -> str:
    several = len({each.collection for each in documents}) > 1
    titles = Counter(each.title for each in documents)
    lines = [
        f"\n  {each.document_id}  {each.title}"
        + (f" · {source_name(each.source)}" if titles[each.title] > 1 and each.source else "")
        + (f" ({each.collection})" if several else "")
        for each in documents[:LISTED]
    ]
    more = len(documents) - LISTED
    return "".join(lines) + (f"\n  and {more} more" if more > 0 else "")


class QuotaExceeded(StorageFull):
    """The tenant has stored as much as it may."""

    code = "quota_exceeded"


def require_room(parts: Components, *, size: int = 0) -> None:
    """Refuse a file of ``size`` bytes beyond the tenant's quotas; raises QuotaExceeded and Busy."""
    settings = parts.settings
    names = ("tenant_documents", "tenant_chunks", "tenant_mb", "tenant_uploads")
    if all(getattr(settings, name) is None for name in names):
        return
    stored = upload_store(parts).totals()
    waiting = settings.tenant_uploads
    if waiting is not None and stored.pending >= waiting:
        raise Busy(
            f"{stored.pending} uploads of this tenant are not finished, which is its limit. Wait "
            "until some are, or delete some.",
            status=429,
            retry_after_s=30,
        )
    for used, limit, unit in (
        (stored.documents + stored.pending + 1, settings.tenant_documents, "documents"),
        (stored.chunks + 1, settings.tenant_chunks, "chunks"),
        ((stored.bytes + size) / 1e6, settings.tenant_mb, "MB of files"),
    ):
        if limit is not None and used > limit:
            raise QuotaExceeded(
                f"This tenant may store {limit:,} {unit}, and this file is beyond that. Delete "
                "documents to make room, or ask the operator for more."
            )
