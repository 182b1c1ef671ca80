"""`quoth keys`, and what the service refuses to do before there is one."""

from __future__ import annotations

from pathlib import Path

import pytest

from quoth.core.errors import ConfigError
from quoth.core.settings import Settings
from quoth.interfaces.http.server.start import check_binding
from quoth.store.audit import Audit
from quoth.store.database import open_database
from quoth.store.keys import Keys, find_key
from tests.support.cli import quoth
from tests.support.made_documents import put_catalogue


@pytest.fixture
def home(tmp_path: Path) -> Path:
    put_catalogue(tmp_path / "catalogue.sqlite")
    return tmp_path


def test_a_key_is_shown_once_and_alone_on_stdout(home: Path) -> None:
    made = quoth(home, "keys", "add", "--label", "intranet", "--scopes", "read,live")
    assert made.code == 0
    token = made.out.strip()
    database = open_database(home / "catalogue.sqlite")
    found = find_key(database, token)
    database.close()
    assert found is not None
    assert (found.tenant, found.label, found.scopes) == ("local", "intranet", ("read", "live"))
    assert "only time" in made.err
    listed = quoth(home, "keys", "list")
    assert found.key_id in listed.out
    assert "intranet" in listed.out
    assert token not in listed.out


def test_keys_of_a_tenant_are_listed_and_revoked(home: Path) -> None:
    words = ("--tenant", "ada", "--expires-days", "7", "--json")
    made = quoth(home, "keys", "add", "--label", "x", *words)
    key = made.json["key"]
    assert key["tenant"] == "ada"
    assert "The tenant 'ada' is new" in made.err
    assert key["expires_at"] > key["created_at"]
    assert quoth(home, "keys", "list", "--json").json == []
    assert quoth(home, "keys", "list", "--tenant", "ada", "--json").json == [key]
    assert quoth(home, "keys", "revoke", key["key_id"]).code == 1
    assert quoth(home, "keys", "revoke", key["key_id"], "--tenant", "ada").code == 0
    assert "revoked" in quoth(home, "keys", "list", "--tenant", "ada").out
    database = open_database(home / "catalogue.sqlite")
    rows = Audit(database, tenant="ada").rows(limit=9)
    database.close()
    assert [(each.action, each.object_id) for each in rows] == [
        ("key.revoke", key["key_id"]),
        ("key.make", key["key_id"]),
    ]
    assert "is new" not in quoth(home, "keys", "add", "--label", "y", "--tenant", "ada").err


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "quoth.example", ""])
def test_the_service_listens_to_others_only_when_there_is_a_live_key(home: Path, host: str) -> None:
    settings = Settings(home=home)
    database = open_database(home / "catalogue.sqlite")
    keys = Keys(database, tenant="ada")
    with pytest.raises(ConfigError, match="quoth keys add"):
        check_binding(host, database=database, settings=settings)
    made = keys.add(label="x", scopes=["read"])
    check_binding(host, database=database, settings=settings)
    with pytest.raises(ConfigError, match="keys_needed"):
        check_binding(host, database=database, settings=Settings(home=home, keys_needed="never"))
    keys.revoke(made.key.key_id)
    with pytest.raises(ConfigError, match="quoth keys add"):
        check_binding(host, database=database, settings=settings)
    database.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "127.0.0.2"])
def test_on_this_machine_the_service_starts_without_a_key(home: Path, host: str) -> None:
    database = open_database(home / "catalogue.sqlite")
    check_binding(host, database=database, settings=Settings(home=home))
    database.close()
