"""The statements of every question, made once: building them costs more than running them."""

from __future__ import annotations

from sqlalchemy import bindparam, func, select

from quoth.catalogue.schema import chunks, collections, documents

SCOPE = (
    select(collections, documents.c.language)
    .outerjoin(documents, documents.c.collection_id == collections.c.id)
    .where(collections.c.tenant == bindparam("tenant"), collections.c.name == bindparam("name"))
    .group_by(collections.c.id, documents.c.language)
    .order_by(func.count().desc(), documents.c.language)
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
