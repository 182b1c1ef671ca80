"""A conversation in the web app: its turns on one page, the box below them, what is kept."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Page, Route, expect

from tests.interfaces.web.test_asking import HONEY, LIGHT, NARROW, hostile_answer, sse
from tests.support.web_app import NEEDS_CHROMIUM, WebApp

pytestmark = NEEDS_CHROMIUM

KEEP = "Where do bees keep honey?"
TOP = """() => new Promise((done) => {
  let frames = 0;
  const look = () => {
    const { top } = document.querySelector('current-turn h1').getBoundingClientRect();
    if ((top > 0 && top < 120) || ++frames > 200) done(top); else requestAnimationFrame(look);
  };
  look();
})"""
"""Where the question is, once it is at the top of the window or did not come there."""


def turns(page: Page, label: str) -> Any:
    """Return the questions before or after the one that is shown."""
    return page.get_by_role("region", name=label).locator("h2 a")


def test_the_turns_of_a_conversation_stay_on_the_page(web: WebApp) -> None:
    asked: list[dict[str, Any]] = []
    with web.opened() as visit:
        page = visit.page
        page.on("request", lambda each: asked.append(each.post_data_json or {}))
        earlier = turns(page, "Earlier in this conversation")
        later = turns(page, "Later in this conversation")
        heading = page.locator("current-turn h1")
        visit.ask(HONEY)
        expect(page.locator("other-turn")).to_have_count(0)
        expect(page.locator("#question")).to_have_attribute("placeholder", re.compile("follow-up"))
        visit.ask(KEEP)
        visit.ask(LIGHT)
        expect(earlier).to_have_text([HONEY, KEEP])
        expect(page.locator("other-turn").first).to_contain_text("nectar")
        chips = page.locator(".follow-ups .chip")
        expect(chips.first).to_be_visible()
        assert HONEY not in chips.all_inner_texts()
        page.reload()
        expect(page.locator(".status")).to_contain_text("stored answer")
        expect(heading).to_have_text(LIGHT)
        expect(earlier).to_have_text([HONEY, KEEP])

        # A number of an earlier turn opens it with its proof; the later turns stay.
        number = page.locator("other-turn").first.locator("button.number:not(.hidden)")
        number.first.click()
        expect(page.locator(".proof .reading mark").first).to_be_visible()
        expect(heading).to_have_text(HONEY)
        expect(later).to_have_text([KEEP, LIGHT])
        page.keyboard.press("Escape")
        later.first.click()
        expect(heading).to_have_text(KEEP)
        expect(heading).to_be_focused()
        expect(earlier).to_have_text([HONEY])
        page.reload()
        expect(later).to_have_text([LIGHT])
        page.go_back()
        expect(heading).to_have_text(HONEY)
        expect(later).to_have_text([KEEP, LIGHT])
        page.go_forward()
        expect(heading).to_have_text(KEEP)

        # Asked again, a question keeps its place; another one comes after the last.
        asked.clear()
        page.locator("button", has_text="Ask again").click()
        expect(page.locator(".status")).not_to_contain_text("stored answer")
        expect(page.locator(".actions")).to_be_visible()
        expect(later).to_have_text([LIGHT])
        visit.ask("ok thanks")
        expect(page.locator("current-turn .answer")).to_contain_text("You are welcome")
        expect(page.locator(".cards, .status")).to_have_count(0)
        expect(earlier).to_have_text([HONEY, KEEP, LIGHT])
        sent = [[turn["question"] for turn in each["history"]] for each in asked if "query" in each]
        assert sent == [[HONEY], [HONEY, KEEP, LIGHT]]

        page.locator("button", has_text="New conversation").click()
        expect(page.locator(".asking h1")).to_have_text("Ask your documents")
        expect(page.locator("other-turn")).to_have_count(0)
        expect(page.locator("#question")).to_be_focused()


def test_a_question_comes_to_the_top_and_its_answer_moves_nothing(web: WebApp) -> None:
    places: list[dict[str, Any]] = []

    def read_meanwhile(route: Route) -> None:
        """Look where the question is; then read an earlier turn, away from the box."""
        top = page.evaluate(TOP)
        boxes = {each: page.locator(each).bounding_box() for each in ("current-turn", ".dock")}
        places.append({"top": top, **boxes})
        page.keyboard.press("Escape")
        page.evaluate("scrollTo(0, 30)")
        route.continue_()

    with web.opened() as visit:
        page = visit.page
        for question in (HONEY, KEEP, LIGHT):
            visit.ask(question)
        expect(page.locator("#question")).to_be_focused()
        page.route("**/v1/query", read_meanwhile)
        visit.ask("How does a colony live through winter?")
        chip = page.locator("current-turn .follow-ups .chip").first
        expect(chip).to_be_attached()
        assert page.evaluate("scrollY") == 30
        expect(page.locator("#question")).not_to_be_focused()
        expect(page.locator("button", has_text="New conversation")).to_be_in_viewport(ratio=1)

        page.unroute("**/v1/query")
        page.route("**/v1/query", lambda _route: None)  # never answered
        chip.click()
        expect(page.locator("current-turn h1")).to_be_focused()
        assert 52 < page.evaluate(TOP) < 120
        page.reload()
        expect(page.locator(".status")).to_contain_text("Stopped")
        expect(page.locator("other-turn")).to_have_count(4)
    assert 52 < places[0]["top"] < 120, "below the header of the page"
    box = places[0][".dock"]
    assert box["y"] > places[0]["current-turn"]["y"]
    assert box["y"] + box["height"] <= 720, "the box stays in the window"


def test_a_marker_that_is_not_shown_takes_no_room(web: WebApp) -> None:
    with web.opened("/", viewport={"width": 360, "height": 800}) as visit:
        visit.ask("When does a colony swarm?")
        page = visit.page
        marker = page.locator("current-turn .number").first
        marker.evaluate("each => { each.className = 'number hidden'; }")
        # After a sentence that fills its line a wider one makes the page wider than the screen.
        assert marker.evaluate("each => [each.offsetWidth, each.offsetHeight]") == [1, 1]


def test_a_long_answer_is_folded_on_a_small_screen(web: WebApp) -> None:
    text = "Le miel vient du nectar des fleurs. " * 30

    def answered(route: Route) -> None:
        answer = hostile_answer(text.strip()) | {"query_id": f"q_{len(sent)}"}
        sent.append(answer)
        route.fulfill(
            content_type="text/event-stream", body=sse({"event": "done", "answer": answer})
        )

    sent: list[dict[str, Any]] = []
    with web.opened(viewport=NARROW, locale="fr-FR") as visit:
        page = visit.page
        page.route("**/v1/query", answered)
        visit.ask(HONEY)
        visit.ask(KEEP)
        answer = page.locator("other-turn .answer")
        toggle = page.locator("other-turn button", has_text="Afficher la suite")
        expect(toggle).to_have_attribute("aria-expanded", "false")
        assert len(answer.inner_text()) < 400
        toggle.click()
        expect(page.locator("other-turn button", has_text="Afficher moins")).to_be_visible()
        assert len(answer.inner_text()) > 1000
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        # At the end of the page the box is below all there is.
        page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
        last, box = (page.locator(each).bounding_box() for each in ("current-turn", ".dock"))
        assert last is not None
        assert box is not None
        assert box["y"] >= last["y"] + last["height"]
        assert box["height"] < 150


def test_what_is_written_from_right_to_left_is_shown_so(web: WebApp) -> None:
    with web.opened() as visit:
        page = visit.page
        direction = "each => getComputedStyle(each).direction"
        page.locator("#question").fill("أين يعيش النحل؟")
        assert page.locator("#question").evaluate(direction) == "rtl"
        visit.ask("أين يعيش النحل؟")
        assert page.locator("current-turn h1").evaluate(direction) == "rtl"
        said = page.locator("current-turn .answer p").first
        said.evaluate("each => { each.textContent = 'يعيش النحل في الخلية.' }")
        assert said.evaluate(direction) == "rtl"
        visit.ask("What do bees say by dancing?")
        assert page.locator("current-turn h1").evaluate(direction) == "ltr"
        assert page.locator("other-turn h2").first.evaluate(direction) == "rtl"
