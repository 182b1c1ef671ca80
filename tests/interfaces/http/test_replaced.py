"""The id of a document that was replaced opens the present one, to those who may read it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from quoth.interfaces.http.signed_links import LinkSigner, LinkTarget
from tests.support.service_client import House, served
from tests.support.small_library import FIXTURES, TALK

CUE = "\n4\n00:00:30,000 --> 00:00:35,000\nThey sleep in winter.\n"


async def read(client: httpx.AsyncClient, path: str, **span: int) -> Any:
    answer = await client.get(path, params=span)
    return answer.json() if answer.status_code == 200 else answer.status_code


async def grown_talk(house: House, folder: Path) -> tuple[str, str]:
    """Add a talk beside its recording, and again with a cue more; gives the ids."""
    file = folder / "talk.srt"
    file.with_suffix(".mp3").write_bytes(b"sound")
    ids = []
    for text in (TALK, TALK + CUE):
        file.write_text(text, encoding="utf-8")
        ids += await house.add("ada", file)
    assert len(set(ids)) == 2
    return ids[0], ids[1]


async def test_an_earlier_id_opens_the_present_document_up_to_where_they_differ(
    tmp_path: Path,
) -> None:
    async with served(tmp_path / "home") as house, house.client(house.key("ada")) as client:
        old, new = await grown_talk(house, tmp_path)
        path = f"/v1/documents/{old}"
        total = (await read(client, f"/v1/documents/{new}/reading"))["total_chars"]
        known = await read(client, f"{path}/reading")
        assert (known["document_id"], known["total_chars"]) == (new, total)
        assert known["media"] == "audio/mpeg"
        for part in ("reading", "marks"):
            inside = await read(client, f"{path}/{part}", start=0, end=40)
            assert inside == await read(client, f"/v1/documents/{new}/{part}", start=0, end=40)
            assert inside["document_id"] == new
            assert await read(client, f"{path}/{part}", start=total - 9, end=total) == 404
        # Pages that are read on have no span.
        assert (await read(client, f"{path}/reading", start=total - 9))["document_id"] == new
        for part in ("", "/outline"):
            assert (await read(client, path + part))["document_id"] == new
        assert await read(client, f"{path}/passages") == 404  # Their ids are those of the present.
        assert (await client.get(f"{path}/media")).content == b"sound"
        assert (await client.get(f"{path}/original")).text == TALK + CUE
        assert (await client.get(f"{path}/explained")).json() == {"moments": []}
        await client.delete(f"/v1/documents/{new}")
        for part in ("", "/reading", "/outline", "/passages", "/media", "/original", "/explained"):
            assert await read(client, path + part) == 404


async def test_the_pages_of_a_corrected_pdf_are_drawn_and_marked(tmp_path: Path) -> None:
    file = tmp_path / "book.pdf"
    file.write_bytes((FIXTURES / "pdf" / "book.pdf").read_bytes())
    async with served(tmp_path / "home") as house, house.client(house.key("ada")) as client:
        (old,) = await house.add("ada", file)
        (tmp_path / "book.meta.json").write_text('{"title": "On wasps"}', encoding="utf-8")
        (new,) = await house.add("ada", file)
        assert new != old
        path = f"/v1/documents/{old}"
        assert (await read(client, path))["title"] == "On wasps"
        total = (await read(client, f"{path}/reading"))["total_chars"]
        marked = await read(client, f"{path}/marks", start=total - 20, end=total)
        assert (marked["document_id"], marked["exact"]) == (new, True)
        page = marked["pages"][-1]["page"]
        drawn = await client.get(f"{path}/pages/{page}/image?width=200")
        assert drawn.headers["content-type"] == "image/png"


async def test_only_those_who_may_read_the_present_document_are_led_to_it(tmp_path: Path) -> None:
    async with served(tmp_path / "home") as house:
        old, new = await grown_talk(house, tmp_path)
        wasps = tmp_path / "wasps.md"
        wasps.write_text("Wasps make paper.", encoding="utf-8")
        await house.add("ada", wasps, collection="other")
        path = f"/v1/documents/{old}/reading"
        for token, status in (
            (house.key("ada"), 200),
            (house.share("ada", collection="default"), 200),
            (house.share("ada", collection="other"), 404),
            (house.key("bob"), 404),
        ):
            async with house.client(token) as client:
                found = await client.get(path)
                assert found.status_code == status
                assert (new in found.text) == (status == 200)


@pytest.mark.parametrize("view", ["", "/reading", "/media"])
async def test_a_signed_link_opens_the_version_that_it_was_made_for(
    tmp_path: Path, view: str
) -> None:
    async with served(tmp_path / "home") as house:
        old, new = await grown_talk(house, tmp_path)
        signer = LinkSigner(house.tenants.settings)
        async with house.client("none") as client:
            client.headers.pop("authorization")
            for key, statuses in ((old, (404,)), (new, (200, 303))):
                token = signer.sign(LinkTarget("ada", key, None))
                assert (await client.get(f"/v1/links/{token}{view}")).status_code in statuses
