"""Journeys through the web app in Chromium: ask, open the proof, and what can go wrong."""

from __future__ import annotations

import json
import re
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, Route, expect

import quoth
from quoth.core.translations import translate
from tests.support.payloads import ACTIVE, CANARY
from tests.support.web_app import NEEDS_CHROMIUM, WebApp

pytestmark = NEEDS_CHROMIUM

HONEY = "What is honey made from?"
LIGHT = "What did the lighthouse keeper write?"
NARROW = {"width": 360, "height": 740}
DANGERS = """() => ({ ran: window.ran ?? null, bad: document.querySelectorAll(
  'main :is(script, img:not([src^="/v1/documents/"]), iframe, object, embed, base), ' +
  'main :is(meta, link, style, form[action]), ' +
  'main :is([onerror], [onload], [onclick], [onfocus], [href^="javascript"])'
).length })"""
PAYLOADS = ACTIVE[:: len(ACTIVE) // 24]


def stored_id(page: Page) -> str:
    found = re.search(r"/q/(q_\w+)", page.url)
    assert found is not None
    return found[1]


def test_a_question_is_answered_with_proof_beside_it(web: WebApp) -> None:
    with web.opened() as visit:
        page = visit.page
        failed: list[str] = []
        page.on("response", lambda each: failed.append(each.url) if each.status >= 400 else None)
        expect(page.locator("#question")).to_be_focused()
        visit.ask(HONEY)
        width = page.evaluate("document.querySelector('.top').getBoundingClientRect().width")
        assert width == page.evaluate("innerWidth"), "the line of the header ends early"
        expect(page.locator(".status")).to_contain_text("word for word")
        expect(page.locator(".sentence.telling")).to_have_count(1)
        expect(page.locator(".card:not(.found) mark")).to_have_count(1)
        sentence = page.locator(".sentence", has_text="nectar").first
        sentence.hover()
        mark = page.locator(".card.lit mark")
        expect(mark).to_contain_text("nectar")
        assert mark.inner_text() in sentence.inner_text()
        expect(page.locator(".sentence.lit")).to_have_count(1)
        page.locator(".card").first.hover()
        lit = page.locator(".sentence.lit button")
        expect(lit.first).to_be_visible()
        assert set(lit.all_inner_texts()) == {"1"}

        marker = sentence.locator("button.number").first
        marker.focus()
        page.keyboard.press("Enter")
        expect(page.locator(".proof .reading mark").first).to_be_visible()
        said = " ".join(page.locator(".proof .reading mark").all_inner_texts())
        assert said in sentence.inner_text().replace("\n", " ")
        assert page.url.endswith("#s2")
        page.keyboard.press("Escape")
        expect(page.locator(".proof")).to_have_count(0)
        expect(marker).to_be_focused()
        markers = page.locator(".answer button.number:not(.hidden)")
        assert 0 < markers.count() < page.locator(".sentence").count(), "one for each run"
        page.evaluate("document.activeElement.blur()")
        markers.first.click()
        expect(page.locator(".proof .reading mark").first).to_be_visible()
        assert page.url.endswith(f"#{page.locator('.sentence.telling').get_attribute('id')}")
        page.keyboard.press("Escape")
        sentence.click()
        expect(page.locator(".proof .reading mark").first).to_be_visible()
        assert page.url.endswith("#s2")
        assert failed == [], "a talk without a recording was asked for it"


def test_an_address_shows_the_stored_answer_and_its_proof(web: WebApp) -> None:
    with web.opened() as visit:
        visit.ask(HONEY)
        query_id = stored_id(visit.page)
        visit.page.locator("button.number:not(.hidden)").first.click()
        visit.page.locator(".proof .reading mark").first.wait_for()
        visit.page.go_back()
        expect(visit.page.locator(".proof")).to_have_count(0)
        visit.page.go_forward()
        expect(visit.page.locator(".proof")).to_have_count(1)
    with web.opened(f"/q/{query_id}#s1") as visit:
        expect(visit.page.locator(".asking h1")).to_have_text(HONEY)
        expect(visit.page.locator("#question")).to_have_value("")
        expect(visit.page.locator(".status")).to_contain_text("stored answer")
        expect(visit.page.locator(".proof .reading mark").first).to_be_visible()


@pytest.mark.parametrize("language", ["en", "fr"])
def test_a_doubtful_answer_says_so_in_place_of_its_proofs(web: WebApp, language: str) -> None:
    """The stored answer is changed on its way: the fixture's embedder is never in doubt."""
    doubt = translate("answering.uncertain", language)

    def doubted(route: Route) -> None:
        stored = route.fetch()
        record = stored.json()
        record["answer"]["warnings"] = [doubt, "Another note."]
        route.fulfill(response=stored, json=record)

    with web.opened(locale=language) as visit:
        visit.ask(HONEY)
        query_id = stored_id(visit.page)
        visit.page.route("**/v1/queries/q_*", doubted)
        visit.page.goto(f"{web.url}/q/{query_id}")
        expect(visit.page.locator(".status.doubt")).to_contain_text(doubt)
        expect(visit.page.locator(".status")).not_to_contain_text("✓")
        expect(visit.page.locator(".notes li")).to_have_text(["Another note."])


def test_each_citation_is_read_in_its_own_document(web: WebApp) -> None:
    with web.opened() as visit:
        page = visit.page
        visit.ask("How does a colony live through winter and when does it swarm?")
        answer = page.request.get(f"{web.url}/v1/queries/{stored_id(page)}").json()["answer"]
        items = [*answer["citations"], *answer["closest"]]
        titles = [each.get("document_name") or each["document"] for each in items]
        assert len(set(titles)) > 1
        page.locator("button.number:not(.hidden)").first.click()
        for each, title in zip(items, titles, strict=True):
            expect(page.locator(".proof h2")).to_have_text(title)
            told = " ".join((each.get("snippet") or each["text"]).split())[:30]
            expect(page.locator(".proof .reading")).to_contain_text(told)
            if each is not items[-1]:
                page.keyboard.press("ArrowRight")


def test_the_keyboard_walks_through_the_citations(web: WebApp) -> None:
    with web.opened() as visit:
        page = visit.page
        visit.ask("How does a colony live through winter and when does it swarm?")
        page.keyboard.press("Escape")
        expect(page.locator("#question")).not_to_be_focused()
        page.keyboard.press("?")
        expect(page.locator("dialog.help")).to_contain_text("Leave the question box")
        page.keyboard.press("Escape")
        expect(page.locator("dialog.help")).to_be_hidden()
        page.keyboard.press("/")
        expect(page.locator("#question")).to_be_focused()
        expect(page.locator("#question")).to_have_value("")
        page.locator("button.number").first.focus()
        page.keyboard.press("Enter")
        page.locator(".proof .reading").wait_for()
        before = page.locator(".proof .bar .soft").inner_text()
        page.keyboard.press("ArrowRight")
        expect(page.locator(".proof .bar .soft")).not_to_have_text(before)
        page.keyboard.press("Escape")
        page.keyboard.press("?")
        expect(page.locator("dialog.help")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.locator("dialog.help")).to_be_hidden()
        page.locator("main").focus()
        page.keyboard.press("/")
        expect(page.locator("#question")).to_be_focused()


def test_on_a_small_screen_the_proof_is_a_dialog(web: WebApp) -> None:
    with web.opened(viewport=NARROW, locale="fr-FR") as visit:
        page = visit.page
        expect(page.locator("h1")).to_have_text("Interrogez vos documents")
        visit.ask(HONEY)
        expect(page.locator(".status")).to_contain_text("mot pour mot")
        page.locator("button.number:not(.hidden)").first.click()
        page.locator(".proof .reading mark").first.wait_for()
        assert page.evaluate("document.querySelector('.proof').matches(':modal')")
        wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, "the page scrolls sideways"
        page.keyboard.press("Escape")
        expect(page.locator(".proof")).to_have_count(0)


def test_a_pdf_shows_its_page_with_the_words_marked(web: WebApp) -> None:
    with web.opened() as visit:
        page = visit.page
        documents = page.request.get(f"{web.url}/v1/documents").json()["documents"]
        pdf = next(each for each in documents if each["kind"] == "pdf")
        reading = page.request.get(f"{web.url}/v1/documents/{pdf['document_id']}/reading").json()
        block = reading["blocks"][0]
        page.goto(f"{web.url}/d/{pdf['document_id']}?start={block['start']}&end={block['end']}")
        expect(page.locator("h1")).to_have_text(pdf["title"])
        expect(page.locator(".page-image rect").first).to_be_visible()
        expect(page.locator(".reading mark").first).to_be_visible()


def test_a_link_opens_the_quoted_one_of_two_equal_sentences(web: WebApp, tmp_path: Path) -> None:
    parts = (f"<h2>{name} boats</h2><p>The fee is 40 crowns.</p>" for name in ("Rowing", "Sailing"))
    space = "<div style='height: 3000px'></div>"
    page = tmp_path / "fees.html"
    page.write_text(f"<h1>Fees</h1>{space.join(parts)}{space}", encoding="utf-8")
    with quoth.open(tmp_path / "home") as library:
        library.add(page)
        for section, top in (("Rowing boats", 0), ("Sailing boats", 2000)):
            cited = library.ask(f'What does the section "{section}" say?').citations[0]
            with closing(web.browser.new_page()) as tab:
                tab.goto(cited.link or "")
                tab.wait_for_timeout(300)
                assert tab.evaluate("scrollY") >= top, cited.link
                assert bool(top) or tab.evaluate("scrollY") < 2000


def test_passages_that_are_not_quoted_open_too(web: WebApp) -> None:
    with web.opened() as visit:
        page = visit.page
        visit.ask(HONEY)
        found = page.locator("details.also .card")
        expect(found.first).to_be_hidden()
        page.locator("details.also summary", has_text="Also found").click()
        expect(found).to_have_count(3)
        expect(found.locator("mark")).to_have_count(3)
        likeliest = found.first.locator("mark").inner_text()
        found.first.locator("button.title").click()
        expect(page.locator(".proof .reading mark").first).to_be_visible()
        assert page.url.endswith("#p1")
        assert page.locator(".proof .reading mark").first.inner_text() in likeliest
        page.reload()
        expect(page.locator(".proof .reading mark").first).to_be_visible()


def test_one_sentence_of_a_long_citation_is_marked(web: WebApp) -> None:
    """A citation of more than 1,000 characters has the beginning of its text as its snippet."""

    def shorten(route: Route) -> None:
        stored = route.fetch().json()
        for each in stored["answer"]["citations"]:
            each["snippet"] = each["snippet"][:10]
            each["link"] = f"/v1/documents/{each['document_id']}/original"
        stored["changed"] = [{"number": each, "change": "removed"} for each in gone]
        route.fulfill(json=stored)

    gone: list[int] = []

    with web.opened() as visit:
        page = visit.page
        visit.ask(HONEY)
        page.route("**/v1/queries/q_*", shorten)
        page.goto(f"{page.url}#s2")
        page.reload()
        sentence = page.locator("#s2")
        expect(sentence).to_contain_text("nectar")
        expect(page.locator(".proof .reading mark").first).to_be_visible()
        said = " ".join(page.locator(".proof .reading mark").all_inner_texts())
        assert said in sentence.inner_text().replace("\n", " ")

        # A talk without an address leads to its text, one that is gone to nothing.
        page.keyboard.press("Escape")
        link = page.locator(".card").first.locator(".original")
        expect(link).to_have_text("Show it in the text")
        gone.append(1)
        page.reload()
        expect(page.locator(".card").first).to_contain_text("removed")
        expect(link).to_have_count(0)
        gone.clear()
        page.reload()
        link.click()
        expect(page.locator("document-page .reading mark").first).to_be_visible()


def test_without_its_file_a_pdf_shows_its_text_at_the_cited_words(web: WebApp) -> None:
    with web.opened(viewport={"width": 1280, "height": 260}) as visit:
        page = visit.page
        page.route("**/marks?*", lambda route: route.fulfill(status=404, json={}))
        visit.ask(LIGHT)
        page.locator("button.number:not(.hidden)").first.click()
        expect(page.locator(".proof .reading mark").first).to_be_in_viewport()
        expect(page.locator(".proof .page-image")).to_have_count(0)


def sse(*events: dict[str, Any]) -> str:
    return "".join(f"event: {each['event']}\ndata: {json.dumps(each)}\n\n" for each in events)


def test_a_stream_that_breaks_shows_the_stored_answer(web: WebApp) -> None:
    with web.opened() as visit:
        page = visit.page
        visit.ask(HONEY)
        query_id = stored_id(page)
        expect(page).to_have_title(f"{HONEY} – quoth")
        page.locator("button", has_text="New conversation").click()
        expect(page).to_have_title("quoth")

        def broken(route: Route) -> None:
            first = {"event": "status", "stage": "retrieve", "query_id": query_id}
            token = {"event": "token", "text": "Honey is"}
            route.fulfill(content_type="text/event-stream", body=sse(first, token))

        page.route("**/v1/query", broken)
        visit.ask(HONEY)
        expect(page.locator(".status")).to_contain_text("stored answer")
        query_id = "q_000000000000"
        page.locator("button", has_text="New conversation").click()
        page.locator("#question").fill(HONEY)
        page.keyboard.press("Enter")
        expect(page.locator(".status")).to_contain_text("The connection broke")


def test_an_error_is_told_in_words_and_asking_can_be_stopped(web: WebApp) -> None:
    with web.opened() as visit:
        page = visit.page
        problem = {"code": "busy", "title": "Busy", "status": 503, "detail": "Too many questions."}
        page.route("**/v1/query", lambda route: route.fulfill(status=503, json=problem))
        page.locator("#question").fill(HONEY)
        page.keyboard.press("Enter")
        expect(page.locator(".status.problem")).to_have_text("Too many questions.")
        expect(page.locator(".asking h1")).to_have_text(HONEY)
        page.reload()
        expect(page.locator("#question")).to_have_value(HONEY)
        page.locator("#question").press("Enter")
        expect(page.locator(".status.problem")).to_have_text("Too many questions.")
        page.unroute("**/v1/query")
        page.route("**/v1/query", lambda _route: None)  # never answered
        page.locator("button", has_text="Ask again").click()
        page.locator("button", has_text="Stop").click()
        expect(page.locator(".status")).to_contain_text("Stopped")
        page.goto(web.url)
        page.locator("#question").fill(LIGHT)
        with page.expect_event("requestfailed", lambda each: each.url.endswith("/query")):
            page.keyboard.press("Enter")
            expect(page.locator(".status")).to_contain_text("Searching")
            page.go_back()
        expect(page.locator("h1")).to_have_text("Ask your documents")
        expect(page.locator("#question")).to_have_value("")
        expect(page).to_have_title("quoth")


def test_inferred_filters_can_be_taken_away(web: WebApp) -> None:
    asked: list[dict[str, Any]] = []
    with web.opened() as visit:
        page = visit.page
        page.on(
            "request",
            lambda each: asked.append(each.post_data_json) if each.url.endswith("/query") else None,
        )
        visit.ask("What is said on page 1?")
        page.locator(".chips .chip").first.click()
        page.locator(".answer[aria-busy=false] p").first.wait_for()
        expect(page.locator(".chips .chip")).to_have_count(0)
    assert asked[-1]["filters"] == {"page": "any"}


def hostile_answer(text: str) -> dict[str, Any]:
    """An answer with a text in every place that people read, and as the link."""
    citation = {
        "id": "c",
        "number": 1,
        "document_id": "d",
        "document_name": text,
        "chunk_id": "k",
        "section_heading": text,
        "locator": {"kind": "seconds", "start": 1, "end": 2, "speaker": text, "section": text},
        "snippet": text,
        "snippet_start": 0,
        "snippet_end": len(text),
        "link": f"javascript:{text}",
        "support": "supported",
        "marked": [0, 5],
    }
    whole = f"{text} [1]"
    sentences = [{"start": 0, "end": len(text), "citations": [1], "support": "partly"}]
    filters = [{"field": "speaker", "operator": "in", "values": [text]}]
    return {
        "query_id": "q_1",
        "query": {"filters": filters, "notes": [text]},
        "text": whole,
        "sentences": sentences,
        "citations": [citation],
        "closest": [],
        "status": "answered",
        "warnings": [text],
        "degraded": [text],
        "rejected": [{"text": text, "reasons": [text]}],
    }


def test_hostile_texts_are_shown_as_text_everywhere(web: WebApp) -> None:
    with web.opened() as visit:
        page = visit.page
        current = {"text": ""}

        def answered(route: Route) -> None:
            answer = hostile_answer(current["text"])
            events = [
                {"event": "status", "stage": "retrieve", "query_id": "q_1"},
                {"event": "token", "text": current["text"]},
                {"event": "citation", "citation": answer["citations"][0]},
                {"event": "done", "answer": answer},
            ]
            route.fulfill(content_type="text/event-stream", body=sse(*events))

        def reading(route: Route) -> None:
            text = current["text"]
            locator = {"kind": "seconds", "start": 1, "end": 2}
            block = {"start": 0, "end": len(text), "text": text, "section": [text]}
            shown = {**block, "locator": locator, "label": text, "link": f"javascript:{text}"}
            body = {"document_id": "d", "title": text, "kind": "transcript", "language": text}
            span = {"start": 0, "end": 3}
            part = {"start": 0, "end": len(text), "total_chars": len(text), "span": span}
            route.fulfill(json={**body, **part, "blocks": [shown]})

        page.route("**/v1/query", answered)
        page.route("**/v1/documents/d/reading*", reading)
        page.route(
            "**/v1/suggestions*", lambda r: r.fulfill(json={"suggestions": [current["text"]]})
        )
        for text in PAYLOADS:
            current["text"] = text
            visit.ask(HONEY)
            expect(page.locator(".card blockquote")).to_have_text(text)
            page.locator("button.number:not(.hidden)").first.click()
            page.locator(".reading .block").wait_for()
            found = page.evaluate(DANGERS)
            assert found == {"ran": None, "bad": 0}, text
            page.keyboard.press("Escape")
            page.locator("button", has_text="New conversation").click()
        assert CANARY not in " ".join(visit.elsewhere)
    assert len(PAYLOADS) >= 20


@pytest.mark.parametrize("viewport", [NARROW, {"width": 1600, "height": 900}])
def test_nothing_moves_while_an_answer_comes(web: WebApp, viewport: Any) -> None:
    watch = """() => { window.shift = 0; new PerformanceObserver((list) => {
      for (const each of list.getEntries()) if (!each.hadRecentInput) window.shift += each.value;
    }).observe({ type: 'layout-shift', buffered: true }); }"""
    with web.opened(viewport=viewport) as visit:
        page = visit.page
        page.evaluate(watch)

        def late(route: Route) -> None:
            page.wait_for_timeout(700)  # what moves right after a key is expected, and not counted
            route.continue_()

        page.route("**/v1/query", late)
        visit.ask(HONEY)
        page.wait_for_timeout(200)
        assert page.evaluate("window.shift") <= 0.05


def test_all_collections_are_asked_at_once(web: WebApp) -> None:
    tide = b"# Tides\n\nThe spring tide at Port Quillan rises eleven metres.\n"
    with httpx.Client(base_url=web.url) as client, web.opened() as visit:
        page = visit.page
        query = {"name": "tides.md", "collection": "tides"}
        upload = client.post("/v1/uploads", params=query, content=tide).json()
        assert '"ready"' in client.get(f"/v1/uploads/{upload['id']}/events").text
        page.reload()
        page.locator(".choices > summary").click()
        page.get_by_label("Collection").select_option("All collections")
        visit.ask("How many metres does the spring tide at Port Quillan rise?")
        expect(page.locator(".answer")).to_contain_text("eleven metres")
        page.reload()
        expect(page.locator(".choices > summary")).to_contain_text("All collections")
        page.get_by_role("link", name="Why this answer?").click()
        expect(page.locator("main")).to_contain_text("tides")
        assert client.delete("/v1/collections/tides").is_success
