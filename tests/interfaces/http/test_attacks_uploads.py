"""Attacks by files: links out of the house, names without an address, fought-over uploads."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from quoth.interfaces.http.uploads import receive as receiving
from quoth.store.upload_tasks import LEASE_SECONDS
from quoth.store.uploads import UploadStore
from tests.support.upload_service import open_house


async def test_a_link_in_place_of_an_added_file_leads_nowhere(tmp_path: Path) -> None:
    secret, folder = tmp_path / "secret.txt", tmp_path / "added"
    secret.write_text("Nobody added this.", encoding="utf-8")
    folder.mkdir()
    added = folder / "talk.md"
    added.write_text("# Talk\n\nSomebody added this.", encoding="utf-8")
    async with open_house(tmp_path / "home") as house, house.client(house.key("ada")) as client:
        [key] = await house.add("ada", added)
        assert (await client.get(f"/v1/documents/{key}/original")).status_code == 200
        added.unlink()
        added.symlink_to(secret)
        assert (await client.get(f"/v1/documents/{key}/original")).status_code == 410
        added.unlink()
        folder.rename(tmp_path / "other")
        folder.symlink_to(tmp_path)
        (tmp_path / "talk.md").write_text("Nor this.", encoding="utf-8")
        assert (await client.get(f"/v1/documents/{key}/original")).status_code == 410


@pytest.mark.parametrize("name", ["../x", "a/b", "..", "a\\b"])
async def test_no_upload_makes_a_collection_without_an_address(tmp_path: Path, name: str) -> None:
    form = {"file": ("a.md", b"# A")}
    async with open_house(tmp_path) as house, house.client(house.key("ada")) as client:
        sent = await client.post("/v1/uploads", params={"collection": name}, content=b"# A")
        assert sent.status_code == 422
        assert (
            await client.post("/v1/uploads", files=form, data={"collection": name})
        ).status_code == 422


async def test_an_upload_that_trickles_stays_its_senders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its lease is renewed though not a block is full; else two would write to one file."""
    async with open_house(tmp_path) as house, house.client(house.key("ada")) as client:
        sizes = {"Upload-Length": "9"}
        at = (await client.post("/v1/uploads", headers=sizes)).headers["location"]
        passed = 0.0
        monkeypatch.setattr(receiving, "time", SimpleNamespace(monotonic=lambda: passed))
        taken: list[str] = []
        take = UploadStore.take

        def noted(self: UploadStore, key: str) -> object:
            taken.append(key)
            return take(self, key)

        monkeypatch.setattr(UploadStore, "take", noted)

        async def trickle() -> AsyncIterator[bytes]:
            nonlocal passed
            for each in b"# hello!\n":
                passed += LEASE_SECONDS / 3
                yield bytes([each])
                await asyncio.sleep(0)

        sent = await client.patch(at, headers={"Upload-Offset": "0"}, content=trickle())
        assert sent.status_code == 200
        assert len(taken) == 1 + 9


async def test_where_no_texts_are_kept_no_comment_is(tmp_path: Path) -> None:
    talk = tmp_path / "talk.md"
    talk.write_text("# Talk\n\nA tokenizer splits text into tokens.", encoding="utf-8")
    wanted = {"history": "hash", "retention_days": 30, "may_leave": False}
    async with open_house(tmp_path / "home") as house, house.client(house.key("ada")) as client:
        await house.add("ada", talk)
        await client.put("/v1/privacy", json=wanted)
        asked = await client.post("/v1/query", json={"query": "What does a tokenizer do?"})
        key = asked.json()["query_id"]
        rated = {"query_id": key, "rating": -1, "comment": "My name is Ada."}
        assert (await client.post("/v1/feedback", json=rated)).status_code == 204
        kept = (await client.get(f"/v1/queries/{key}")).json()["feedback"]
    assert (kept["rating"], kept["comment"]) == (-1, "")
