"""A file that is added from a folder and uploaded is one document, whoever describes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.service_client import House
from tests.support.upload_service import drained, open_house, working

TALK = b"1\n00:00:01,000 --> 00:00:09,000\nBees make honey, and wasps do not.\n"
ABOUT = {"title": "On bees", "speaker": "Ada", "language": "en", "date": "2024-05-01"}
NAME = "talk, une fois.srt"


def folder_with_sidecar(folder: Path) -> Path:
    folder.mkdir()
    (folder / NAME).write_bytes(TALK)
    (folder / f"{NAME}.meta.json").write_text(json.dumps(ABOUT), encoding="utf-8")
    return folder


async def uploaded(house: House, client: httpx.AsyncClient, **said: str) -> Any:
    params = {"name": NAME, "collection": "default", **said}
    sent = await client.post("/v1/uploads", params=params, content=TALK)
    await drained(house.tenants, tenant="ada")
    upload = (await client.get(sent.headers["location"])).json()
    listed = (await client.get("/v1/documents")).json()["documents"]
    return upload, {each["document_id"]: each for each in listed}


@pytest.mark.parametrize("said", [{}, {"sidecar": json.dumps(ABOUT)}, {"title": "On bees"}])
async def test_a_file_of_a_folder_that_is_uploaded_is_not_a_second_document(
    tmp_path: Path, said: dict[str, str]
) -> None:
    async with open_house(tmp_path / "home") as house, house.client(house.key("ada")) as client:
        await house.add("ada", folder_with_sidecar(tmp_path / "talks"))
        async with working(house.tenants):
            upload, listed = await uploaded(house, client, **said)
        assert list(listed) == [upload["document_id"]]
        assert upload["state"] == "unchanged"
        assert listed[upload["document_id"]]["speaker"] == "Ada"


async def test_what_is_said_otherwise_makes_another_document(tmp_path: Path) -> None:
    async with open_house(tmp_path / "home") as house, house.client(house.key("ada")) as client:
        await house.add("ada", folder_with_sidecar(tmp_path / "talks"))
        async with working(house.tenants):
            upload, listed = await uploaded(house, client, title="On wasps")
        assert len(listed) == 2
        assert listed[upload["document_id"]]["title"] == "On wasps"


async def test_a_folder_after_the_upload_is_not_a_second_document(tmp_path: Path) -> None:
    async with open_house(tmp_path / "home") as house, house.client(house.key("ada")) as client:
        about = {"sidecar": json.dumps({**ABOUT, "date": None})}
        async with working(house.tenants):
            upload, _listed = await uploaded(house, client, **about)
        folder = folder_with_sidecar(tmp_path / "talks")
        (folder / f"{NAME}.meta.json").write_text(about["sidecar"], encoding="utf-8")
        await house.add("ada", folder)
        listed = (await client.get("/v1/documents")).json()["documents"]
        assert [each["document_id"] for each in listed] == [upload["document_id"]]


async def test_a_changed_file_of_the_same_name_is_another_document(tmp_path: Path) -> None:
    async with open_house(tmp_path / "home") as house, house.client(house.key("ada")) as client:
        folder = folder_with_sidecar(tmp_path / "talks")
        await house.add("ada", folder)
        (folder / NAME).write_bytes(TALK.replace(b"wasps", b"flies"))
        async with working(house.tenants):
            _upload, listed = await uploaded(house, client)
        assert len(listed) == 2
