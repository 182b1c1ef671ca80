"""What can be done with an answer: compare, replay, share, export; keys."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Route, expect

from tests.interfaces.web.test_asking import HONEY, hostile_answer, sse
from tests.support.web_app import NEEDS_CHROMIUM, WebApp

pytestmark = NEEDS_CHROMIUM


def test_an_answer_is_shared_exported_replayed_and_compared(web: WebApp) -> None:
    with web.opened(permissions=["clipboard-read", "clipboard-write"]) as visit:
        page = visit.page
        visit.ask(HONEY)
        page.locator("button", has_text="Copy link").click()
        copied = page.evaluate("navigator.clipboard.readText()")
        assert re.fullmatch(rf"{re.escape(web.url)}/q/q_\w+", copied)
        page.locator("button", has_text="Copy with links").click()
        expect(page.locator("export-menu [role=status]")).to_have_text("Copied")
        text = page.evaluate("navigator.clipboard.readText()")
        assert HONEY in text
        assert copied in text
        export = page.locator("export-menu summary")
        page.set_viewport_size({"width": 1300, "height": 560})
        for close in (lambda: page.keyboard.press("Escape"), page.locator(".answer").click):
            export.click()
            expect(page.locator(".menu > .panel")).to_be_in_viewport(ratio=1)
            close()
            expect(page.locator(".menu > .panel")).to_be_hidden()
        export.click()
        with page.expect_download() as saved:
            page.locator("a", has_text="Markdown").click()
        assert saved.value.suggested_filename.endswith(".md")

        good = page.get_by_role("button", name="Helpful", exact=True)
        bad = page.get_by_role("button", name="Not helpful")
        for rated, other in ((good, bad), (bad, good)):
            with page.expect_response("**/v1/feedback") as stored:
                rated.click()
            assert stored.value.status == 204
            expect(rated).to_have_attribute("aria-pressed", "true")
            expect(other).to_have_attribute("aria-pressed", "false")
        page.reload()
        expect(bad).to_have_attribute("aria-pressed", "true")

        page.locator("a", has_text="Why this answer").click()
        page.locator("button", has_text="Ask again and compare").click()
        expect(page.locator("replay-view .status")).to_have_text(
            "The same answer from the same passages."
        )
        page.locator("a", has_text="in two ways").click()
        expect(page.locator("input[name=question]")).to_have_value(HONEY)
        page.locator("button", has_text="Ask both").click()
        expect(page.locator(".side .answer[aria-busy=false]")).to_have_count(2)
        expect(page.locator(".side .list li").first).to_contain_text("cited on both sides")
        page.locator(".side").nth(1).locator("button.number:not(.hidden)").first.click()
        expect(page.locator(".proof .reading mark").first).to_be_visible()


def test_contradicting_sources_stand_side_by_side(web: WebApp) -> None:
    answer = hostile_answer("Bees have five eyes.")
    first = answer["citations"][0]
    second = {**first, "id": "e", "number": 2, "snippet": "Bees have four eyes."}
    found = {"first": 1, "second": 2, "about": "five / four"}
    answer |= {"citations": [first, second], "contradictions": [found]}

    def answered(route: Route) -> None:
        body = sse({"event": "done", "answer": answer})
        route.fulfill(content_type="text/event-stream", body=body)

    with web.opened() as visit:
        page = visit.page
        page.route("**/v1/query", answered)
        visit.ask("How many eyes has a bee?")
        expect(page.locator(".contradictions blockquote")).to_have_text(
            ["Bees have five eyes.", "Bees have four eyes."]
        )
        expect(page.locator(".contradictions")).to_contain_text("five / four")


def test_limits_of_an_answer_are_chosen_in_the_panel(web: WebApp) -> None:
    asked: list[dict[str, Any]] = []
    with web.opened() as visit:
        page = visit.page
        page.on(
            "request",
            lambda sent: asked.append(sent.post_data_json) if sent.url.endswith("/query") else None,
        )
        page.locator(".choices summary").click()
        page.locator(".choices label", has_text="Search").locator("select").select_option("keyword")
        page.locator(".choices label", has_text="Time").locator("select").select_option("15")
        page.locator(".choices label", has_text="Profile").locator("select").select_option("book")
        expect(page.locator(".choices summary")).to_contain_text("book · words only · 15 s")
        visit.ask(HONEY)
        expect(page.locator(".choices .panel")).to_be_hidden()
        page.reload()
        expect(page.locator(".choices summary")).to_contain_text("book · words only · 15 s")
        page.locator("button", has_text="Ask again").click()
        page.locator(".answer[aria-busy=false] p").first.wait_for()
        # Also where the page is loaded again before the answer is complete.
        page.route("**/v1/query", lambda _route: None)
        page.locator("#question").fill("And wax?")
        page.keyboard.press("Enter")
        expect(page.locator("h1", has_text="And wax?")).to_be_visible()
        page.reload()
        expect(page.locator(".choices summary")).to_contain_text("book · words only · 15 s")
        page.locator("button", has_text="Ask again").click()
        expect(page.locator("h1", has_text="And wax?")).to_be_visible()
    assert len(asked) == 4
    for each in asked:
        assert (each["mode"], each["max_ms"], each["profile"]) == ("keyword", 15_000, "book")


def test_keys_and_the_audit_log_are_for_those_who_may_administer(web: WebApp) -> None:
    with web.opened("/settings") as visit:
        page = visit.page
        session = {"key_needed": True, "tenant": "t", "scopes": ["read"], "collection": None}
        page.route("**/v1/keys", lambda route: route.fulfill(json=[]))
        page.route("**/v1/session", lambda route: route.fulfill(json=session))
        page.reload()
        expect(page.locator("button", has_text="Sign out")).to_be_visible()
        expect(page.locator("keys-panel, audit-panel")).to_have_count(0)
        page.unroute("**/v1/session")

        def shares(route: Route) -> None:
            posted = route.request.method == "POST"
            share = {"share": {}, "token": "qsh_shown_once"}
            route.fulfill(status=201 if posted else 200, json=share if posted else [])

        page.reload()
        expect(page.locator("audit-panel tbody tr").first).to_be_visible()
        page.route("**/v1/shares", shares)
        page.get_by_label("Collection").select_option("default")
        page.get_by_role("button", name="Share it").click()
        expect(page.locator(".token")).to_have_text(f"{web.url}/#share=qsh_shown_once")
        expect(page.locator("h2:has(~ div .token)").last).to_have_text("Shares of a collection")


def test_a_long_question_shows_its_first_lines(web: WebApp) -> None:
    with web.opened() as visit:
        page = visit.page
        heading = page.locator(".asking h1")
        toggle = page.locator("question-heading button")
        visit.ask(HONEY)
        expect(toggle).to_have_count(0)
        page.locator("button", has_text="New conversation").click()
        question = f"{HONEY} {'And what else is there to know of it? ' * 19}".strip()
        visit.ask(question)
        expect(heading).to_have_text(question)
        lines = "(each) => each.clientHeight / parseFloat(getComputedStyle(each).lineHeight)"
        assert round(heading.evaluate(lines)) == 4
        toggle.click()
        assert heading.evaluate(lines) > 5
        expect(toggle).to_have_attribute("aria-expanded", "true")
        toggle.click()
        assert round(heading.evaluate(lines)) == 4
