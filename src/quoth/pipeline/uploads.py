"""Uploads of a tenant: content keys, metadata and cleanup."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from quoth.pipeline.add import PIPELINE, DocumentMetadata
from quoth.pipeline.components import Components
from quoth.store.blobs import Blobs, stored_name
from quoth.store.database import Database
from quoth.store.rows import digest
from quoth.store.uploads import Requirements, UploadStore

STALE_HOURS = 24.0
"""Hours after which a stalled upload is abandoned."""


def tenant_blobs(parts: Components) -> Blobs:
    """Return the tenant's blob store."""
    return Blobs(parts.settings.home, tenant=parts.settings.tenant)


def upload_store(parts: Components) -> UploadStore:
    """Return the tenant's upload store."""
    return UploadStore.of(parts.catalogue)


def content_key(parts: Components, *, collection: str, sha256: str, given: DocumentMetadata) -> str:
    """Return the content key of an upload, equal for uploads that make the same document."""
    fields = ["" if each is None else f"={each}" for each in given.cleaned().values()]
    version = PIPELINE, str(parts.settings.chunk_tokens)
    return digest("upload", parts.settings.tenant, collection, sha256, *version, *fields)


def metadata_of(fields: Mapping[str, str], *, name: str | None = None) -> DocumentMetadata:
    """Return the metadata given for an uploaded file of this name."""
    return DocumentMetadata(
        title=fields.get("title"),
        url=fields.get("url"),
        speaker=fields.get("speaker"),
        language=fields.get("language"),
        name=name,
    )


def forget_documents(parts: Components, ids: Sequence[str]) -> None:
    """Delete the upload records of removed documents, and files that nothing else uses."""
    upload_store(parts).forget(ids)
    settings = parts.settings
    delete_stale_parts(parts.catalogue.database, home=settings.home, tenant=settings.tenant)


def delete_stale_parts(
    database: Database, *, home: Path, tenant: str, hours: float = STALE_HOURS
) -> int:
    """Abandon stalled uploads and delete unused files; return their number."""
    blobs = Blobs(home, tenant=tenant)

    def unused(needs: Requirements) -> int:
        used = {blobs.path(sha256, name=name).name for sha256, name in needs.tasks}
        used |= {name for name in map(stored_name, needs.sources) if name}
        blobs.clear_parts(needs.uploads, older_s=hours * 3600)
        return blobs.clear(used)

    given_up = datetime.now(UTC) - timedelta(hours=hours)
    before = given_up.isoformat(timespec="milliseconds")
    return UploadStore(database, tenant=tenant).clear(unused, before=before)
