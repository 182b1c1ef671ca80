"""Quotas of a tenant: what it may store, checked before a file is received."""

from __future__ import annotations

from quoth.core.errors import Busy, StorageFull
from quoth.pipeline.components import Components
from quoth.pipeline.uploads import upload_store


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
