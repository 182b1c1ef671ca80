"""The journeys of the web app in both languages, and no word of the other language on the way."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.interfaces.web.test_live_view import add_book, write_captions
from tests.support.web_app import NEEDS_CHROMIUM, Visit, WebApp, open_web_app

pytestmark = [pytest.mark.soak, NEEDS_CHROMIUM]

LOCALES = Path(__file__).parents[2] / "src" / "quoth" / "interfaces" / "web" / "static" / "locales"
QUESTIONS = {"en": "What is honey made from?", "fr": "Quel goût a le miel de châtaignier ?"}
MIN_LETTERS = 12
"""Letters of a message that is looked for: short ones may be words of both languages."""


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebApp]:
    with open_web_app(tmp_path_factory.mktemp("languages")) as app:
        add_book(app, app.sources.parent / "book")
        yield app


class Journey:
    """A visit in one language, whose labels are those of its catalogue of messages."""

    def __init__(self, visit: Visit, language: str) -> None:
        catalogues = {
            each: json.loads((LOCALES / f"{each}.json").read_text(encoding="utf-8"))
            for each in ("en", "fr")
        }
        self.visit, self.page = visit, visit.page
        self.own = catalogues.pop(language)
        ((_name, other),) = catalogues.items()
        self.foreign = {
            said
            for key, said in other.items()
            if "{" not in said
            and sum(char.isalpha() for char in said) >= MIN_LETTERS
            and said not in self.own.values()
        }

    def button(self, key: str) -> Locator:
        """The first button, link or fold of this message."""
        fitting = self.page.locator("button, a, summary").filter(has_text=self.own[key])
        return fitting.first

    def look(self, *, streams: bool = False) -> None:
        """Fail where a message of the other language is on the page, which may hold a stream."""
        self.page.wait_for_load_state("load" if streams else "networkidle")
        shown = self.page.locator("body").inner_text()
        left = {each for each in self.foreign if re.search(rf"\b{re.escape(each)}", shown)}
        assert left == set(), self.page.url


@pytest.mark.parametrize("language", ["en", "fr"])
def test_every_journey_is_made_in_one_language(web: WebApp, language: str, tmp_path: Path) -> None:
    # Not the file of the other language: that one was deleted and brought back.
    good, bad = tmp_path / f"drones-{language}.md", tmp_path / "bad.pdf"
    good.write_text(f"# {good.name}\n\nDrones are male bees and do not work.\n", encoding="utf-8")
    bad.write_bytes(b"%PDF-1.4 this is none")
    locale = {"en": "en-US", "fr": "fr-FR"}[language]
    allowed = ["clipboard-read", "clipboard-write"]
    with web.opened(locale=locale, permissions=allowed) as visit:
        way = Journey(visit, language)
        visit.page.on("dialog", lambda each: each.accept("Zebra"))
        way.look()
        ask_and_prove(way, QUESTIONS[language])
        explain_replay_and_compare(way)
        find_rename_and_delete(way, QUESTIONS[language])
        add_and_delete(way, good, bad)
        follow_live(way, write_captions(tmp_path / "bees.vtt"))
        way.button("nav.settings").click()
        expect(visit.page.locator("h1")).to_have_text(way.own["settings.title"])
        way.look()


def arrive(way: Journey) -> None:
    """See the page of an empty library, that of a service with keys, and that of this library."""
    page, collections = way.page, "**/v1/collections"
    page.route(collections, lambda route: route.fulfill(json={"collections": []}))
    page.reload()
    expect(page.locator(".first-run h2")).to_have_text(way.own["first.title"])
    way.look()
    page.unroute(collections)
    page.route(collections, lambda route: route.fulfill(status=401, json={"detail": "."}))
    page.reload()
    expect(page.locator("h1")).to_have_text(way.own["signin.title"])
    way.look()
    page.unroute(collections)
    page.reload()
    expect(page.locator(".follow-ups h2")).to_have_text(way.own["ask.openings"])
    way.look()


def ask_and_prove(way: Journey, question: str) -> None:
    page = way.page
    way.visit.ask(question)
    way.look()
    page.locator(".sentence button.number:not(.hidden)").first.click()
    expect(page.locator(".proof .reading mark").first).to_be_visible()
    way.look()
    page.get_by_role("button", name=way.own["proof.close"]).click()
    expect(page.locator(".proof")).to_have_count(0)
    way.button("answer.share").click()
    expect(page.locator("export-menu")).to_contain_text(way.own["answer.linkCopied"])
    way.button("answer.export").click()
    way.look()


def explain_replay_and_compare(way: Journey) -> None:
    page = way.page
    way.button("answer.explain").click()
    expect(page.locator("h1")).to_have_text(way.own["explain.title"])
    page.locator("input[name=words]").fill("old queen leaves with half of the workers")
    way.button("explain.ask").click()
    expect(page.locator("explain-page .list li").first).to_be_visible()
    way.button("replay.run").click()
    expect(page.locator("replay-view .status")).to_have_text(way.own["replay.same"])
    way.look()
    way.button("explain.compare").click()
    way.button("compare.ask").click()
    expect(page.locator(".side .answer[aria-busy=false]")).to_have_count(2)
    way.look()


def find_rename_and_delete(way: Journey, question: str) -> None:
    page = way.page
    way.button("nav.history").click()
    page.locator("input[type=search]").fill(question)
    expect(page.locator(".list li")).to_have_count(3)  # asked once and compared
    row = page.locator(".list li").first
    way.look()
    row.get_by_role("button", name=way.own["rename"]).click()
    expect(page.locator(".list li a", has_text="Zebra")).to_be_visible()
    page.locator("input[type=search]").fill("zebra")
    expect(page.locator(".list li")).to_have_count(1)
    page.locator(".list li").get_by_role("button", name=way.own["delete"]).click()
    expect(page.locator(".list li")).to_have_count(0)
    way.look()


def add_and_delete(way: Journey, good: Path, bad: Path) -> None:
    page = way.page
    way.button("nav.library").click()
    page.locator("input[type=file]").first.set_input_files([good, bad])
    uploads = page.locator("upload-area .list li")
    ready, failed = way.own["state.ready"], way.own["state.failed"]
    expect(uploads.filter(has_text=good.name)).to_contain_text(ready, timeout=30_000)
    expect(uploads.filter(has_text="bad")).to_contain_text(failed, timeout=30_000)
    way.look()
    row = page.locator("tr", has_text=good.name)
    row.get_by_role("button", name=re.compile(re.escape(way.own["delete"]))).click()
    expect(row).to_have_count(0)
    way.look()
    way.button("undo").click()
    expect(row).to_have_count(1)


def follow_live(way: Journey, captions: Path) -> None:
    page = way.page
    way.button("nav.live").click()
    way.look()
    page.locator("input[name=title]").fill("Winter")
    page.locator("input[value=bees]").check()
    page.locator("input[value=default]").uncheck()
    way.button("live.start").click()
    page.get_by_label(way.own["live.speed"]).select_option("20")
    page.locator("live-replay input[type=file]").set_input_files(captions)
    expect(page.locator(".live-cards .card").first).to_be_visible(timeout=60_000)
    way.look(streams=True)
    way.button("live.end").click()
    expect(page.locator(".badge").first).to_have_text(way.own["live.ended"])
    way.look(streams=True)
