"""Share tokens: temporary read access to one collection.

They are independent of API keys: neither can be derived from the other, and a leaked share gives
access to its collection only.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from hmac import compare_digest
from typing import Any

from sqlalchemy import and_, insert, select, update

from quoth.core.errors import InputError, NotFound
from quoth.store.checksums import first_intact, intact
from quoth.store.database import Database, TenantConnection
from quoth.store.keys import NO_HASH, SECRET_BYTES, WRITTEN, hash_secret, in_days, new_id
from quoth.store.rows import from_row, now
from quoth.store.schema import collections, shares

LABEL = "qsh_"
"""What every token of a share begins with."""
SHAPE = re.compile(LABEL + WRITTEN)
ID_LABEL = "sh_"
"""What the id of a share begins with, which no id of a key does."""
MAX_DAYS = 365


@dataclass(frozen=True, slots=True)
class Share:
    """A share of a collection, or of a live session, without its token; times are ISO 8601."""

    share_id: str
    tenant: str
    collection: str
    created_at: str
    expires_at: str
    revoked_at: str | None = None
    lecture_id: str | None = None

    @property
    def live(self) -> bool:
        """Return whether the share is currently valid."""
        return self.revoked_at is None and now() < self.expires_at


@dataclass(frozen=True, slots=True)
class NewShare:
    """A new share with its ``token``, which cannot be shown again."""

    share: Share
    token: str


class Shares(TenantConnection):
    """The shares of one tenant."""

    def add(
        self, *, collection: str, expires_days: float, lecture_id: str | None = None
    ) -> NewShare:
        """Share a collection, or a live session that is known to exist.

        Raises NotFound where there is no collection of that name, and InputError.
        """
        if expires_days > MAX_DAYS:
            raise InputError(f"A share can last up to {MAX_DAYS} days, not {expires_days:g}.")
        token = LABEL + secrets.token_urlsafe(SECRET_BYTES)
        share = Share(
            ID_LABEL + new_id(),
            self.tenant,
            collection,
            created_at=now(),
            expires_at=in_days(expires_days),
            lecture_id=lecture_id,
        )
        there = select(collections.c.id).where(
            collections.c.tenant == self.tenant, collections.c.name == collection
        )
        with self.writing("add share") as connection:
            if lecture_id is None and connection.execute(there).first() is None:
                raise NotFound(f"There is no collection '{collection}' to share.")
            connection.execute(
                insert(shares).values(
                    id=share.share_id,
                    tenant=self.tenant,
                    token_hash=hash_secret(token),
                    collection=collection,
                    created_at=share.created_at,
                    expires_at=share.expires_at,
                    lecture_id=lecture_id,
                )
            )
        return NewShare(share, token)

    def all(self) -> list[Share]:
        """List the shares, the newest first; revoked and expired ones too."""
        statement = select(shares).where(shares.c.tenant == self.tenant)
        with self.reading() as connection:
            rows = connection.execute(statement.order_by(shares.c.created_at.desc(), shares.c.id))
            return [_share(row) for row in intact(rows)]

    def revoke(self, share_id: str) -> None:
        """Revoke a share; idempotent. Raises NotFound."""
        its = and_(shares.c.tenant == self.tenant, shares.c.id == share_id)
        with self.writing("revoke share") as connection:
            if connection.execute(select(shares.c.id).where(its)).first() is None:
                raise NotFound(f"There is no share with the id '{share_id}'.")
            connection.execute(
                update(shares).where(its, shares.c.revoked_at.is_(None)).values(revoked_at=now())
            )


def find_share(database: Database, token: str) -> Share | None:
    """Return the live share of a token, of any tenant; None for an invalid token.

    It takes no tenant: the token determines the tenant.
    """
    wanted = hash_secret(token if SHAPE.fullmatch(token) else "")
    with database.reading() as connection:
        found = connection.execute(select(shares).where(shares.c.token_hash == wanted))
        row = first_intact(found)
    right = compare_digest(wanted, NO_HASH if row is None else row.token_hash) and row is not None
    return _share(row) if right and _share(row).live else None


def live_share(database: Database, share_id: str) -> Share | None:
    """Return the live share of this id, of any tenant, for a session that was begun with it."""
    with database.reading() as connection:
        row = first_intact(connection.execute(select(shares).where(shares.c.id == share_id)))
    return _share(row) if row is not None and _share(row).live else None


def _share(row: Any) -> Share:
    return from_row(Share, row, share_id=row.id)
