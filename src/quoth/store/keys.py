"""API keys: shown once, stored as a hash."""

from __future__ import annotations

import re
import secrets
import string
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from hmac import compare_digest
from typing import Any, Literal, get_args

from sqlalchemy import and_, insert, or_, select, update

from quoth.core.errors import InputError, NotFound
from quoth.store.checksums import first_intact, intact
from quoth.store.database import Database, TenantConnection
from quoth.store.rows import from_row, now
from quoth.store.schema import keys

Scope = Literal["read", "ingest", "live", "admin"]
SCOPES: tuple[Scope, ...] = get_args(Scope)

LABEL = "qth_"
"""What every key begins with, so that people and scanners of secrets know one when they see it."""
ID_LETTERS = string.ascii_letters + string.digits
ID_LENGTH = 8
SECRET_BYTES = 32
WRITTEN = "[A-Za-z0-9_-]{43}"
"""How `SECRET_BYTES` random bytes are written."""
SHAPE = re.compile(f"{LABEL}([A-Za-z0-9]{{{ID_LENGTH}}})_({WRITTEN})")
MAX_LABEL_LENGTH = 100
MAX_DAYS = 3650

NO_HASH = "0" * 64
"""Compared with where there is no such key, so that the work is the same."""


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key without its secret; times are ISO 8601 in UTC, ``expires_at`` None for never."""

    key_id: str
    tenant: str
    label: str
    scopes: tuple[Scope, ...]
    created_at: str
    expires_at: str | None = None
    last_used: str | None = None
    revoked_at: str | None = None

    @property
    def live(self) -> bool:
        """Return whether the key is currently valid."""
        return self.revoked_at is None and (self.expires_at is None or now() < self.expires_at)


@dataclass(frozen=True, slots=True)
class NewKey:
    """A new key with its ``token``, which cannot be shown again."""

    key: ApiKey
    token: str


class Keys(TenantConnection):
    """The keys of one tenant."""

    def add(
        self, *, label: str, scopes: Iterable[str], expires_days: float | None = None
    ) -> NewKey:
        """Create a key; raises InputError for an unknown scope or an empty label."""
        token = new_token()
        key_id, secret = split(token)
        key = ApiKey(
            key_id,
            self.tenant,
            validate_label(label),
            validate_scopes(scopes),
            created_at=now(),
            expires_at=None if expires_days is None else in_days(expires_days),
        )
        with self.writing("add key") as connection:
            connection.execute(
                insert(keys).values(
                    id=key_id,
                    tenant=self.tenant,
                    secret_hash=hash_secret(secret),
                    label=key.label,
                    scopes=" ".join(key.scopes),
                    created_at=key.created_at,
                    expires_at=key.expires_at,
                )
            )
        return NewKey(key, token)

    def all(self) -> list[ApiKey]:
        """List the keys, the newest first; revoked and expired ones too."""
        statement = select(keys).where(keys.c.tenant == self.tenant)
        with self.reading() as connection:
            rows = connection.execute(statement.order_by(keys.c.created_at.desc(), keys.c.id))
            return [_key(row) for row in intact(rows)]

    def revoke(self, key_id: str) -> None:
        """Revoke a key; idempotent. Raises NotFound."""
        its = and_(keys.c.tenant == self.tenant, keys.c.id == key_id)
        with self.writing("revoke key") as connection:
            if connection.execute(select(keys.c.id).where(its)).first() is None:
                raise NotFound(f"There is no key with the id '{key_id}'.")
            connection.execute(
                update(keys).where(its, keys.c.revoked_at.is_(None)).values(revoked_at=now())
            )

    def touch(self, key_id: str) -> None:
        """Note that a key was used just now."""
        with self.writing("use key") as connection:
            connection.execute(
                update(keys)
                .where(keys.c.tenant == self.tenant, keys.c.id == key_id)
                .values(last_used=now())
            )


def find_key(database: Database, token: str) -> ApiKey | None:
    """Return the live key of a token, of any tenant.

    An unknown id is hashed and compared as a wrong secret is, so that the time does not tell which
    ids there are. It takes no tenant: the token determines the tenant.
    """
    key_id, secret = split(token)
    with database.reading() as connection:
        row = first_intact(connection.execute(select(keys).where(keys.c.id == key_id)))
    right = compare_digest(hash_secret(secret), NO_HASH if row is None else row.secret_hash)
    if row is None or not right:
        return None
    key = _key(row)
    return key if key.live else None


def live_key(database: Database, key_id: str) -> ApiKey | None:
    """Return the live key of this id, of any tenant, for a session that was begun with it."""
    with database.reading() as connection:
        row = first_intact(connection.execute(select(keys).where(keys.c.id == key_id)))
    return _key(row) if row is not None and _key(row).live else None


def any_key(database: Database, *, live: bool = False) -> bool:
    """Return whether any tenant has a key; with ``live`` a currently valid one."""
    statement = select(keys.c.id).limit(1)
    if live:
        lasting = or_(keys.c.expires_at.is_(None), keys.c.expires_at > now())
        statement = statement.where(keys.c.revoked_at.is_(None), lasting)
    with database.reading() as connection:
        return connection.execute(statement).first() is not None


def split(token: str) -> tuple[str, str]:
    """Return the id and the secret of a key; both empty where it does not have a key's shape."""
    found = SHAPE.fullmatch(token)
    return (found[1], found[2]) if found else ("", "")


def new_token() -> str:
    """Return a new key token: id and secret from the system's random source."""
    return f"{LABEL}{new_id()}_{secrets.token_urlsafe(SECRET_BYTES)}"


def new_id() -> str:
    """Return a new id of a key or a share: letters and digits, easy to select and to type."""
    return "".join(secrets.choice(ID_LETTERS) for _ in range(ID_LENGTH))


def hash_secret(secret: str) -> str:
    """Return the SHA-256 of a secret: 256 random bits need no slow hash (docs/decisions/029)."""
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def in_days(days: float) -> str:
    """Return the time in so many days, as ISO 8601; raises InputError beyond `MAX_DAYS`."""
    if not 0 < days <= MAX_DAYS:
        raise InputError(f"A key or share can last up to {MAX_DAYS} days, not {days:g}.")
    return (datetime.now(UTC) + timedelta(days=days)).isoformat(timespec="milliseconds")


def validate_label(label: str) -> str:
    """Return the label of a key on one line, with U+FFFD for what cannot be printed.

    Raises InputError when it is empty or too long.
    """
    said = "".join(c if c.isprintable() else "\ufffd" for c in " ".join(label.split()))
    if not said or len(said) > MAX_LABEL_LENGTH:
        raise InputError(
            f"The label says who or what uses the key, in 1 to {MAX_LABEL_LENGTH} characters."
        )
    return said


def validate_scopes(scopes: Iterable[str]) -> tuple[Scope, ...]:
    """Return the scopes in order; raises InputError for none or an unknown one."""
    wanted = {scope.strip() for scope in scopes} - {""}
    unknown = sorted(wanted - set(SCOPES))
    if unknown or not wanted:
        which = f"'{unknown[0]}' is not a scope" if unknown else "A key has at least one scope"
        raise InputError(f"{which}. The scopes are: {', '.join(SCOPES)}.")
    return tuple(scope for scope in SCOPES if scope in wanted)


def _key(row: Any) -> ApiKey:
    scopes = tuple(scope for scope in SCOPES if scope in row.scopes.split())
    return from_row(ApiKey, row, key_id=row.id, scopes=scopes)
