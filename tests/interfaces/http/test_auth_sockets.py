"""The gate behind a real server: what slow, large and rude clients can do to it."""

from __future__ import annotations

import resource
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import httpx
import pytest
import uvicorn
from starlette.types import ASGIApp

from quoth.core.settings import Settings
from quoth.interfaces.http.middleware.stack import access_control
from quoth.store.database import Database, open_database
from quoth.store.keys import Keys
from quoth.tenants import Tenants
from tests.support.auth_app import Inside, protected
from tests.support.made_documents import put_catalogue

HALF_OPEN = 200
MEBIBYTE = 2**20


@contextmanager
def listening(app: ASGIApp) -> Iterator[int]:
    """Serve in a thread; gives the port."""
    server = uvicorn.Server(
        uvicorn.Config(app, port=0, lifespan="off", log_level="critical", ws="none")
    )
    with socket.create_server(("127.0.0.1", 0), backlog=512) as bound:
        thread = threading.Thread(target=partial(server.run, sockets=[bound]), daemon=True)
        thread.start()
        try:
            yield bound.getsockname()[1]
        finally:
            server.should_exit = server.force_exit = True
            thread.join(10)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    put_catalogue(tmp_path / "catalogue.sqlite")
    opened = open_database(tmp_path / "catalogue.sqlite")
    yield opened
    opened.close()


class NoEngine:
    """What a caller has instead of an engine here: nothing asks it anything but this."""

    class parts:
        class catalogue:
            tenant = "ada"


@pytest.fixture
def behind(tmp_path: Path, database: Database) -> Iterator[tuple[int, Inside, str]]:
    """A port, the application behind it, and a key."""
    settings = Settings(home=tmp_path, embedder="fake", key_questions_burst=1000, key_waiting=0)
    tenants = Tenants(settings, database=database, open_tenant=lambda _tenant: NoEngine)  # type: ignore[arg-type,return-value]
    token = Keys(database, tenant="ada").add(label="x", scopes=["read"]).token
    inside = Inside()
    app = protected(inside, access_control(tenants, settings=settings))
    with listening(app) as port:
        yield port, inside, token


def head(path: str, *lines: str) -> bytes:
    return "\r\n".join([f"POST {path} HTTP/1.1", "Host: localhost", *lines, "", ""]).encode()


def spoken(port: int, *parts: bytes) -> bytes:
    """Send parts and read until the server closes, or says no more for a second."""
    with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
        heard = b""
        try:
            for part in parts:
                connection.sendall(part)
            while data := connection.recv(65_536):
                heard += data
        except (TimeoutError, ConnectionError):
            pass
        return heard


@pytest.mark.parametrize(
    "length", [f"Content-Length: {2**30}", "Transfer-Encoding: chunked"], ids=["announced", "not"]
)
def test_too_much_is_refused_at_once_and_not_held(
    behind: tuple[int, Inside, str], length: str
) -> None:
    port, inside, token = behind
    request = head("/v1/query", f"Authorization: Bearer {token}", length)
    chunk = b"10000\r\n" + b"x" * 65_536 + b"\r\n"
    body = [chunk] * 640 if "chunked" in length else [b"x" * 65_536] * 640
    spoken(port, request, *body[:20])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.monotonic()
    heard = spoken(port, request, *body)
    taken = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert heard == b"" or heard.startswith(b"HTTP/1.1 413 ")
    assert taken < 5
    assert (after - before) * 1024 <= 10 * MEBIBYTE
    assert inside.received <= 2 * MEBIBYTE


def test_half_open_connections_keep_nobody_from_being_answered(
    behind: tuple[int, Inside, str],
) -> None:
    port, inside, token = behind
    base = f"http://127.0.0.1:{port}"
    with ExitStack() as held:
        for number in range(HALF_OPEN):
            each = held.enter_context(socket.create_connection(("127.0.0.1", port), timeout=5))
            if number % 2:
                each.sendall(b"POST /v1/query HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
            else:
                each.sendall(head("/v1/query", "Content-Length: 1000") + b"{")
        with httpx.Client(base_url=base, timeout=5) as client:
            for _ in range(10):
                assert client.get("/healthz").status_code == 200
            headers = {"authorization": f"Bearer {token}"}
            assert client.post("/v1/query", headers=headers, content=b"{}").status_code == 200
    assert inside.received == 2


def test_bodies_that_do_not_come_hold_no_more_than_the_keys_own_places(
    behind: tuple[int, Inside, str],
) -> None:
    port, _inside, token = behind
    slow = head("/v1/query", f"Authorization: Bearer {token}", "Content-Length: 1000")
    with ExitStack() as held:
        for _ in range(4):
            each = held.enter_context(socket.create_connection(("127.0.0.1", port), timeout=5))
            each.sendall(slow + b"{")
        time.sleep(0.3)
        headers = {"authorization": f"Bearer {token}"}
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=5) as client:
            assert client.post("/v1/query", headers=headers, content=b"{}").status_code == 429
            assert client.get("/v1/documents", headers=headers).status_code == 200
