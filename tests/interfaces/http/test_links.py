"""Signed links open the cited place of one document, for a short time and without a key."""

from __future__ import annotations

import json
import re
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
import pytest_asyncio

from quoth.interfaces.http.signed_links import KEY_FILE, LinkSigner, LinkTarget
from tests.interfaces.http.test_pages import LINES, write_turned
from tests.support.service_client import House, served
from tests.support.small_library import TALK, write_sources

pytestmark = pytest.mark.asyncio(loop_scope="module")
SOUND = bytes(range(256)) * 4
QUESTION = {"query": "What keeps a colony of bees warm in winter?", "llm": "none"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    sources = write_sources(tmp_path_factory.mktemp("links") / "sources")
    pages = Path(tmp_path_factory.mktemp("pages")) / "turned.pdf"
    write_turned(pages)
    talk = pages.with_name("talk.srt")
    talk.write_text(TALK, encoding="utf-8")
    talk.with_name("talk.mp3").write_bytes(SOUND)
    async with served(tmp_path_factory.mktemp("house"), keys_needed="always") as opened:
        await opened.add("ada", sources)
        await opened.add("ada", pages, collection="pages")
        await opened.add("ada", talk, collection="talks")
        yield opened


async def cited(house: House, **body: Any) -> list[dict[str, Any]]:
    """The citations of an answer whose links are signed."""
    async with house.client(house.key("ada")) as client:
        sent = await client.post("/v1/query?links=signed", json={**QUESTION, **body})
    if not body.get("stream"):
        return list(sent.json()["citations"])
    events = [json.loads(line[6:]) for line in sent.text.splitlines() if line.startswith("data: ")]
    assert [each["citation"] for each in events if each["event"] == "citation"]
    return list(events[-1]["answer"]["citations"])


async def get(
    house: House, link: str, *, follow: bool = True, headers: dict[str, str] | None = None
) -> httpx.Response:
    """Open a link as a browser does, without a key."""
    transport = httpx.ASGITransport(app=house.app)
    async with httpx.AsyncClient(
        transport=transport, base_url="http://127.0.0.1", follow_redirects=follow
    ) as client:
        return await client.get(link, headers=headers)


async def test_a_signed_link_shows_the_page_or_the_text(house: House) -> None:
    page = (await cited(house, collection="pages"))[0]
    assert LINES[0] in page["snippet"]
    shown = await get(house, page["link"])
    assert (shown.status_code, shown.headers["content-type"]) == (200, "image/png")
    text = (await cited(house, stream=True))[0]
    read = (await get(house, text["link"])).json()
    assert text["snippet"] in " ".join(block["text"] for block in read["blocks"])


async def test_a_signed_link_plays_the_recording_at_its_second(house: House) -> None:
    asked = {"query": "What is honey made from?", "collection": "talks"}
    citation = (await cited(house, **asked))[0]
    link = citation["link"]
    assert urlsplit(link).fragment == f"t={citation['locator']['start']:g}"
    played = await get(house, link)
    assert (played.status_code, played.content) == (200, SOUND)
    assert played.headers["content-type"] == "audio/mpeg"
    media = f"{urlsplit(link).path}/media"
    part = await get(house, media, headers={"range": "bytes=100-199"})
    assert (part.status_code, part.content) == (206, SOUND[100:200])
    page = (await cited(house, collection="pages"))[0]["link"]
    assert (await get(house, f"{urlsplit(page).path}/media")).status_code == 404


async def test_a_chat_answer_has_signed_links_too(house: House) -> None:
    body = {"model": "quoth", "messages": [{"role": "user", "content": QUESTION["query"]}]}
    for stream in (False, True):
        async with house.client(house.key("ada")) as client:
            sent = await client.post(
                "/v1/chat/completions?links=signed", json={**body, "stream": stream}
            )
        links = set(re.findall(r"\]\((http[^)]*/v1/links/[^)]*)\)", sent.text))
        assert links
        assert (await get(house, links.pop())).status_code == 200


async def test_the_closest_passages_of_no_answer_have_signed_links_too(house: House) -> None:
    text = "Which tungsten carbide melts?"
    body = {"model": "quoth", "messages": [{"role": "user", "content": text}]}
    async with house.client(house.key("ada")) as client:
        asked = await client.post("/v1/query?links=signed", json={**QUESTION, "query": text})
        chats = [
            await client.post(f"/v1/chat/completions{links}", json={**body, "stream": stream})
            for links in ("?links=signed", "")
            for stream in (False, True)
        ]
    answer = asked.json()
    assert (answer["citations"], bool(answer["closest"])) == ([], True)
    for hit in answer["closest"]:
        shown = await get(house, hit["link"])
        if hit["locator"]["kind"] == "pages":
            assert (shown.status_code, shown.headers["content-type"]) == (200, "image/png")
            continue
        read = shown.json()
        first, last = hit["marked"] or (0, len(hit["text"]))
        words = " ".join(hit["text"][first:last].split())
        assert words in " ".join(" ".join(each["text"] for each in read["blocks"]).split())
        assert read["span"]["start"] == hit["start"] + first
    for chat, kind in zip(chats, ("/v1/links/",) * 2 + ("/d/",) * 2, strict=True):
        links = set(re.findall(r"\]\((http[^)]*)\)", chat.text))
        assert links
        assert all(urlsplit(link).path.startswith(kind) for link in links)


async def test_an_expired_altered_or_foreign_link_is_refused(house: House) -> None:
    (citation, *_more) = await cited(house)
    path = urlsplit(citation["link"]).path
    token = path.rpartition("/")[2]
    settings = house.tenants.settings
    target = LinkTarget("ada", citation["document_id"], None)
    old = LinkSigner(settings, clock=lambda: time.time() - 60 * settings.link_minutes - 1)
    bob = LinkSigner(settings).sign(LinkTarget("bob", citation["document_id"], None))
    data, _dot, mac = token.partition(".")
    wrong = {
        "expired": old.sign(target),
        "altered": f"{data[:-4]}AAAA.{mac}",
        "for another target": f"{bob.partition('.')[0]}.{mac}",
        "cut": token[:-5],
        "nothing": "x",
        "no base64": "\u00e4.\u00e4",
    }
    for name, other in wrong.items():
        for view in ("", "/reading", "/media", "/pages/1/image"):
            refused = await get(house, f"/v1/links/{other}{view}")
            assert (refused.status_code, refused.json()["code"]) == (403, "denied"), name
    # Signed for a tenant that has no such document, it finds nothing.
    assert (await get(house, f"/v1/links/{bob}/reading")).status_code == 404
    assert (await get(house, f"/v1/links/{token}/reading")).status_code == 200
    assert house.app.state.link_signer is not None  # which read the key once
    assert (settings.home / KEY_FILE).stat().st_mode & 0o777 == 0o600
