"""One catalogue, two databases: the same answers, one writer at a time, errors with a way out."""

from __future__ import annotations

import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import text

from quoth.core.errors import (
    Busy,
    ConfigError,
    InputError,
    NotFound,
    RetrievalError,
    StorageFull,
    StoreDown,
)
from quoth.core.load_settings import load_settings
from quoth.store import postgres
from quoth.store.catalogue import Catalogue
from quoth.store.database import (
    MAX_WAITING,
    Database,
    open_database,
    translated_errors,
)
from quoth.store.history import StoredRecord
from quoth.store.ingest_jobs import Jobs
from tests.support.databases import Server
from tests.support.made_documents import IDENTITY, entry, open_catalogue
from tests.support.old_catalogues import answers
from tests.support.small_library import add, open_tour, write_sources

SOON_S = 5.0


# --- the whole engine ---------------------------------------------------------------------------


async def test_a_library_on_a_server_answers_as_one_in_a_file(
    tmp_path: Path, server: Server
) -> None:
    found = []
    source = write_sources(tmp_path / "sources")
    for address in (None, server.empty()):
        home = tmp_path / f"home{len(found)}"
        async with open_tour(home, address=address) as engine:
            added = await add(engine, source)
            assert {each.status for each in added} == {"ready"}
            again = await add(engine, source)
            assert {each.status for each in again} == {"unchanged"}
            gone = next(each.document_id for each in added if "miel" in (each.source or ""))
            assert await engine.remove([gone]) == [gone]
            asked = await answers(engine)
            kept = engine.parts.catalogue.asked(limit=100)
        assert address is None or not (home / "catalogue.sqlite").exists()
        found.append((asked, [each.text for each in kept], [each.title for each in added]))
    assert found[0] == found[1]


# --- one writer at a time -----------------------------------------------------------------------


def test_of_many_that_claim_a_document_one_gets_it(address: Path | str) -> None:
    catalogue, collection = open_catalogue(address)
    workers = [Jobs(catalogue) for _ in range(8)]

    def claim(worker: Jobs) -> str:
        return worker.claim(collection, "d1", source="/d1.md", title="A")

    with ThreadPoolExecutor(8) as pool:
        claims = list(pool.map(claim, workers))
    assert sorted(claims) == ["claimed", *["held"] * 7]
    catalogue.close()


def test_many_commit_at_once_and_nothing_is_lost(address: Path | str) -> None:
    catalogue, collection = open_catalogue(address)

    def commit(number: int) -> None:
        # Every second one is another version of the same source.
        made = entry(f"d{number}", source=f"/{number // 2}.md")
        assert catalogue.commit(collection, [made]) is not None

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(commit, range(24)))
    found = catalogue.documents(collection)
    assert sorted(each.source or "" for each in found) == sorted(f"/{at}.md" for at in range(12))
    assert catalogue.collection("default").version == collection.version + 24
    catalogue.close()


def test_many_make_the_same_collection_at_once(address: Path | str) -> None:
    catalogue, _collection = open_catalogue(address)
    with ThreadPoolExecutor(8) as pool:
        made = pool.map(lambda _at: catalogue.make_collection("new", identity=IDENTITY), range(8))
        assert len({each.id for each in made}) == 1
    catalogue.close()


def test_a_reading_sees_one_state(address: Path | str) -> None:
    catalogue, collection = open_catalogue(address)
    catalogue.commit(collection, [entry("d1", chunks=900)])
    seen = catalogue.texts(collection)
    next(seen)
    catalogue.remove(collection, ["d1"])
    assert len(list(seen)) == 899
    assert list(catalogue.texts(collection)) == []
    catalogue.close()


def test_tenants_on_a_server_do_not_wait_for_each_other(server: Server) -> None:
    catalogue, _collection = open_catalogue(server.migrated())
    theirs = Catalogue(catalogue.database, tenant="theirs")
    with catalogue.writing("long"):
        theirs.make_collection("theirs", identity=IDENTITY)
    catalogue.close()


def test_a_writer_who_waits_too_long_is_told_so(address: Path | str) -> None:
    open_catalogue(address)[0].close()
    database = open_database(address, patience_s=0.2)
    catalogue = Catalogue(database, tenant="local")
    begun, done = threading.Event(), threading.Event()

    def hold() -> None:
        with catalogue.writing("long"):
            begun.set()
            done.wait(SOON_S)

    holder = threading.Thread(target=hold)
    holder.start()
    begun.wait(SOON_S)
    started = time.monotonic()
    with pytest.raises(Busy, match="Try again later") as told:
        catalogue.make_collection("mine", identity=IDENTITY)
    assert time.monotonic() - started < SOON_S
    assert (told.value.retryable, told.value.status) == (True, 503)
    assert catalogue.collections(), "readers go on"
    done.set()
    holder.join()
    catalogue.make_collection("mine", identity=IDENTITY)
    database.close()


def test_who_finds_a_long_line_of_writers_is_told_at_once(tmp_path: Path) -> None:
    catalogue, collection = open_catalogue(tmp_path / "catalogue.sqlite")
    for _ in range(MAX_WAITING):
        catalogue.database.line.acquire()
    started = time.monotonic()
    with pytest.raises(Busy, match="Try again later"):
        catalogue.commit(collection, [entry("d1")])
    assert time.monotonic() - started < 5
    catalogue.database.line.release()
    catalogue.commit(collection, [entry("d1")])
    catalogue.close()


def test_sixty_four_readers_at_once_all_get_their_answer(address: Path | str) -> None:
    catalogue, collection = open_catalogue(address)
    catalogue.commit(collection, [entry("d1", chunks=20)])
    together = threading.Barrier(64)

    def read(_number: int) -> int:
        together.wait(SOON_S)
        return sum(len(catalogue.document_chunks("d1")) for _ in range(3))

    with ThreadPoolExecutor(64) as pool:
        assert set(pool.map(read, range(64))) == {60}
    catalogue.close()


# --- what differs between databases ---------------------------------------------------------------


@pytest.mark.parametrize("pattern", ["%", "_", "q\\", "q%1", "Q_AB"])
def test_signs_of_patterns_stand_for_themselves(address: Path | str, pattern: str) -> None:
    catalogue, _collection = open_catalogue(address)
    catalogue.record(
        StoredRecord(
            query_id="q_ab1", collection="d", text="?", plan="{}", answer="{}", version="v"
        )
    )
    if pattern == "Q_AB":
        assert catalogue.recorded(pattern).query_id == "q_ab1"
    else:
        with pytest.raises(NotFound, match="no question"):
            catalogue.recorded(pattern)
    catalogue.close()


def test_a_server_refuses_the_character_nul_with_a_reason(server: Server) -> None:
    catalogue, _collection = open_catalogue(server.migrated())
    with pytest.raises(InputError, match="NUL"):
        catalogue.chunks(["a\x00b"])
    catalogue.close()


# --- errors of a server -------------------------------------------------------------------------


def told(error: BaseException) -> str:
    """All that a log could show of an error."""
    return "".join(traceback.format_exception(error))


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://u:canary@127.0.0.1:1/d",
        "postgresql://u:canary@127.0.0.1:1/d?connect_timeout=1",
        "postgres://u:canary@nowhere.invalid/d",
    ],
)
def test_a_server_that_is_not_there_is_said_without_its_password(address: str) -> None:
    with pytest.raises(RetrievalError, match="cannot be reached") as error:
        open_database(address)
    assert error.value.retryable
    assert "canary" not in told(error.value)


@pytest.mark.parametrize(
    "address", ["postgresql://u:canary@h:port/d", "mysql://u:canary@h/d", "postgresql://[u:canary"]
)
def test_an_address_that_cannot_be_read_is_not_repeated(address: str) -> None:
    with pytest.raises(ConfigError, match="postgresql://") as error:
        open_database(address)
    assert "canary" not in told(error.value)


def test_the_setting_is_a_secret(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("QUOTH_DATABASE", "postgresql://u:canary@h/d")
    settings = load_settings({"home": tmp_path})
    assert settings.catalogue == "postgresql://u:canary@h/d"
    assert "canary" not in repr(settings)
    monkeypatch.setenv("QUOTH_DATABASE", "canary@h")
    with pytest.raises(ConfigError, match="postgresql://") as error:
        load_settings({"home": tmp_path})
    assert "canary" not in told(error.value)
    monkeypatch.delenv("QUOTH_DATABASE")
    assert load_settings({"home": tmp_path}).catalogue == tmp_path / "catalogue.sqlite"


def test_a_connection_that_is_cut_costs_one_request_at_most(server: Server) -> None:
    catalogue, collection = open_catalogue(server.migrated())
    with catalogue.reading() as connection:
        name = connection.execute(text("SELECT current_database()")).scalar_one()
        cut = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
        server.run(cut)
        with pytest.raises(RetrievalError, match="cannot be reached") as error, translated_errors():
            connection.execute(text("SELECT 1"))
        assert error.value.retryable
    assert catalogue.documents(collection) == []
    catalogue.close()


@pytest.mark.parametrize(
    ("state", "kind"),
    [
        ("53100", StorageFull),
        ("53300", Busy),
        ("40P01", Busy),
        ("57P01", RetrievalError),
        ("28P01", StoreDown),
        ("XX001", StoreDown),
        ("42P01", RetrievalError),
    ],
)
def test_every_kind_of_error_has_its_meaning(state: str, kind: type[Exception]) -> None:
    error = psycopg.errors.lookup(state)("it went wrong")
    assert type(postgres.translate_driver_error(error)) is kind


def test_a_database_of_another_encoding_is_refused(server: Server) -> None:
    server.run("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    with pytest.raises(ConfigError, match="UTF8"):
        open_database(server.address("latin"))


def test_an_index_is_used_where_a_question_needs_one(server: Server) -> None:
    database: Database = open_database(server.migrated())
    with database.reading() as connection:
        connection.execute(text("SET LOCAL enable_seqscan = off"))
        plan = connection.execute(
            text("EXPLAIN SELECT * FROM queries WHERE tenant = 't' ORDER BY created_at DESC")
        )
        assert "ix_queries_tenant_created_at" in "".join(row[0] for row in plan)
    database.close()


def test_other_users_cannot_read_the_catalogue(tmp_path: Path) -> None:
    file = tmp_path / "home" / "catalogue.sqlite"
    open_database(file).close()
    file.chmod(0o644)  # as earlier versions made it
    open_database(file).close()
    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert not file.stat().st_mode & 0o007
