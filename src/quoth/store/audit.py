"""Append-only audit log: actor, action, object, time and address, chained by hash.

Each row contains the hash of the previous one, so that a row which is altered, removed, added or
moved breaks the chain at a number. Rows removed from its end leave a valid chain; only a `ChainTip`
stored elsewhere reveals that. Rows never contain queries, answers or files.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, delete, exc, func, insert, select, union

from quoth.core.errors import Busy, InputError
from quoth.core.replace_file import replacing
from quoth.store.database import Database, TenantConnection
from quoth.store.rows import folder_name, now
from quoth.store.schema import audit, collections, keys, tasks
from quoth.text.json_codec import dump


def load_head(home: Path, tenant: str) -> ChainTip | None:
    """Return the stored hash, None where none can be read."""
    try:
        found = json.loads(_path(home, tenant).read_text(encoding="utf-8"))
        return ChainTip(int(found["number"]), str(found["hash"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def store_head(home: Path, tenant: str, *, head: ChainTip) -> bool:
    """Store a newer hash; return False where it cannot be written."""
    before = load_head(home, tenant)
    if before is not None and before.number >= head.number:
        return True
    path = _path(home, tenant)
    try:
        with replacing(path) as draft:
            values = {"number": head.number, "hash": head.hash}
            draft.write_text(json.dumps(values), encoding="utf-8")
    except OSError:
        return False
    return True


def audited_tenants(database: Database) -> list[str]:
    """Name every tenant that has an audit log or may have one, also without any document."""
    every = union(*(select(table.c.tenant) for table in (audit, collections, keys, tasks)))
    with database.reading() as connection:
        return sorted(connection.execute(every).scalars())


def read_head(text: str) -> ChainTip:
    """Read NUMBER:HASH; raises InputError."""
    number, found, value = text.partition(":")
    if not found or not number.isascii() or not number.isdigit() or not value:
        raise InputError(f"'{text}' is no head. Write NUMBER:HASH, as `quoth audit verify` does.")
    return ChainTip(int(number), value)


def _path(home: Path, tenant: str) -> Path:
    return home / "audit" / f"{folder_name(tenant)}.json"


T = TypeVar("T")

BEGINNING = ""
"""What stands in the first row for the hash of the one before."""
CHECKPOINT = "audit.checkpoint"
"""The action of a row that vouches for older rows which were removed in their time."""
TRIES = 60
"""How often an append is retried after a conflict with another writer."""
LONGEST = 200
"""Characters of an object's id that are stored."""
BATCH = 1000


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One audited action: ``result`` says how it ended, ``object_id`` names its object."""

    key_id: str
    action: str
    object_id: str = ""
    result: str = "done"
    request_id: str = ""
    address: str = ""


@dataclass(frozen=True, slots=True)
class AuditRow:
    """An audit entry in the chain; ``at`` is the time in UTC."""

    number: int
    at: str
    key_id: str
    action: str
    object_id: str
    result: str
    request_id: str
    address: str
    previous: str
    hash: str


@dataclass(frozen=True, slots=True)
class ChainTip:
    """The newest row at some time: its number and hash, (0, "") where there was none."""

    number: int = 0
    hash: str = BEGINNING


@dataclass(frozen=True, slots=True)
class ChainVerification:
    """Result of a verification; ``broken_at`` is the number of the first invalid row.

    ``rows`` counts those read, from ``first`` to ``head``. ``reason`` is a sentence.
    """

    whole: bool
    rows: int
    first: int
    head: ChainTip
    broken_at: int | None = None
    reason: str = ""


class Audit(TenantConnection):
    """The audit log of one tenant."""

    def add(self, entries: Sequence[AuditEntry]) -> ChainTip:
        """Append entries in order, in one transaction; returns the new tip.

        Safe with concurrent processes. Raises Busy after too many conflicts.
        """
        return self._written("write audit", lambda connection: self._append(connection, entries))

    def head(self) -> ChainTip:
        """Return the newest row's number and hash."""
        with self.reading() as connection:
            return self._head(connection)

    def rows(self, *, limit: int, before: int | None = None) -> list[AuditRow]:
        """List rows, the newest first; ``before`` excludes that number and later ones."""
        wanted = [audit.c.tenant == self.tenant]
        if before is not None:
            wanted.append(audit.c.number < before)
        statement = select(*_COLUMNS).where(*wanted)
        with self.reading() as connection:
            found = connection.execute(statement.order_by(audit.c.number.desc()).limit(limit))
            return [AuditRow(*row) for row in found]

    def all_rows(self) -> Iterator[AuditRow]:
        """Return every row, the oldest first, without holding them all."""
        statement = select(*_COLUMNS).where(audit.c.tenant == self.tenant)
        with self.reading() as connection:
            streamed = connection.execution_options(yield_per=BATCH)
            for row in streamed.execute(statement.order_by(audit.c.number)):
                yield AuditRow(*row)

    def verify(self, *, kept: ChainTip | None = None) -> ChainVerification:
        """Verify the whole chain.

        ``kept`` is an earlier tip: its row must still exist, unless it has been pruned by age.
        """
        return verify_chain(self.all_rows(), tenant=self.tenant, kept=kept)

    def prune(self, *, before: str) -> int:
        """Remove the rows older than a time, recorded by a checkpoint; return their number.

        Only a prefix without younger rows is removed, also after the clock was set back.
        """

        def work(connection: Connection) -> int:
            own = audit.c.tenant == self.tenant
            youngest = select(func.min(audit.c.number)).where(own, audit.c.at >= before)
            end = connection.execute(youngest).scalar() or self._head(connection).number + 1
            last = connection.execute(
                select(audit.c.number, audit.c.hash).where(own, audit.c.number == end - 1)
            ).first()
            if last is None:
                return 0
            gone = connection.execute(delete(audit).where(own, audit.c.number < end)).rowcount
            vouched = AuditEntry(
                "quoth", CHECKPOINT, f"{last.number}:{last.hash}", f"removed {gone}"
            )
            self._append(connection, [vouched], head=_later(self._head(connection), last))
            return int(gone)

        return self._written("prune audit", work)

    def _written(self, operation: str, work: Callable[[Connection], T]) -> T:
        """Do it in a transaction, again and again where another took the number first."""
        for tried in range(TRIES):
            try:
                # Not exclusive: the row of a query need not wait until a document is written.
                with self.writing(operation, alone=False) as connection:
                    return work(connection)
            except exc.IntegrityError:
                time.sleep(random.uniform(0, 0.002 * (tried + 1)))  # noqa: S311 - no secret
        raise Busy("Too many processes write to the audit at once. Try again.", retryable=True)

    def _append(
        self, connection: Connection, entries: Sequence[AuditEntry], *, head: ChainTip | None = None
    ) -> ChainTip:
        at = head or self._head(connection)
        rows = []
        for entry in entries:
            row = chain_row(entry, after=at, tenant=self.tenant, when=now())
            rows.append({"tenant": self.tenant, **asdict(row)})
            at = ChainTip(row.number, row.hash)
        if rows:
            connection.execute(insert(audit), rows)
        return at

    def _head(self, connection: Connection) -> ChainTip:
        newest = (
            select(audit.c.number, audit.c.hash)
            .where(audit.c.tenant == self.tenant)
            .order_by(audit.c.number.desc())
            .limit(1)
        )
        found = connection.execute(newest).first()
        return ChainTip() if found is None else ChainTip(found.number, found.hash)


_COLUMNS = [column for column in audit.c if column.name != "tenant"]


def _later(head: ChainTip, last: Any) -> ChainTip:
    return head if head.number else ChainTip(last.number, last.hash)


def chain_row(entry: AuditEntry, *, after: ChainTip, tenant: str, when: str) -> AuditRow:
    """Return the row that follows a tip."""
    row = AuditRow(
        number=after.number + 1,
        at=when,
        key_id=_plain(entry.key_id, 20),
        action=_plain(entry.action, 40),
        object_id=_plain(entry.object_id, LONGEST),
        result=_plain(entry.result, 20),
        request_id=_plain(entry.request_id, 40),
        address=_plain(entry.address, 60),
        previous=after.hash,
        hash="",
    )
    return AuditRow(**{**asdict(row), "hash": hash_of(row, tenant=tenant)})


def hash_of(row: AuditRow, *, tenant: str) -> str:
    """Return the SHA-256 of all values of a row, including the previous hash."""
    said = {"tenant": tenant, **{name: each for name, each in asdict(row).items()}}
    del said["hash"]
    return sha256(dump(dict(sorted(said.items()))).encode()).hexdigest()


def verify_chain(
    rows: Iterator[AuditRow], *, tenant: str, kept: ChainTip | None = None
) -> ChainVerification:
    """Follow a chain from its oldest row to its newest."""
    first, count, head, cut = 0, 0, ChainTip(), None
    seen_kept = kept is None or kept.number == 0
    for row in rows:
        count += 1
        if count == 1:
            first = row.number
            if row.number != 1 or row.previous != BEGINNING:
                cut = f"{row.number - 1}:{row.previous}"
            head = ChainTip(row.number - 1, row.previous)
        wrong = _wrong(row, after=head, tenant=tenant)
        if kept is not None and row.number == kept.number:
            seen_kept = True
            if row.hash != kept.hash:
                wrong = wrong or (row.number, "another row is in the place of the trusted one")
        if wrong:
            return ChainVerification(False, count, first, head, *wrong)
        if row.action == CHECKPOINT and row.object_id == cut:
            cut = None
        head = ChainTip(row.number, row.hash)
    if cut is not None:
        reason = f"the rows before number {first} are gone, and no checkpoint vouches for them"
        return ChainVerification(False, count, first, head, first - 1, reason)
    if not seen_kept and kept is not None and kept.number >= first:
        reason = f"the rows after number {head.number} are missing: number {kept.number} existed"
        return ChainVerification(False, count, first, head, head.number + 1, reason)
    return ChainVerification(True, count, first, head)


def _wrong(row: AuditRow, *, after: ChainTip, tenant: str) -> tuple[int, str] | None:
    if row.number != after.number + 1:
        return after.number + 1, "a row is missing"
    if row.previous != after.hash:
        return row.number, "a row does not follow the one before it"
    if row.hash != hash_of(row, tenant=tenant):
        return row.number, "a row was altered"
    return None


def _plain(text: str, most: int) -> str:
    """Leave out what no database takes and what could pass for another line."""
    return "".join(each if each.isprintable() else "\ufffd" for each in text[:most])
