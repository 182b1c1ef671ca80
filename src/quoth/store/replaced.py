"""Documents that were replaced: their ids lead to the present ones, as far as the texts agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from itertools import takewhile
from operator import eq
from typing import Any

from sqlalchemy import Connection, delete, insert, select

from quoth.store.rows import parts
from quoth.store.schema import chunks, replaced_documents

MAX_EARLIER = 100
"""Earlier ids of a document that lead to it."""


def replacements(
    connection: Connection,
    ids: Mapping[str, str],
    *,
    text_of: Callable[[str], str],
    tenant: str,
) -> list[dict[str, Any]]:
    """Return the rows of the documents that are replaced, and of all that those had replaced.

    ``ids`` maps old ids to new ones, and a document that is written again to itself; ``text_of``
    returns the text of a new one. The texts of the old ones must still be stored.
    """
    table = replaced_documents
    earlier = connection.execute(
        select(table.c.id, table.c.document_id, table.c.same_until).where(
            table.c.tenant == tenant, table.c.document_id.in_(ids)
        )
    ).all()
    changed = {old for old, new in ids.items() if old != new}
    same = {
        old: _same_until(_texts(connection, old, tenant=tenant), text_of(ids[old]))
        for old in changed | {row.document_id for row in earlier}
    }
    ends = {
        row.id: (row.document_id, min(row.same_until, same[row.document_id])) for row in earlier
    }
    ends |= {old: (old, same[old]) for old in changed}
    # Of a document that is replaced all the time, those that agree with it longest.
    longest = sorted(ends.items(), key=lambda pair: (-pair[1][1], pair[0] not in changed))
    counts: Counter[str] = Counter()
    found = []
    for key, (before, end) in longest:
        counts[ids[before]] += 1
        if counts[ids[before]] <= MAX_EARLIER:
            row = {"id": key, "tenant": tenant, "document_id": ids[before], "same_until": end}
            found.append(row)
    return found


def write_replacements(
    connection: Connection, rows: Sequence[Mapping[str, Any]], *, present: Set[str], tenant: str
) -> None:
    """Write rows in place of those of the same ids; a document that is present has none."""
    table = replaced_documents
    known = sorted(present | {row["id"] for row in rows})
    for part in parts(known):
        these = table.c.id.in_(part)
        connection.execute(delete(table).where(table.c.tenant == tenant, these))
    kept = [row for row in rows if row["id"] not in present]
    if kept:
        connection.execute(insert(table), kept)


def stored_text(connection: Connection, document_id: str, *, tenant: str) -> str:
    """Return the stored text of a document, "" without one."""
    return "".join(_texts(connection, document_id, tenant=tenant))


def _texts(connection: Connection, document_id: str, *, tenant: str) -> Iterator[str]:
    """Yield the texts of a document's chunks, in order."""
    own = (chunks.c.tenant == tenant) & (chunks.c.document_id == document_id)
    statement = select(chunks.c.text).where(own).order_by(chunks.c.ordinal)
    with connection.execute(statement) as rows:
        yield from rows.scalars()


def _same_until(pieces: Iterator[str], text: str) -> int:
    """Return how many characters a text in pieces has in common with another, from the first."""
    at = 0
    for piece in pieces:
        if not text.startswith(piece, at):
            pairs = map(eq, piece, text[at : at + len(piece)])
            return at + sum(1 for _ in takewhile(bool, pairs))
        at += len(piece)
    return at
