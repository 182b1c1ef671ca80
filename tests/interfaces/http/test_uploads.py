"""Sending files over HTTP: whole, as a form, or piece by piece; and seeing what becomes of them."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from quoth.interfaces.http.uploads.receive import receive_more
from quoth.operations.worker import WorkerTimings
from quoth.pipeline.commit import commit_entries
from quoth.pipeline.uploads import delete_stale_parts
from quoth.store.blobs import Blobs
from quoth.store.upload_queue import Queue
from tests.support.full_disk import no_room
from tests.support.service_client import House
from tests.support.upload_service import drained, files_in, open_house, send, until, working

TEXT = b"# Bees\n\nBees make honey, and wasps do not.\n"
NAMES = [
    *("..", ".", "/", "//", "\\", "../../../../etc/passwd", "..\\..\\windows\\system32", "/etc/x"),
    *("C:\\x.md", "\\\\server\\share\\x", "a/../../b.md", "....//....//x", "%2e%2e%2fx", "%00.md"),
    *("a\x00.md", "\x00", "a\nb.md", "a\r\nSet-Cookie: x", "\x1b[2J", "a\tb", "\x7f", "\x85x"),
    *("CON", "NUL.txt", "aux.md", "COM1", "LPT9.pdf", "con .md", "x.", "x ", " x", "~", "~root"),
    *("-rf", "--help", "$HOME", "`id`", "$(id).md", "a;b", "a|b", "*", "?", "<script>.html"),
    *("\u202egpj.exe", "\u2066x\u2069", "\u200b", "\ufeff.md", "caf\u0065\u0301.md", "e" * 4096),
    *(".htaccess", ".meta.json", "x.meta.json", "file:///etc/passwd", "https://a.example/x.md"),
]


@asynccontextmanager
async def asking(home: Path, **choices: Any) -> AsyncIterator[tuple[House, httpx.AsyncClient]]:
    """A house and a client with a key of the tenant ada."""
    async with open_house(home, **choices) as house, house.client(house.key("ada")) as client:
        yield house, client


async def test_a_whole_file_becomes_a_document(tmp_path: Path) -> None:
    async with asking(tmp_path) as (house, client), working(house.tenants):
        sent = await client.post(
            "/v1/uploads", params={"name": "my_bees.md", "speaker": "Ada"}, content=TEXT
        )
        assert sent.status_code == 202
        upload = sent.json()
        assert sent.headers["location"] == f"/v1/uploads/{upload['id']}"
        assert (upload["name"], upload["size"]) == ("my_bees.md", 43)
        await drained(house.tenants, tenant="ada")
        upload = (await client.get(sent.headers["location"])).json()
        assert upload["state"] == "ready"
        assert upload["progress"] == {"chunks": 1, "of_chunks": 1}
        document = (await client.get(f"/v1/documents/{upload['document_id']}")).json()
        assert (document["title"], document["source"]) == ("Bees", "my_bees.md")
        assert document["speaker"] == "Ada"
        original = await client.get(f"/v1/documents/{upload['document_id']}/original")
        assert original.content == TEXT


async def test_uploads_that_wait_are_named_where_nothing_is_found(tmp_path: Path) -> None:
    ask: dict[str, Any] = {"query": "What is the melting point of tungsten carbide?"}
    async with asking(tmp_path) as (house, client):
        await client.post("/v1/uploads", params={"name": "bees.md"}, content=TEXT)
        first = await client.post("/v1/query", json=ask)
        assert (first.status_code, first.json()["detail"]) == (
            409,
            "A file is still being read; ask again when it is ready.",
        )
        async with working(house.tenants):
            await drained(house.tenants, tenant="ada")
        assert not [
            each
            for each in (await client.post("/v1/query", json=ask)).json()["warnings"]
            if "still being read" in each
        ]
        for at in range(2):
            await client.post("/v1/uploads", params={"name": f"{at}.md"}, content=b"Wasps %d." % at)
        waiting = (await client.post("/v1/query", json=ask)).json()
    assert waiting["status"] in ("no_results", "low_relevance")
    assert "2 files are still being read; ask again when they are ready." in waiting["warnings"]


async def test_a_citation_of_an_upload_leads_to_its_original(tmp_path: Path) -> None:
    async with asking(tmp_path) as (house, client):
        pdf = (Path(__file__).parents[2] / "fixtures/pdf/book.pdf").read_bytes()
        await send(house.tenants, pdf, name="book.pdf", tenant="ada")
        async with working(house.tenants):
            (task,) = await drained(house.tenants, tenant="ada")
        engine = house.tenants.engine("ada")
        hits = await engine.search("chapter")
        link = hits[0].link or ""
        assert link.startswith((tmp_path / "blobs").as_uri())
        assert "#page=" in link
        found = await client.post("/v1/search", json={"query": "chapter"})
        link = found.json()["hits"][0]["link"]
        assert link.startswith(f"/v1/documents/{task.document_id}/original#page=")


async def test_a_bad_file_fails_by_its_own_name(tmp_path: Path) -> None:
    async with asking(tmp_path) as (house, client):
        sent = await client.post("/v1/uploads?name=talk.pdf", content=b"%PDF-1.4 nothing")
        async with working(house.tenants):
            await drained(house.tenants, tenant="ada")
        upload = (await client.get(sent.headers["location"])).json()
        assert upload["state"] == "failed"
        assert upload["error"]["code"] == "damaged"
        assert upload["error"]["message"].startswith("talk.pdf")
        assert str(tmp_path) not in json.dumps(upload)


async def test_a_removed_document_can_be_sent_again(tmp_path: Path) -> None:
    async with asking(tmp_path) as (house, client), working(house.tenants):
        first = (await client.post("/v1/uploads?name=a.md", content=TEXT)).json()["id"]
        (task,) = await drained(house.tenants, tenant="ada")
        await house.tenants.engine("ada").remove([str(task.document_id)])
        assert files_in(tmp_path) == []
        again = await client.post("/v1/uploads?name=a.md", content=TEXT)
        assert (again.status_code, again.json()["id"]) == (202, first)
        (task,) = await drained(house.tenants, tenant="ada")
        assert task.state == "ready"


async def test_a_form_brings_a_file_and_what_is_said_of_it(tmp_path: Path) -> None:
    async with asking(tmp_path) as (_house, client):
        sent = await client.post(
            "/v1/uploads",
            files={"file": ("bées.md", TEXT)},
            data={"title": "Of bees", "collection": "hive"},
        )
        assert sent.status_code == 202
        upload = sent.json()
        assert (upload["name"], upload["collection"]) == ("bées.md", "hive")
        stored = next((tmp_path / "blobs").rglob("*.md"))
        assert stored.read_bytes() == TEXT
        assert stored.stem == sha256(TEXT).hexdigest()


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"params": {"url": "javascript:alert(1)"}}, "web address"),
    ({"params": {"url": "file:///etc/passwd"}}, "web address"),
    ({"params": {"colour": "red"}}, "colour"),
    ({"params": {"collection": ""}}, "collection"),
    ({"params": {"collection": "a\x00b"}}, "collection"),
    ({"params": {"language": "klingon!"}}, "language"),
    ({"params": {"title": "x" * 501}}, "title"),
    ({"content": b""}, "this file is empty"),
    ({"headers": {"Upload-Length": "0"}}, "upload-length"),
    ({"headers": {"Upload-Length": "-1"}}, "upload-length"),
    ({"headers": {"Upload-Length": "two"}}, "upload-length"),
    ({"headers": {"Content-Type": "multipart/form-data"}, "content": TEXT}, "form"),
    ({"headers": {"Content-Type": "multipart/form-data; boundary=x"}, "content": TEXT}, "form"),
    ({"files": {"a": ("a", TEXT), "b": ("b", TEXT)}}, "one file"),
    ({"files": {"a": ("a", TEXT)}, "data": {"colour": "red"}}, "colour"),
    ({"files": {"a": (None, TEXT)}}, "form"),
]


async def test_what_is_wrong_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    async with asking(tmp_path) as (_house, client):
        for said, word in WRONG:
            refused = await client.post("/v1/uploads", **said)
            assert refused.status_code == 422, said
            assert word in refused.json()["detail"].casefold()
        assert files_in(tmp_path) == []
        assert (await client.get("/v1/uploads")).json()["total"] == 0


@pytest.mark.parametrize("announced", [True, False])
async def test_a_file_over_the_limit_is_refused(tmp_path: Path, announced: bool) -> None:
    async def body() -> AsyncIterator[bytes]:
        for _ in range(20):
            yield b"x" * 100_000

    async with asking(tmp_path, max_upload_mb=1) as (_house, client):
        content: Any = b"x" * 2_000_000 if announced else body()
        refused = await client.post("/v1/uploads?name=a.md", content=content)
        assert refused.status_code == 413
        opened = await client.post("/v1/uploads", headers={"Upload-Length": "2000000"})
        assert opened.status_code == 413
        assert files_in(tmp_path) == []


async def test_fifty_names_lead_nowhere(tmp_path: Path) -> None:
    assert len(NAMES) >= 50
    async with asking(tmp_path) as (_house, client):
        for number, name in enumerate(NAMES):
            # Some of them are no text to a URL and none to a form; each goes in both ways.
            data = f"File {number}.".encode()
            by_url = await client.post("/v1/uploads", params={"name": name}, content=data)
            form = {"file": (name or "x", data + b"!")}
            by_form = await client.post("/v1/uploads", files=form)
            assert by_url.status_code == by_form.status_code == 202
            shown = by_url.json()["name"]
            assert shown.isprintable()
            assert len(shown) <= 255
            assert "/" not in shown
    _only_blobs(tmp_path)
    assert len(files_in(tmp_path)) == 2 * len(NAMES)


def _only_blobs(home: Path) -> None:
    assert [each.name for each in home.iterdir() if each.is_dir()] == ["blobs"]
    for file in (home / "blobs").rglob("*"):
        if file.is_file():
            assert file.stem == sha256(file.read_bytes()).hexdigest()
            assert file.parent.name == file.name[:2]
            assert file.parents[2] == home / "blobs"


async def test_an_upload_goes_on_where_it_stands(tmp_path: Path) -> None:
    async with asking(tmp_path) as (house, client), working(house.tenants):
        size = {"Upload-Length": str(len(TEXT))}
        opened = await client.post("/v1/uploads?name=a.md", headers=size)
        assert opened.status_code == 201
        at = opened.headers["location"]
        first = await client.patch(at, headers={"Upload-Offset": "0"}, content=TEXT[:10])
        assert (first.status_code, first.headers["upload-offset"]) == (200, "10")
        wrong = await client.patch(at, headers={"Upload-Offset": "9"}, content=TEXT[9:])
        assert (wrong.status_code, wrong.json()["code"]) == (409, "wrong_offset")
        assert wrong.headers["upload-offset"] == "10"
        seen = await client.head(at)
        assert seen.headers["upload-offset"] == "10"
        last = await client.patch(at, headers={"Upload-Offset": "10"}, content=TEXT[10:])
        assert last.json()["state"] != "receiving"
        assert last.json()["received"] == len(TEXT)
        repeated = await client.patch(at, headers={"Upload-Offset": "10"}, content=TEXT[10:])
        assert repeated.status_code == 200
        (task,) = await drained(house.tenants, tenant="ada")
        assert (task.state, task.sha256) == ("ready", sha256(TEXT).hexdigest())


async def test_an_upload_is_stopped_and_forgotten(tmp_path: Path) -> None:
    async with asking(tmp_path) as (_house, client):
        at = (await client.post("/v1/uploads", headers={"Upload-Length": "9"})).headers["location"]
        await client.patch(at, headers={"Upload-Offset": "0"}, content=b"12345")
        whole = await client.post("/v1/uploads?name=a.md", content=TEXT)
        assert len(files_in(tmp_path)) == 2
        assert (await client.delete(at)).status_code == 204
        assert (await client.delete(whole.headers["location"])).status_code == 204
        assert (await client.get(at)).status_code == 404
        assert (await client.delete(at)).status_code == 404
        assert files_in(tmp_path) == []


@pytest.mark.parametrize("by", ["upload", "document"])
async def test_an_upload_that_is_stopped_before_its_worker_looks_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    stopped = asyncio.Event()
    async with asking(tmp_path) as (house, client):
        at = (await client.post("/v1/uploads?name=a.md", content=TEXT)).headers["location"]

        async def stop_first(*given: Any, **more: Any) -> None:
            [read] = (await client.get("/v1/documents?state=unready")).json()["documents"]
            gone = at if by == "upload" else f"/v1/documents/{read['document_id']}"
            assert (await client.delete(gone)).status_code == 204
            stopped.set()
            await commit_entries(*given, **more)

        monkeypatch.setattr("quoth.pipeline.commit.commit_entries", stop_first)
        # A worker looks once a second whether its task is still there: it does not in this one.
        async with working(house.tenants, rhythm=WorkerTimings(poll_s=0.01, beat_s=5)):
            await stopped.wait()
        assert (await client.get(at)).status_code == 404
        assert (await client.get("/v1/documents")).json()["total"] == 0
        assert files_in(tmp_path) == []


async def test_an_abandoned_upload_expires(tmp_path: Path) -> None:
    async with asking(tmp_path) as (house, client):
        at = (await client.post("/v1/uploads", headers={"Upload-Length": "9"})).headers["location"]
        await client.patch(at, headers={"Upload-Offset": "0"}, content=b"12345")
        delete_stale_parts(house.tenants.database, Blobs(tmp_path, tenant="ada"))
        assert (await client.get(at)).json()["received"] == 5
        delete_stale_parts(house.tenants.database, Blobs(tmp_path, tenant="ada"), hours=0)
        assert (await client.get(at)).status_code == 404
        assert files_in(tmp_path) == []


async def test_one_file_beyond_the_tenants_megabytes_is_refused(tmp_path: Path) -> None:
    async with asking(tmp_path, tenant_mb=1) as (_house, client):
        large = b"Bees.\n" * 200_000
        said = await client.post("/v1/uploads?name=a.md", content=large)
        assert (said.status_code, said.json()["code"]) == (507, "quota_exceeded")
        assert files_in(tmp_path) == []
        half = large[:600_000]
        assert (await client.post("/v1/uploads?name=b.md", content=half)).status_code == 202
        assert (await client.post("/v1/uploads?name=b.md", content=half)).status_code == 200
        other = await client.post("/v1/uploads?name=c.md", content=half + b"More.")
        assert other.status_code == 507


async def test_a_full_disk_leaves_no_part(tmp_path: Path) -> None:
    async with asking(tmp_path) as (_house, client):
        at = (await client.post("/v1/uploads", headers={"Upload-Length": "600000"})).headers[
            "location"
        ]
        # More room than the catalogue takes, and less than the file.
        with no_room(beyond=500_000):
            full = await client.post("/v1/uploads?name=a.md", content=b"x" * 600_000)
            piece = await client.patch(at, headers={"Upload-Offset": "0"}, content=b"x" * 600_000)
        for each in (full, piece):
            assert (each.status_code, each.json()["code"]) == (507, "storage_full")
        assert files_in(tmp_path) == []
        assert (await client.get(at)).json()["received"] == 0
        again = await client.patch(at, headers={"Upload-Offset": "0"}, content=b"x" * 600_000)
        assert again.json()["state"] == "queued"


async def test_a_client_that_goes_away_comes_back(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        key = house.key("ada")
        with socket.create_server(("127.0.0.1", 0)) as bound:
            config = uvicorn.Config(house.app, lifespan="off", log_config=None)
            server = uvicorn.Server(config)
            serving = asyncio.create_task(server.serve(sockets=[bound]))
            base = f"http://127.0.0.1:{bound.getsockname()[1]}"
            bearer = {"authorization": f"Bearer {key}"}
            async with httpx.AsyncClient(base_url=base, headers=bearer, timeout=10) as client:
                opened = await client.post("/v1/uploads", headers={"Upload-Length": "3000000"})
                at = opened.headers["location"]
                await _send_half(bound.getsockname()[1], at, key=key)
                # The part that came in is there as soon as the service notices.
                there = 1_500_000
                queue = Queue(house.tenants.database, tenant="ada")
                await until(lambda: queue.find(at[12:]).received == there)
                assert (await client.get(at)).json()["received"] == there
                rest = await client.patch(
                    at, headers={"Upload-Offset": str(there)}, content=b"y" * 1_500_000
                )
                assert rest.json()["state"] == "queued"
            server.should_exit = True
            await serving


async def _send_half(port: int, path: str, *, key: str) -> None:
    _reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"PATCH {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n"
    writer.write(f"{head}Upload-Offset: 0\r\nContent-Length: 3000000\r\n\r\n".encode())
    writer.write(b"x" * 1_500_000)
    await writer.drain()
    await asyncio.sleep(0.2)
    writer.transport.abort()


async def test_a_request_that_is_cancelled_frees_its_upload(tmp_path: Path) -> None:
    async def slow() -> AsyncIterator[bytes]:
        yield b"12345"
        await asyncio.sleep(60)

    async with asking(tmp_path) as (house, client):
        at = (await client.post("/v1/uploads", headers={"Upload-Length": "9"})).headers["location"]
        parts = house.tenants.engine("ada").parts
        sending = asyncio.create_task(receive_more(parts, at[12:], slow(), offset=0))
        await asyncio.sleep(0.2)
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        rest = await client.patch(at, headers={"Upload-Offset": "5"}, content=b"6789")
        assert rest.json()["state"] == "queued"
