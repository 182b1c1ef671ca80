"""Prepared statements of the query path: building them costs more than running them."""

from __future__ import annotations

from sqlalchemy import bindparam, select

from quoth.store.schema import (
    SHOWN,
    chunks,
    collections,
    documents,
    privacy,
)

DOCUMENT = (*(documents.c[name] for name in SHOWN), documents.c.checksum)
"""What is read of a document; the labels of its pages may be many."""

COLLECTION = select(collections).where(
    collections.c.tenant == bindparam("tenant"), collections.c.name == bindparam("name")
)
_HIT = chunks.alias("hit")
_HITS = (_HIT.c.tenant == bindparam("tenant")) & _HIT.c.id.in_(bindparam("ids", expanding=True))
NEAR = (
    select(chunks)
    .join_from(
        _HIT,
        chunks,
        (chunks.c.document_id == _HIT.c.document_id)
        & (chunks.c.ordinal >= _HIT.c.ordinal - bindparam("window"))
        & (chunks.c.ordinal <= _HIT.c.ordinal + bindparam("window"))
        & (chunks.c.ordinal != _HIT.c.ordinal),
    )
    .where(_HITS)
)
_THESE = (chunks.c.tenant == bindparam("tenant")) & chunks.c.id.in_(
    bindparam("ids", expanding=True)
)
OF_CHUNKS = select(chunks).where(_THESE)
# Looked up by id only, and the collection compared by the caller: SQLite would use the collection's
# index and scan all of its documents.
OF_DOCUMENTS = select(*DOCUMENT, documents.c.collection_id).where(
    documents.c.tenant == bindparam("tenant"),
    documents.c.id.in_(bindparam("ids", expanding=True)),
)
PRIVACY = select(privacy).where(privacy.c.tenant == bindparam("tenant"))
