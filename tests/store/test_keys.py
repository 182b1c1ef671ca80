"""Keys and shares: what is kept of them, and what opens what."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.core.errors import InputError, NotFound
from quoth.core.types import IndexIdentity
from quoth.store import shares as sharing
from quoth.store.catalogue import Catalogue
from quoth.store.database import Database, open_database
from quoth.store.keys import (
    ID_LENGTH,
    LABEL,
    SCOPES,
    Keys,
    any_key,
    find_key,
    split,
)
from quoth.store.shares import Shares, find_share
from tests.support.made_documents import put_catalogue

MINUTE = 1 / 24 / 60
MOMENT = 1e-9
"""Days that are over at once."""


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    put_catalogue(tmp_path / "catalogue.sqlite")
    opened = open_database(tmp_path / "catalogue.sqlite")
    yield opened
    opened.close()


def keys(database: Database, tenant: str = "ada") -> Keys:
    return Keys(database, tenant=tenant)


def test_a_key_opens_what_it_was_made_for(database: Database) -> None:
    made = keys(database).add(label=" reading\nroom ", scopes=["live", "read"])
    found = find_key(database, made.token)
    assert found == made.key
    assert (found.tenant, found.label, found.scopes) == ("ada", "reading room", ("read", "live"))


def test_nothing_of_a_secret_is_in_the_database(database: Database, tmp_path: Path) -> None:
    made = keys(database).add(label="x", scopes=["read"])
    identity = IndexIdentity("fake", "1", 8, "", "", "plain")
    Catalogue(database, tenant="ada").make_collection("c", identity=identity)
    share = Shares(database, tenant="ada").add(collection="c", expires_days=1)
    database.close()
    written = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert made.key.key_id.encode() in written
    assert split(made.token)[1].encode() not in written
    assert share.token[len("qsh_") :].encode() not in written


@pytest.mark.parametrize(
    "wrong", ["unknown id", "wrong secret", "revoked", "expired", "another's secret"]
)
def test_a_key_that_is_not_good_opens_nothing(database: Database, wrong: str) -> None:
    own = keys(database)
    expires = MOMENT if wrong == "expired" else None
    made = own.add(label="x", scopes=["read"], expires_days=expires)
    other = own.add(label="y", scopes=["read"])
    tried = {
        "unknown id": f"{LABEL}{'0' * ID_LENGTH}_{split(made.token)[1]}",
        "wrong secret": made.token[:-1] + ("A" if made.token[-1] != "A" else "B"),
        "another's secret": f"{LABEL}{made.key.key_id}_{split(other.token)[1]}",
    }
    if wrong == "revoked":
        own.revoke(made.key.key_id)
    assert find_key(database, tried.get(wrong, made.token)) is None
    assert find_key(database, other.token) == other.key


@given(st.text(max_size=80))
def test_no_garbage_has_the_shape_of_a_key(text: str) -> None:
    assert split(text) == ("", "")
    assert split(LABEL + text) == ("", "")


def test_revoking_is_for_ones_own_keys_only(database: Database) -> None:
    made = keys(database).add(label="x", scopes=["read"])
    with pytest.raises(NotFound):
        keys(database, "bob").revoke(made.key.key_id)
    assert find_key(database, made.token) is not None
    keys(database).revoke(made.key.key_id)
    keys(database).revoke(made.key.key_id)
    assert find_key(database, made.token) is None
    assert keys(database, "bob").all() == []
    assert [each.live for each in keys(database).all()] == [False]


@pytest.mark.parametrize(
    "given",
    [
        {"label": " ", "scopes": ["read"]},
        {"label": "x" * 101, "scopes": ["read"]},
        {"label": "x", "scopes": []},
        {"label": "x", "scopes": ["root"]},
        {"label": "x", "scopes": ["read"], "expires_days": 0},
        {"label": "x", "scopes": ["read"], "expires_days": float("nan")},
        {"label": "x", "scopes": ["read"], "expires_days": 1e9},
    ],
)
def test_a_key_that_makes_no_sense_is_not_made(database: Database, given: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        keys(database).add(**given)
    assert not any_key(database)


def test_what_cannot_be_printed_in_a_label_is_replaced(database: Database) -> None:
    assert keys(database).add(label="x\x00 y", scopes=["read"]).key.label == "x\ufffd y"


def test_whether_there_are_keys_and_live_ones(database: Database) -> None:
    assert not any_key(database)
    keys(database).add(label="x", scopes=SCOPES, expires_days=MOMENT)
    assert any_key(database)
    assert not any_key(database, live=True)
    made = keys(database, "bob").add(label="x", scopes=SCOPES, expires_days=MINUTE)
    assert any_key(database, live=True)
    keys(database, "bob").revoke(made.key.key_id)
    assert not any_key(database, live=True)


@pytest.fixture
def shares(database: Database) -> Shares:
    identity = IndexIdentity("fake", "1", 8, "", "", "plain")
    Catalogue(database, tenant="ada").make_collection("talks", identity=identity)
    return Shares(database, tenant="ada")


def test_a_share_opens_its_collection(database: Database, shares: Shares) -> None:
    made = shares.add(collection="talks", expires_days=1)
    found = find_share(database, made.token)
    assert found == made.share
    assert (found.tenant, found.collection) == ("ada", "talks")
    assert made.token.startswith(sharing.LABEL)
    assert find_key(database, made.token) is None
    assert shares.all() == [found]


def test_a_share_ends(database: Database, shares: Shares) -> None:
    made = shares.add(collection="talks", expires_days=1)
    with pytest.raises(NotFound):
        Shares(database, tenant="bob").revoke(made.share.share_id)
    shares.revoke(made.share.share_id)
    assert find_share(database, made.token) is None
    short = shares.add(collection="talks", expires_days=MOMENT)
    assert find_share(database, short.token) is None


def test_only_what_is_there_is_shared(database: Database, shares: Shares) -> None:
    with pytest.raises(NotFound):
        shares.add(collection="secret", expires_days=1)
    with pytest.raises(NotFound):
        Shares(database, tenant="bob").add(collection="talks", expires_days=1)
    with pytest.raises(InputError):
        shares.add(collection="talks", expires_days=366)


def test_a_key_and_a_share_are_kept_as_hashes_only(database: Database, tmp_path: Path) -> None:
    made = keys(database).add(label="x", scopes=["read"])
    plain = sqlite3.connect(tmp_path / "catalogue.sqlite")
    (row,) = plain.execute("SELECT secret_hash FROM keys").fetchall()
    plain.close()
    assert len(row[0]) == 64
    assert row[0] not in made.token
