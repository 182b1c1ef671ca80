"""Sessions of browsers: each stands for a key or share, and ends with it at the latest."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import and_, delete, insert, select

from quoth.store.checksums import first_intact
from quoth.store.database import Database, TenantConnection
from quoth.store.keys import SECRET_BYTES, WRITTEN, ApiKey, hash_secret, live_key
from quoth.store.rows import now
from quoth.store.schema import sessions
from quoth.store.shares import ID_LABEL, Share, live_share

LABEL = "qss_"
"""What every token of a session begins with."""
SHAPE = re.compile(LABEL + WRITTEN)
LIFETIME = timedelta(days=7)
MAX_SESSIONS = 100
"""Sessions of one key at once; many people may use one."""


@dataclass(frozen=True, slots=True)
class NewSession:
    """A new session: its ``token``, which is stored as a hash only, and its end (ISO 8601, UTC)."""

    token: str
    expires_at: str


class Sessions(TenantConnection):
    """The sessions of one tenant."""

    def add(self, key_id: str) -> NewSession:
        """Begin a session of a key or a share.

        Expired ones are deleted, and the oldest of the key beyond `MAX_SESSIONS`.
        """
        token = LABEL + secrets.token_urlsafe(SECRET_BYTES)
        expires_at = (datetime.now(UTC) + LIFETIME).isoformat(timespec="milliseconds")
        own = sessions.c.tenant == self.tenant
        with self.writing("add session") as connection:
            connection.execute(delete(sessions).where(own, sessions.c.expires_at <= now()))
            connection.execute(
                insert(sessions).values(
                    token_hash=hash_secret(token),
                    tenant=self.tenant,
                    key_id=key_id,
                    created_at=now(),
                    expires_at=expires_at,
                )
            )
            older = (
                select(sessions.c.token_hash)
                .where(own, sessions.c.key_id == key_id)
                .order_by(sessions.c.created_at.desc(), sessions.c.token_hash)
                .offset(MAX_SESSIONS)
            )
            gone = [row.token_hash for row in connection.execute(older.limit(MAX_SESSIONS))]
            connection.execute(delete(sessions).where(own, sessions.c.token_hash.in_(gone)))
        return NewSession(token, expires_at)

    def end(self, token: str) -> None:
        """End a session; idempotent."""
        its = and_(sessions.c.tenant == self.tenant, sessions.c.token_hash == hash_secret(token))
        with self.writing("end session") as connection:
            connection.execute(delete(sessions).where(its))


def find_session(database: Database, token: str) -> ApiKey | Share | None:
    """Return the live key or share of a session's token, of any tenant; None for an invalid one.

    It takes no tenant: the token determines the tenant.
    """
    if not SHAPE.fullmatch(token):
        return None
    # The token is 256 random bits: the time to find its hash tells nothing about another one.
    with database.reading() as connection:
        row = first_intact(
            connection.execute(select(sessions).where(sessions.c.token_hash == hash_secret(token)))
        )
    if row is None or row.expires_at <= now():
        return None
    look_up = live_share if row.key_id.startswith(ID_LABEL) else live_key
    found = look_up(database, row.key_id)
    return found if found is not None and found.tenant == row.tenant else None
