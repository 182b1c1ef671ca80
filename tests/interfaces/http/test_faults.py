"""What somebody meets who uses the service by its documentation: dead ends that say the way out."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import httpx
import pytest

from quoth.core.errors import ConfigError
from quoth.core.settings import Settings
from quoth.core.types import Document
from quoth.interfaces.http.server.start import check_binding
from quoth.operations.backup import make_backup, restore_backup
from quoth.pipeline.given_metadata import DocumentMetadata
from quoth.store.database import open_database
from tests.support.service_client import House, served
from tests.support.small_library import write_sources

QUESTION = "How does a colony stay warm in winter?"


async def asked(house: House, tenant: str, *, key: str = "", **more: object) -> httpx.Response:
    """Ask a question of a tenant's."""
    async with house.client(key or house.key(tenant)) as client:
        return await client.post("/v1/query", json={"query": QUESTION, **more})


# --- files ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        DocumentMetadata(),
        DocumentMetadata(
            title="  Bees ", speaker="Ada", url="https://Example.org/bees", language="fr-CA"
        ),
    ],
    ids=["nothing said", "all said"],
)
async def test_only_the_file_that_was_added_is_given_out(
    tmp_path: Path, given: DocumentMetadata
) -> None:
    note = tmp_path / "note.md"
    note.write_text("# Note\n\nBees hum in the hive.\n", encoding="utf-8")
    async with served(tmp_path / "home") as house:
        steps = house.tenants.engine("ada").add([note], given=given)
        [made] = [each async for each in steps if isinstance(each, Document)]
        address = f"/v1/documents/{made.document_id}/original"
        async with house.client(house.key("ada")) as client:
            whole = await client.get(address)
            head = await client.head(address)
            note.write_text("# Wages\n\nWhat everybody earns.\n", encoding="utf-8")
            changed = await client.get(address)
            note.unlink()
            gone = await client.get(address)
    assert whole.status_code == 200
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == whole.headers["content-length"]
    assert (changed.status_code, changed.json()["code"]) == (410, "gone")
    assert changed.json()["detail"].endswith("Add it again.")
    assert "no longer exists" in gone.json()["detail"]


# --- an empty library -------------------------------------------------------------------------


async def test_an_empty_library_has_empty_lists_and_says_what_to_do(tmp_path: Path) -> None:
    lists = {"/v1/documents": "documents", "/v1/models": "data", "/v1/suggestions": "suggestions"}
    async with served(tmp_path) as house, house.client(house.key("new")) as client:
        for address, name in lists.items():
            found = await client.get(address)
            assert (found.status_code, found.json()[name]) == (200, [])
        for address in ("/v1/query", "/v1/search"):
            found = await client.post(address, json={"query": QUESTION})
            assert found.status_code == 409
            assert "There are no documents yet. Add some" in found.json()["detail"]
            named = await client.post(address, json={"query": QUESTION, "collection": "default"})
            assert named.status_code == 404
        body = {"model": "quoth", "messages": [{"role": "user", "content": QUESTION}]}
        found = await client.post("/v1/chat/completions", json=body)
    assert found.status_code == 409
    assert "Add some" in found.json()["error"]["message"]


# --- what does not fit ------------------------------------------------------------------------


async def test_too_little_time_and_a_range_that_is_none_are_refused(tmp_path: Path) -> None:
    async with served(tmp_path / "home") as house:
        await house.add("ada", write_sources(tmp_path / "sources"))
        found = await asked(house, "ada", max_ms=1)
        assert (await asked(house, "ada", filters={"page": "x-y"})).status_code == 422
    assert (found.status_code, found.json()["code"]) == (422, "out_of_time")
    assert "max_ms" in found.json()["detail"]
    assert "semantic" not in found.json()["detail"]
    assert "retry-after" not in found.headers


async def test_the_gate_speaks_as_openai_does_where_it_is_spoken(tmp_path: Path) -> None:
    async with served(tmp_path) as house, house.client("qth_wrong") as client:
        assert (await client.get("/v1/models")).json()["error"]["type"] == "authentication_error"
        assert (await client.get("/v1/documents")).json()["code"] == "denied"


# --- set-up -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "hosts", ["https://quoth.example", "a.example b.example", "quoth.example/v1"]
)
def test_a_host_is_written_as_its_bare_name(tmp_path: Path, hosts: str) -> None:
    database = open_database(tmp_path / "catalogue.sqlite")
    with pytest.raises(ConfigError, match="bare name"):
        check_binding("127.0.0.1", database=database, settings=Settings(hosts=hosts))
    check_binding(
        "127.0.0.1", database=database, settings=Settings(hosts="a.example:8443, [::1], b.example")
    )
    database.close()


# --- an index that is not whole ---------------------------------------------------------------


async def test_a_library_without_its_index_says_so_until_it_is_whole(tmp_path: Path) -> None:
    sources = write_sources(tmp_path / "sources")
    pack = tmp_path / "pack.tar.zst"
    async with served(tmp_path / "old") as house:
        await house.add("ada", sources)
        make_backup(house.tenants.database, pack, home=house.home)
    restore_backup(pack, tmp_path / "new")
    (tmp_path / "later.md").write_text("# Later\n\nQueens lay eggs.\n", encoding="utf-8")
    async with served(tmp_path / "new") as house:
        lost = await asked(house, "ada")
        await house.add("ada", tmp_path / "later.md")
        whole = await asked(house, "ada")
    assert (lost.status_code, lost.json()["code"]) == (503, "index_corrupt")
    assert "reindex" in lost.json()["detail"]
    assert "retry-after" not in lost.headers
    assert (whole.json()["status"], whole.json()["degraded"]) == ("answered", [])


async def test_an_index_that_lacks_documents_is_named(tmp_path: Path) -> None:
    sources = write_sources(tmp_path / "sources")
    async with served(tmp_path / "home") as house:
        keys = await house.add("ada", sources / "notes.md", sources / "hive.srt")
        parts = house.tenants.engine("ada").parts
        table = parts.catalogue.collection("default").table
        await parts.open_index(table).delete(keys[:1])
        found = (await asked(house, "ada")).json()
    assert any(each.startswith("index:incomplete:without ") for each in found["degraded"])


# --- what becomes of a file -------------------------------------------------------------------


async def test_the_log_tells_the_fate_of_a_file_and_asking_it_too(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="quoth.operations.worker")
    async with served(tmp_path) as house, house.client(house.key("ada")) as client:
        params = {"name": "private-name.pdf"}
        sent = await client.post("/v1/uploads", params=params, content=b"%PDF-1.7 broken")
        upload = sent.json()["id"]
        async with house.working():
            await client.get(f"/v1/uploads/{upload}/events")
        shown = (await client.get(f"/v1/uploads/{upload}")).json()
        told = await client.post("/v1/query", json={"query": QUESTION, "upload_id": upload})
    [line] = [each for each in caplog.records if each.message == "file_ended"]
    code = shown["error"]["code"]
    assert (line.task, line.state, line.code) == (upload, "failed", code)  # type: ignore[attr-defined]
    assert "private" not in json.dumps({k: str(v) for k, v in vars(line).items()})
    assert told.status_code == 409
    assert f"failed ({code})" in told.json()["detail"]
