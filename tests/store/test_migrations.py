"""Catalogues of every version are brought up with all they hold, or stay as they were."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, Engine, MetaData, Text, inspect, select, text

from quoth.core.errors import ConfigError, StorageFull
from quoth.operations.integrity import damaged_rows
from quoth.store.catalogue import Catalogue
from quoth.store.copy import copy_rows
from quoth.store.database import open_database
from quoth.store.metadata import metadata
from quoth.store.migrate import revision
from quoth.store.outline_rows import spot_row
from quoth.store.schema import HEAD, spots
from tests.support.databases import Server, plain_engine, step
from tests.support.full_disk import no_room
from tests.support.made_documents import entry
from tests.support.old_catalogues import VERSIONS, answers, unpack
from tests.support.small_library import open_tour

SOME = (*VERSIONS[::4], HEAD)
"""Those that are opened in every run; `make soak` opens all."""
Rows = dict[str, list[dict[str, Any]]]


def tables_of(connection: Connection) -> MetaData:
    """The tables of a database of any version."""
    tables = MetaData()
    tables.reflect(connection)
    return tables


def rows_of(connection: Connection, tables: MetaData, *, within: Rows | None = None) -> Rows:
    """All rows of these tables; ``within`` names the tables and columns to read."""
    found: Rows = {}
    for table in tables.sorted_tables:
        if table.name == "alembic_version" or (within is not None and table.name not in within):
            continue
        some = within[table.name][:1] if within else []
        columns = [each for each in table.c if not some or each.name in some[0]]
        order = [each.name for each in table.primary_key]
        rows = connection.execute(select(*columns).order_by(*(table.c[name] for name in order)))
        found[table.name] = [dict(row) for row in rows.mappings()]
    return found


def look(address: Path | str, *, within: Rows | None = None) -> Rows:
    with plain_engine(address) as engine, engine.connect() as connection:
        return rows_of(connection, tables_of(connection), within=within)


def at(address: Path | str) -> str | None:
    with plain_engine(address) as engine, engine.connect() as connection:
        return revision(connection)


def lay_out(version: str, address: Path | str, folder: Path) -> None:
    """Put the catalogue of a version where the address says."""
    file = unpack(version, folder if isinstance(address, str) else address.parent)
    if isinstance(address, str):
        step(address, version)
        with (
            plain_engine(file) as here,
            plain_engine(address) as there,
            here.connect() as source,
            there.begin() as target,
        ):
            tables = MetaData()
            tables.reflect(target)
            tables.remove(tables.tables["alembic_version"])
            copy_rows(source, target, tables=tables)


def test_there_is_a_catalogue_of_every_version() -> None:
    assert VERSIONS[-1] == HEAD
    assert [f"{number:04d}" for number in range(1, len(VERSIONS) + 1)] == VERSIONS


def test_the_migrations_make_the_tables_of_a_new_catalogue(new_address: Path | str) -> None:
    open_database(new_address).close()
    with plain_engine(new_address) as engine:
        created = described(engine)
        with engine.connect().execution_options(write=True) as connection, connection.begin():
            tables = MetaData()
            tables.reflect(connection)
            tables.drop_all(connection)
    step(new_address, HEAD)
    with plain_engine(new_address) as engine:
        assert described(engine) == created
        with engine.connect() as connection:
            context = MigrationContext.configure(connection, opts={"compare_type": True})
            assert compare_metadata(context, metadata) == []


def described(engine: Engine) -> dict[str, list[str]]:
    """All there is to know of the tables of a database, their columns in any order."""
    found = inspect(engine)
    looks = (
        found.get_columns,
        found.get_indexes,
        found.get_unique_constraints,
        found.get_check_constraints,
        found.get_foreign_keys,
    )
    return {
        table: [
            *(told(each) for look in looks for each in sorted(look(table), key=told)),
            told(found.get_pk_constraint(table)),
        ]
        for table in found.get_table_names()
    }


def told(value: Any) -> str:
    """Write what is known of a part of a table; two clauses of SQL are alike if written alike."""
    if isinstance(value, dict):
        return str({key: told(each) for key, each in value.items()})
    return str(value)


@pytest.mark.parametrize(
    "new_address",
    ["sqlite", pytest.param("postgresql", marks=pytest.mark.soak)],
    indirect=True,
)
def test_every_step_keeps_all_rows(new_address: Path | str, tmp_path: Path) -> None:
    lay_out("0001", new_address, tmp_path)
    before = look(new_address)
    assert all(before[name] for name in ("collections", "documents", "chunks", "queries"))
    for version in VERSIONS[1:]:
        step(new_address, version)
        assert at(new_address) == version
        assert look(new_address, within=before) == before


@pytest.mark.parametrize(
    "version",
    [pytest.param(each, marks=[] if each in SOME else pytest.mark.soak) for each in VERSIONS],
)
def test_a_catalogue_of_every_version_opens_with_all_its_rows(tmp_path: Path, version: str) -> None:
    file = tmp_path / "home" / "catalogue.sqlite"
    lay_out(version, file, tmp_path)
    before = look(file)
    before.pop("links", None)  # no longer stored since 0015
    catalogue = Catalogue(open_database(file), tenant="local")
    assert catalogue.collection("default").kept is None  # its new checksum is right
    catalogue.close()
    after = look(file, within=before)
    for rows in (before, after):
        for row in (*rows["collections"], *rows["documents"], *rows["queries"]):
            row.pop("checksum", None)  # covers the columns that are new
    for row in after["queries"] if version < "0003" else ():
        assert row.pop("status", "answered") == "answered"
    assert after == before
    assert len(look(file)["spots"]) == len(before["chunks"])
    assert damaged_rows(file) == []
    assert not list(file.parent.glob("*.before-*"))


def test_the_checksum_of_a_session_goes_on_over_new_columns(tmp_path: Path) -> None:
    file = unpack("0009", tmp_path)
    row = ("l1", "local", "Bees", None, "[]", "session", "open", None, "2026-11-25T10:00", None)
    checksum = crc32("\x1f".join(map(str, row)).encode())
    with plain_engine(file) as engine, engine.begin() as connection:
        values = (*row, checksum)
        places = ", ".join("?" for _ in values)
        connection.exec_driver_sql(f"INSERT INTO lectures VALUES ({places})", values)
    open_database(file).close()
    assert look(file)["lectures"][0]["consent_at"] is None
    assert damaged_rows(file) == []


def test_an_older_catalogue_has_the_places_of_its_chunks_and_takes_documents(
    new_address: Path | str, tmp_path: Path
) -> None:
    lay_out("0001", new_address, tmp_path)
    catalogue = Catalogue(open_database(new_address), tenant="local")
    collection = catalogue.collection("default")
    chunks = [
        chunk
        for document in catalogue.documents(collection)
        for chunk in catalogue.document_chunks(document.document_id)
    ]
    made = [{**spot_row(chunk, tenant="local"), "checksum": None} for chunk in chunks]
    made.sort(key=lambda row: (row["document_id"], row["ordinal"]))
    with catalogue.reading() as connection:
        stored = connection.execute(select(spots).order_by(spots.c.document_id, spots.c.ordinal))
        assert [{**row, "checksum": None} for row in stored.mappings()] == made
    catalogue.commit(collection, [entry("d9")])
    assert len(catalogue.document_chunks("d9")) == 2
    catalogue.close()


@pytest.mark.parametrize(
    "versions", [(VERSIONS[0], HEAD), pytest.param(VERSIONS, marks=pytest.mark.soak)]
)
async def test_libraries_of_all_versions_answer_alike(
    tmp_path: Path, versions: Sequence[str]
) -> None:
    """The last one's answers count."""
    found = {}
    for version in versions:
        home = tmp_path / version
        unpack(version, home)
        async with open_tour(home) as engine:
            async for _step in engine.reindex():
                pass
            found[version] = await answers(engine)
    assert any(status == "answered" for status, *_ in found[HEAD])
    for version in versions:
        assert found[version] == found[HEAD], version


def break_an_answer(address: Path | str) -> Callable[[], None]:
    """Make the step to 0003 fail; gives what makes it whole again."""
    with plain_engine(address) as engine, engine.begin() as connection:
        whole = connection.execute(text("SELECT answer FROM answers")).scalar_one()
        connection.execute(text("UPDATE answers SET answer = '{'"))

    def mend() -> None:
        with plain_engine(address) as engine, engine.begin() as connection:
            connection.execute(text("UPDATE answers SET answer = :whole"), {"whole": whole})

    return mend


def test_a_migration_that_fails_leaves_all_as_it_was(
    new_address: Path | str, tmp_path: Path
) -> None:
    lay_out("0002", new_address, tmp_path)
    mend = break_an_answer(new_address)
    before = look(new_address)
    with pytest.raises(ConfigError, match=f"from version 0002 to {HEAD}.*stays as it was"):
        open_database(new_address)
    assert (at(new_address), look(new_address)) == ("0002", before)
    if isinstance(new_address, Path):
        copy = new_address.with_name(f"{new_address.name}.before-{HEAD}")
        assert (at(copy), look(copy)) == ("0002", before)
    mend()
    open_database(new_address).close()
    assert at(new_address) == HEAD
    assert not list(tmp_path.rglob("*.before-*"))


def test_without_room_for_a_copy_nothing_is_migrated(tmp_path: Path) -> None:
    file = unpack("0002", tmp_path)
    before = look(file)
    with no_room(beyond=30_000), pytest.raises(StorageFull, match="room"):
        open_database(file)
    assert (at(file), look(file)) == ("0002", before)
    open_database(file).close()
    assert [each.name for each in tmp_path.iterdir()] == ["catalogue.sqlite"]


def test_many_that_open_at_once_migrate_once(new_address: Path | str, tmp_path: Path) -> None:
    lay_out("0001", new_address, tmp_path)
    with ThreadPoolExecutor(4) as pool:
        for database in pool.map(open_database, [new_address] * 4):
            database.close()
    assert at(new_address) == HEAD


def test_a_version_that_is_not_known_is_refused_untouched(new_address: Path | str) -> None:
    open_database(new_address).close()
    with plain_engine(new_address) as engine, engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0099'"))
    with pytest.raises(ConfigError, match="newer version of quoth"):
        open_database(new_address)
    assert at(new_address) == "0099"


def test_a_server_orders_all_text_by_code_points(server: Server) -> None:
    engine = open_database(server.migrated()).engine
    asked = text(
        "SELECT table_name, column_name, collation_name, data_type "
        "FROM information_schema.columns WHERE table_schema = 'public' "
        "AND data_type IN ('text', 'character varying', 'character')"
    )
    with engine.connect() as connection:
        found = {(row[0], row[1]): row[2:] for row in connection.execute(asked)}
    engine.dispose()
    texts = {
        (table.name, column.name)
        for table in metadata.sorted_tables
        for column in table.c
        if column.type.python_type is str or isinstance(column.type, Text)
    }
    assert {key: found[key] for key in texts} == dict.fromkeys(texts, ("C", "text"))
