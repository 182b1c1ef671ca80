"""The statements of every question, made once: building them costs more than running them."""

from __future__ import annotations

from sqlalchemy import bindparam, select

from quoth.catalogue.schema import chunks, collections, documents

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
        & (chunks.c.ordinal <= _HIT.c.ordinal + bindparam("window")),
    )
    .where(_HITS)
)
OWNERS = select(documents).where(
    documents.c.collection_id == bindparam("collection"),
    documents.c.id.in_(select(_HIT.c.document_id).where(_HITS)),
)
