"""Reading on from a proof: the PDF as a whole, a recording that is played, a video of YouTube."""

from __future__ import annotations

import wave
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.support.web_app import NEEDS_CHROMIUM, WebApp

pytestmark = NEEDS_CHROMIUM

SECONDS = 40

# The browser does not heed a key in the last moments of a scroll.
STANDS_STILL = """new Promise((done) => {
    let before = -1, frames = 0;
    const look = () => {
        frames = scrollY === before ? frames + 1 : 0;
        before = scrollY;
        if (frames < 15) requestAnimationFrame(look); else done(true);
    };
    look();
})"""


def documents(page: Page, web: WebApp, kind: str) -> list[dict[str, Any]]:
    listed = page.request.get(f"{web.url}/v1/documents?limit=100").json()["documents"]
    return [document for document in listed if document["kind"] == kind]


def test_a_pdf_is_read_on_with_its_words_marked(web: WebApp) -> None:
    with web.opened() as visit:
        page = visit.page
        document_id = documents(page, web, "pdf")[0]["document_id"]
        reading = page.request.get(f"{web.url}/v1/documents/{document_id}/reading").json()
        block = reading["blocks"][0]
        page.goto(f"{web.url}/d/{document_id}?start={block['start']}&end={block['end']}")
        page.locator("figcaption a").click()
        expect(page.locator("pdf-page .marks rect").first).to_be_visible()
        expect(page.locator("pdf-page .textLayer span").first).to_be_attached()
        words = " ".join(page.locator("pdf-page .textLayer span").all_inner_texts())
        assert " ".join(block["text"].split()[:3]) in " ".join(words.split())
        assert page.evaluate("document.querySelector('pdf-page canvas').width") > 300
        shown = page.locator(".pdf-bar label span")
        page.keyboard.press("End")
        expect(shown).to_have_text("(5 of 5)")
        page.evaluate(STANDS_STILL)
        page.keyboard.press("Home")
        expect(shown).to_have_text("(1 of 5)")
        before = page.locator("pdf-page").first.bounding_box()
        page.locator("button", has_text="+").click()
        expect(page.locator("pdf-page canvas").first).to_be_visible()
        after = page.locator("pdf-page").first.bounding_box()
        assert before is not None
        assert after is not None
        assert after["width"] > before["width"]
        page.locator("a", has_text="Text").click()
        expect(page.locator(".reading mark").first).to_be_visible()
        expect(page.locator("document-about")).to_contain_text("PDF · 5 pages · English · ready")
        page.locator(".thumbnails summary").click()
        small = page.locator(".thumbnails img")
        expect(small).to_have_count(5)
        expect(small.first).to_be_visible()
        expect(small.first).to_have_js_property("naturalWidth", 200)
        assert str(small.nth(1).locator("..").get_attribute("href")).endswith("#page=2")
        page.locator(".outline summary").click()
        sections = page.locator(".outline li")
        title, place = sections.last.locator("a, span").all_inner_texts()
        assert place.startswith("p. ")
        sections.last.locator("a").click()
        expect(page.locator(".outline [aria-current=location]")).to_have_text(title)
        expect(page.locator("document-page > .page > page-image figcaption")).to_contain_text(place)


@pytest.fixture(scope="module")
def recording(web: WebApp) -> None:
    """A silent recording beside the transcript of the small library's talk."""
    import httpx

    listed = httpx.get(f"{web.url}/v1/documents?limit=100").json()["documents"]
    name = next(document["source"] for document in listed if document["kind"] == "transcript")
    (file,) = web.sources.rglob(name)
    with wave.open(str(file.with_suffix(".wav")), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        sound.writeframes(b"\0\0" * 8000 * SECONDS)


@pytest.mark.usefixtures("recording")
def test_a_recording_plays_and_its_transcript_follows(web: WebApp) -> None:
    with web.opened() as visit:
        page = visit.page
        talk = documents(page, web, "transcript")[0]["document_id"]
        blocks = page.request.get(f"{web.url}/v1/documents/{talk}/reading").json()["blocks"]
        page.goto(f"{web.url}/d/{talk}?start={blocks[1]['start']}&end={blocks[1]['end']}")
        player = page.locator("audio")
        expect(player).to_be_visible()
        expect(page.locator(".reading mark").first).to_be_visible()
        expect(page.locator(".reading button.time").first).to_be_visible()
        # Who speaks is named where the voice begins, not at every line.
        expect(page.locator(".reading .section", has_text="Ada")).to_have_count(1)
        # Chromium plays without a click of the person only what has no sound.
        player.evaluate("(audio) => { audio.muted = true; return audio.play(); }")
        playing = page.locator(".block.playing")
        expect(playing).to_contain_text(blocks[1]["text"].strip()[:20])
        at = player.evaluate("(audio) => audio.currentTime")
        assert blocks[1]["locator"]["start"] <= at < blocks[1]["locator"]["end"] + 1
        page.locator("button.time").nth(2).click()
        expect(playing).to_contain_text(blocks[2]["text"].strip()[:20])


@contextmanager
def titled(page: Page, web: WebApp, document_id: str, title: str) -> Iterator[str]:
    """Give a document another title as long as this lasts; gives its new id."""
    path = f"{web.url}/v1/documents/"
    before = page.request.get(path + document_id).json()["title"]
    corrected = page.request.patch(path + document_id, data={"title": title}).json()
    assert corrected["document_id"] != document_id
    yield str(corrected["document_id"])
    page.request.patch(path + corrected["document_id"], data={"title": before})


@pytest.mark.usefixtures("recording")
def test_the_proof_of_an_answer_opens_after_the_title_was_corrected(web: WebApp) -> None:
    with web.opened() as visit:
        page = visit.page
        for kind, question, title in (
            ("transcript", "What is honey made from?", "At the hive"),
            ("pdf", "What did the lighthouse keeper write?", "The keeper's book"),
        ):
            page.goto(web.url)
            visit.ask(question)
            old = documents(page, web, kind)[0]["document_id"]
            with titled(page, web, old, title) as new:
                page.reload()
                expect(page.locator(".card.doubt, .card .partly")).to_have_count(0)
                page.locator("button.number:not(.hidden)").first.click()
                proof = page.locator(".proof")
                expect(proof.locator(".reading mark").first).to_be_visible()
                shown = proof.locator("audio, .page-image rect").first
                expect(shown).to_be_visible()
                page.goto(f"{web.url}/d/{old}?start=0&end=20")
                expect(page.locator("h1")).to_have_text(title)
                expect(page.locator(".reading mark").first).to_be_visible()
                for link in page.locator("document-about details.outline a").all():
                    assert f"/d/{new}?" in (link.get_attribute("href") or "")


def test_youtube_is_loaded_only_where_it_is_allowed_and_asked_for(web: WebApp) -> None:
    with web.opened() as visit:
        page = visit.page
        talk = documents(page, web, "transcript")[0]["document_id"]
        path = f"**/v1/documents/{talk}"

        def reading(route: Route) -> None:
            body = route.fetch().json() | {"media": None}
            for block in body["blocks"]:
                block["link"] = f"{addresses[-1]}&t={block['start']}"
            route.fulfill(json=body)

        addresses = [f"/v1/documents/{talk}/original?"]
        page.route(f"{path}/reading*", reading)
        page.goto(f"{web.url}/d/{talk}")
        # Without a recording and its address, a time leads to its line.
        page.locator(".reading .block").nth(1).locator("a.time").click()
        expect(page.locator(".reading .block:has(mark) .time")).to_have_count(1)
        assert "?start=" in page.url
        addresses.append("https://www.youtube.com/watch?v=dQw4w9WgXcQ")
        page.goto(f"{web.url}/d/{talk}")
        expect(page.locator(".reading")).to_be_visible()
        expect(page.locator("button", has_text="Play it here")).to_have_count(0)
        about = {"language_model": None, "youtube_player": True}
        page.route("**/v1/service", lambda route: route.fulfill(json=about))
        page.route("**/youtube/*", lambda route: route.fulfill(body="the player"))
        page.reload()
        page.locator("button", has_text="Play it here").click()
        address = page.locator("iframe").get_attribute("src")
        assert address is not None
        assert address.startswith("/youtube/dQw4w9WgXcQ?start=")


def test_a_table_is_shown_as_one_with_the_quoted_cell_marked(web: WebApp, tmp_path: Path) -> None:
    file = tmp_path / "ports.csv"
    file.write_text("Port,Depth 𝟙,Crane\nN1,14 m,yes\nN2,,no\nN3,9 m,\n", encoding="utf-8")
    with web.opened() as visit:
        page = visit.page
        page.request.post(f"{web.url}/v1/uploads?name=ports.csv", data=file.read_bytes())
        until = f"{web.url}/v1/documents?limit=100&words=ports"
        while not (there := page.request.get(until).json()["documents"]) or not there[0]["kind"]:
            page.wait_for_timeout(100)
        (table,) = [each for each in there if each["kind"] == "table"]
        path = f"/v1/documents/{table['document_id']}/reading"
        row = page.request.get(web.url + path).json()["blocks"][1]
        start = row["start"] + row["text"].index("14 m")
        page.goto(f"{web.url}/d/{table['document_id']}?start={start}&end={start + 4}")
        expect(page.locator(".reading mark")).to_have_text("14 m")
        expect(page.locator(".rows th")).to_have_text(["Port", "Depth 𝟙", "Crane"])
        shown = page.locator(".rows tbody td:not(.time)")
        assert shown.all_inner_texts() == ["N1", "14 m", "yes", "N2", "", "no", "N3", "9 m", ""]


def test_reading_on_says_why_it_failed_and_works_again(web: WebApp) -> None:
    lost = "The service is starting."
    with web.opened() as visit:
        page = visit.page
        document_id = documents(page, web, "pdf")[0]["document_id"]

        def reading(route: Route) -> None:
            body = route.fetch().json()
            # As of a longer document.
            route.fulfill(json={**body, "total_chars": body["total_chars"] + 1})

        page.route("**/reading?*", reading)
        page.goto(f"{web.url}/d/{document_id}")
        after = page.locator("button", has_text="Show the text after")
        expect(after).to_be_visible()
        page.unroute("**/reading?*")
        page.route("**/reading?*", lambda each: each.fulfill(status=503, json={"detail": lost}))
        after.click()
        expect(page.locator("reading-view [role=alert]")).to_have_text(lost)
        expect(page.locator(".reading .block").first).to_be_visible()
        page.unroute("**/reading?*")
        after.click()
        expect(page.locator("reading-view [role=alert]")).to_have_count(0)


def test_the_page_of_a_picture_shows_it_and_leads_to_no_pdf(web: WebApp) -> None:
    with web.opened() as visit:
        page = visit.page
        document = documents(page, web, "pdf")[0]
        about = f"/v1/documents/{document['document_id']}"
        picture = {**document, "source": "upload:1/quay.jpg", "pages": 1}
        page.route(f"**{about}", lambda route: route.fulfill(json=picture))
        page.goto(f"{web.url}/d/{document['document_id']}")
        page.locator(".thumbnails summary").click()
        expect(page.locator(".thumbnails img")).to_have_js_property("complete", True)
        large = page.locator(".thumbnails a")
        expect(large).to_have_attribute("href", f"{about}/pages/1/image?width=1000")
        expect(page.locator("a[href*='/pdf/']")).to_have_count(0)
