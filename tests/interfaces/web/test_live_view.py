"""The live view: a recorded lecture is replayed, its citations appear, an audience follows."""

from __future__ import annotations

import re
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import httpx
from playwright.sync_api import Page, Route, expect

from tests.interfaces.web.test_pages import AXE, AXE_SHA256
from tests.support.lectures import TOPICS, write_book
from tests.support.web_app import CHROMIUM, NEEDS_CHROMIUM, WebApp

pytestmark = NEEDS_CHROMIUM


def add_book(web: WebApp, folder: Path) -> None:
    content = write_book(folder).read_bytes()
    with httpx.Client(base_url=web.url) as client:
        query = {"name": "bees.md", "collection": "bees"}
        upload = client.post("/v1/uploads", params=query, content=content).json()
        assert '"ready"' in client.get(f"/v1/uploads/{upload['id']}/events").text


def write_captions(file: Path) -> Path:
    cues = [
        f"00:{at * 2:02}.000 --> 00:{at * 2 + 2:02}.000\n<v Ada>{text}. So, {text.lower()}.\n"
        for at, text in enumerate(TOPICS.values())
    ]
    file.write_text("WEBVTT\n\n" + "\n".join(cues), "utf-8")
    return file


def axe_violations(page: Page) -> list[str]:
    source = AXE.read_text(encoding="utf-8")
    assert sha256(source.encode()).hexdigest() == AXE_SHA256
    page.evaluate(source)
    ids: list[str] = page.evaluate(
        "axe.run().then((result) => result.violations.map((each) => each.id))"
    )
    return ids


def switch_on_a_microphone_that_is_not_there(page: Page) -> None:
    """The speaker has to agree first; the page may use a microphone, of which there is none."""
    open_one_menu_at_a_time(page)
    page.get_by_text("Microphone", exact=True).click()
    page.get_by_role("button", name="Switch on").click()
    expect(page.get_by_label("Those who are heard agree")).to_be_focused()
    page.get_by_label("Those who are heard agree").check()
    page.get_by_role("button", name="Switch on").click()
    expect(page.locator("live-microphone [role=alert]")).to_contain_text("There is no microphone")


def test_a_browser_that_denies_the_microphone_says_how_to_allow_it(web: WebApp) -> None:
    arguments = ["--no-sandbox", "--disable-gpu", "--use-fake-device-for-media-stream"]
    kind = web.browser.browser_type
    denying = kind.launch(executable_path=CHROMIUM, args=[*arguments, "--deny-permission-prompts"])
    try:
        with replace(web, browser=denying, idle=[]).opened("/live") as visit:
            page = visit.page
            page.get_by_label("Title").fill("Denied")
            page.get_by_role("button", name="Start a session").click()
            page.get_by_text("Microphone", exact=True).click()
            page.get_by_label("Those who are heard agree").check()
            page.get_by_role("button", name="Switch on").click()
            problem = page.locator("live-microphone [role=alert]")
            expect(problem).to_contain_text("Allow it in the browser’s settings")
            expect(page.locator(".transcribed")).to_have_count(0)
            session = page.url.rpartition("/")[2]
            assert page.request.delete(f"{web.url}/v1/sessions/{session}").ok
            expect(page.locator("main")).to_contain_text("This session was deleted.")
            expect(page.locator(".badge")).to_have_count(0)
    finally:
        denying.close()


def test_a_key_without_the_scope_is_told_before_anything_is_typed(web: WebApp) -> None:
    asked: list[str] = []
    with web.opened("/settings") as visit:
        page = visit.page
        reader = {**page.request.get(f"{web.url}/v1/session").json(), "scopes": ["read"]}
        page.route("**/v1/session", lambda route: route.fulfill(json=reader))
        page.on("request", lambda each: asked.append(each.url))
        page.locator("nav a", has_text="Live").click()
        expect(page.locator("live-list .doubt")).to_contain_text("the scope “live”")
        expect(page.locator("live-list form, live-list [role=alert]")).to_have_count(0)
    assert not any("/v1/sessions" in each for each in asked)


def replay_without_connection(page: Page, captions: Path) -> None:
    """Replay captions that the service gets at a second try; a message says that it is tried."""
    page.route("**/segments", lambda route: route.abort())
    page.get_by_label("Speed").select_option("20")
    page.locator("live-replay input").set_input_files(captions)
    lost = page.locator(".live-head .status.problem")
    expect(lost).to_contain_text("Trying again")
    page.unroute("**/segments")
    expect(lost).to_have_count(0)


def open_one_menu_at_a_time(page: Page) -> None:
    """On a small screen a menu is within the page; another one, or Escape, closes it."""
    panels = page.locator("live-controls .menu > .panel:visible")
    for name in ("Export", "Microphone"):
        # The open one may lie over the button of the other.
        page.locator("live-controls summary", has_text=name).press("Enter")
        expect(panels).to_have_count(1)
        wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, f"{name}: the page scrolls sideways"
    page.keyboard.press("Escape")
    expect(panels).to_have_count(0)
    expect(page.locator("summary", has_text="Microphone")).to_be_focused()


def attach_the_book_alone(page: Page) -> None:
    """Cite one document in place of its collection."""
    page.locator("live-documents > details > summary").click()
    page.get_by_label("bees").uncheck()
    expect(page.locator("live-panel")).to_contain_text("Upload documents to see citations")
    page.get_by_text("Single documents of bees").click()
    page.get_by_label("Find a document in bees").fill("bee")
    page.get_by_label("The bee book").check()
    expect(page.locator("live-panel")).to_contain_text("Citations appear here")
    page.locator("live-documents > details > summary").click()


def claim_a_language_model(page: Page, url: str) -> None:
    """The page offers captions; that the model cannot be asked is seen then."""

    def claimed(route: Route) -> None:
        if route.request.method == "GET":
            route.fulfill(json={**route.fetch().json(), "translates": True})
        else:
            route.continue_()

    page.route(re.compile(rf"{re.escape(url)}/v1/sessions/[^/?]+$"), claimed)


def ask_for_captions_without_a_model(page: Page) -> None:
    """The page says why there are none, until they are switched off."""
    menu = page.get_by_label("Translated captions")
    menu.select_option("fr")
    problem = page.locator("live-transcript [role=alert]")
    expect(problem).to_contain_text("none may be asked")
    expect(menu).to_have_value("fr")
    menu.select_option("")
    expect(problem).to_have_count(0)


def follow_as_an_audience(page: Page) -> None:
    """The words and the passages are shown, neither the owner's menu nor captions."""
    expect(page.locator(".transcript")).to_contain_text("Hives must be registered")
    expect(page.get_by_label("Translated captions")).to_have_count(0)
    expect(page.locator("nav a")).to_have_count(0)
    page.get_by_role("button", name="View page").last.click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator("mark")).to_contain_text("The queen of the hive lays")
    expect(dialog.locator(".original")).to_have_count(0)


def test_a_replayed_lecture_is_cited_shared_and_ended(web: WebApp, tmp_path: Path) -> None:
    add_book(web, tmp_path / "book")
    with web.opened("/live", viewport={"width": 360, "height": 800}) as visit:
        page = visit.page
        page.on("dialog", lambda each: each.accept())
        claim_a_language_model(page, web.url)
        page.get_by_label("Title").fill("Bees in winter")
        expect(page.get_by_label("bees")).not_to_be_checked()
        expect(page.get_by_label("default")).to_be_checked()
        page.get_by_label("bees").check()
        page.get_by_label("default").uncheck()
        page.get_by_role("button", name="Start a session").click()
        expect(page.locator("live-panel")).to_contain_text("Citations appear here")
        attach_the_book_alone(page)
        switch_on_a_microphone_that_is_not_there(page)
        page.get_by_role("button", name="Share").click()
        shared = page.locator(".token").inner_text()
        expect(page.locator("share-note")).to_contain_text("until a key is made")
        replay_without_connection(page, write_captions(tmp_path / "bees.vtt"))
        mark = page.locator(".transcript .number").first
        expect(mark).to_have_accessible_name("Citation 1: The bee book, The bee book ▸ Queens")
        expect(page.locator(".live-cards .window h3").last).to_have_text("Window 1 · 0:00")

        # The reader scrolls up: new words come, the transcript stays.
        box = page.locator(".transcript")
        expect(box).to_contain_text("Nectar is thickened")
        mark.focus()
        expect(page.get_by_role("button", name="Jump to the newest words")).to_be_visible()
        expect(box).to_contain_text("Hives must be registered")
        assert box.evaluate("(box) => box.scrollHeight - box.scrollTop - box.clientHeight") > 100

        mark.hover()
        expect(page.locator(".tip")).to_have_text("The bee book, The bee book ▸ Queens")
        mark.click()
        card = page.locator(".live-cards .card.pulse")
        expect(card).to_contain_text("The queen of the hive lays")
        expect(card).to_be_focused()
        card.get_by_role("button", name="View page").click()
        dialog = page.get_by_role("dialog")
        expect(dialog.locator("mark")).to_contain_text("The queen of the hive lays")
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
        page.get_by_label("Filter the citations").fill("EGGS lays")
        expect(page.locator(".live-cards .card")).to_have_count(1)
        if AXE.exists():
            assert axe_violations(page) == []
        ask_for_captions_without_a_model(page)

        address = shared.removeprefix(web.url).replace("#", "?view=presenter#")
        with web.opened(address) as other:
            audience = other.page
            follow_as_an_audience(audience)
            page.get_by_role("button", name="End").click()
            expect(audience.locator(".live-head .badge")).to_have_text("ended")
        expect(page.locator("live-replay")).to_have_count(0)
        page.get_by_text("Keep as a talk").first.click()
        page.get_by_role("button", name="Keep as a talk").click()
        talk = page.get_by_role("link", name="Open the talk")
        talk.wait_for(timeout=30_000)
        page.get_by_text("Export").click()
        with page.expect_download() as download:
            page.get_by_role("link", name="Captions (WebVTT)").click()
        assert re.search(r"\[\d+\] The bee book", download.value.path().read_text("utf-8"))
        talk.click()
        expect(page.locator(".reading")).to_contain_text("Hives must be registered")


def test_a_lecture_that_goes_on_is_asked(web: WebApp) -> None:
    """The answer stands on the page of the lecture; its proof opens in another tab."""
    with httpx.Client(base_url=web.url) as client:
        session = client.post("/v1/sessions", json={"title": "Bees"}).json()["session_id"]
        said = [
            {"segment_id": f"s{at}", "start": 8 * at, "end": 8 * at + 8, "text": f"{text}."}
            for at, text in enumerate(TOPICS.values())
        ]
        segments = f"/v1/sessions/{session}/segments"
        assert client.post(segments, json={"segments": said[:5]}).status_code == 202
        with web.opened(f"/live/{session}") as visit:
            page = visit.page
            page.on("dialog", lambda each: each.accept())
            page.get_by_label("Ask about what was said so far").fill("Who wrote the timetable?")
            ask = page.locator("live-question button", has_text="Ask")
            ask.click()
            cards = page.locator("live-question evidence-card")
            expect(cards.first).to_be_visible(timeout=30_000)
            page.get_by_label("Ask about what was said so far").fill("What do varroa mites carry?")
            ask.click()
            answer = page.locator("live-question .answer")
            expect(answer).to_contain_text("carry a virus that deforms", timeout=30_000)
            expect(cards).to_have_count(0)
            with page.expect_popup() as opened:
                answer.locator(".sentence", has_text="carry a virus").click()
            proof = opened.value
            expect(proof.locator(".proof mark").first).to_contain_text("carry a virus")
            proof.close()
            page.get_by_role("button", name="Close").click()
            expect(page.locator(".live-answer")).to_have_count(0)
            assert client.post(segments, json={"segments": said}).status_code == 202
            page.get_by_role("button", name="End").click()
            page.get_by_role("link", name="Open the talk").click()
            expect(page.locator(".reading")).to_contain_text(said[-1]["text"])
