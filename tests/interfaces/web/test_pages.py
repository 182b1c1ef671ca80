"""The other pages of the web app: history, library, explanation, settings, signing in."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.support.web_app import (
    NEEDS_CHROMIUM,
    PROGRAM,
    WebApp,
    environment,
    free_port,
    serving,
)

pytestmark = NEEDS_CHROMIUM

HONEY = "What is honey made from?"
AXE = Path(__file__).parents[3] / ".venv-web/node_modules/axe-core/axe.min.js"
AXE_SHA256 = "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c"
"""Of version 4.14.1; `make web-tools` brings it."""


def query_id(web: WebApp, question: str = HONEY) -> str:
    with web.opened() as visit:
        visit.ask(question)
        found = re.search(r"/q/(q_\w+)", visit.page.url)
        assert found is not None
        return found[1]


def test_a_question_is_found_in_the_history_opened_renamed_and_deleted(web: WebApp) -> None:
    with web.opened() as visit:
        page = visit.page
        page.on("dialog", lambda each: each.accept("One sting"))
        visit.ask("Which insect stings only once?")
        page.locator("nav a", has_text="History").click()
        rows = page.locator(".list li")
        expect(rows.first).to_contain_text("stings only once")
        page.locator("input[type=search]").fill("no such words")
        expect(rows).to_have_count(0)
        page.locator("input[type=search]").fill("STINGS once")
        expect(rows).to_have_count(1)
        rows.first.locator("a").click()
        expect(page.locator("h1")).to_have_text("Which insect stings only once?")
        page.go_back()
        rows.first.get_by_role("button", name="Rename").click()
        expect(rows.first.locator("a")).to_have_text("One sting")
        page.reload()
        page.locator("input[type=search]").fill("one sting insect")
        expect(rows.first.locator("a")).to_have_text("One sting")
        rows.first.get_by_role("button", name="Delete").click()
        expect(rows).to_have_count(0)


def test_a_page_that_cannot_be_loaded_says_so_and_is_loaded_again(web: WebApp) -> None:
    with web.opened() as visit:
        page = visit.page
        page.route("**/history-page.js", lambda route: route.abort())
        page.reload()
        page.locator("nav a", has_text="History").click()
        expect(page.locator("main .problem")).to_contain_text("could not be loaded")
        page.locator("nav a", has_text="Ask").click()
        expect(page.locator("#question")).to_be_visible()
        page.locator("nav a", has_text="History").click()
        page.unroute("**/history-page.js")
        page.get_by_role("button", name="Load it again").click()
        expect(page.locator("input[type=search]")).to_be_visible()


def test_files_are_added_with_their_errors_and_deleted(web: WebApp, tmp_path: Path) -> None:
    good, bad = tmp_path / "drones.md", tmp_path / "bad.pdf"
    good.write_text("# Drones\n\nDrones are male bees and do not work.\n", encoding="utf-8")
    bad.write_bytes(b"%PDF-1.4 this is none")
    with web.opened("/library") as visit:
        page = visit.page
        page.on("dialog", lambda each: each.accept())
        page.locator("input[type=file]").first.set_input_files([bad])
        listed = page.locator("tbody tr", has_text="bad.pdf")
        expect(listed).to_contain_text("failed", timeout=30_000)
        page.locator("input[type=file]").first.set_input_files([good])
        uploads = page.locator("upload-area .list li")
        expect(uploads.filter(has_text="drones")).to_contain_text("ready", timeout=30_000)
        expect(uploads.first).to_contain_text("failed", timeout=30_000)
        expect(uploads.first.locator(".problem").first).not_to_be_empty()
        row = page.locator("tr", has_text="Drones")
        row.locator("a").click()
        expect(page.locator(".reading")).to_contain_text("Drones are male bees")
        page.go_back()
        row.get_by_role("button", name="Delete").click()
        expect(row).to_have_count(0)
        page.keyboard.press("Enter")  # the button that undoes it has the focus
        expect(row).to_have_count(1)
        row.get_by_role("button", name="Delete").click()
        expect(row).to_have_count(0)
        # Leaving the page gives up the time to undo it.
        with page.expect_request_finished(lambda each: each.method == "DELETE"):
            page.locator("nav a", has_text="History").click()
        page.locator("nav a", has_text="Library").click()
        expect(page.locator("tbody tr").first).to_be_visible()
        expect(row).to_have_count(0)


def test_a_dropped_file_is_sent(web: WebApp) -> None:
    drop = """() => {
      const data = new DataTransfer();
      data.items.add(new File(['# Wasps\\n\\nWasps make paper.'], 'wasps.md'));
      document.querySelector('.drop').dispatchEvent(
        new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
    }"""
    with web.opened("/library") as visit:
        visit.page.evaluate(drop)
        row = visit.page.locator("upload-area .list li").first
        expect(row).to_contain_text("ready", timeout=30_000)


def test_an_answer_is_explained_and_a_missing_passage_too(web: WebApp) -> None:
    # Asked by no other test: an answer that is given again from the cache has no candidates.
    question = "What does a strong colony need to live until spring?"
    with web.opened(f"/q/{query_id(web, question)}/explain") as visit:
        page = visit.page
        expect(page.locator(".lead")).to_have_text(question)
        expect(page.locator(".table").first).to_contain_text("cited")
        page.locator("input[name=words]").fill("old queen leaves with half of the workers")
        page.keyboard.press("Enter")
        expect(page.locator(".list li").first).to_contain_text("queen")


def test_an_answer_from_the_cache_is_asked_again_as_it_was_asked(web: WebApp) -> None:
    body = {"query": HONEY, "mode": "keyword", "filters": {"kind": "transcript"}}
    for _ in range(2):
        known = httpx.post(f"{web.url}/v1/query", json=body).json()["query_id"]
    with (
        web.opened(f"/q/{known}/explain") as visit,
        visit.page.expect_request("**/v1/query") as sent,
    ):
        visit.page.locator("button", has_text="Ask it again").click()
    asked = sent.value.post_data_json
    assert {name: asked[name] for name in body} == body


def test_settings_tell_whether_the_service_is_well(web: WebApp) -> None:
    with web.opened("/settings") as visit:
        expect(visit.page.locator(".status.proved")).to_be_visible()
        expect(visit.page.locator(".facts").first).to_contain_text("Index")


def test_an_empty_library_says_what_to_do(web: WebApp) -> None:
    with web.opened("/settings") as visit:
        page = visit.page
        page.route("**/v1/collections", lambda route: route.fulfill(json={"collections": []}))
        page.locator("nav a", has_text="Ask").click()
        expect(page.locator(".first-run")).to_contain_text("Add documents")
        none = {"status": 409, "code": "conflict", "detail": "There are no documents yet."}
        page.route("**/v1/query", lambda route: route.fulfill(status=409, json=none))
        page.locator("#question").fill(HONEY)
        page.keyboard.press("Enter")
        page.locator("status-note a", has_text="Open the library").click()
        expect(page.locator("h1")).to_have_text("Library")
        page.locator("nav a", has_text="Ask").click()
        only = {"collections": [{"name": "garden", "documents": 2}]}
        page.route("**/v1/collections", lambda route: route.fulfill(json=only))
        page.reload()
        expect(page.locator(".choices summary")).to_contain_text("garden")


def make_first_key(page: Page, url: str) -> str:
    """Make the key that is needed from then on; the page goes on with it."""
    page.goto(f"{url}/settings")
    expect(page.locator("keys-panel")).to_contain_text("every visitor needs a key")
    expect(page.get_by_label("May")).to_have_value("admin")
    page.locator("input[name=label]").fill("Owner")
    page.keyboard.press("Enter")
    expect(page.locator("keys-panel .list li")).to_contain_text("Owner")
    expect(page.locator("keys-panel")).not_to_contain_text("every visitor needs a key")
    expect(page.locator("button", has_text="Sign out")).to_be_visible()
    return page.locator("keys-panel .token").inner_text()


def share_address(page: Page) -> str:
    """Share the collection; its address is shown once."""
    expect(page.locator("keys-panel select[name=collection] option").first).to_be_attached()
    page.get_by_role("button", name="Share it").click()
    address = page.locator("keys-panel .token", has_text="#share=")
    return address.inner_text()


def open_share(web: WebApp, address: str, url: str) -> None:
    """Who opens the address is signed in with it, and the address is gone."""
    with web.opened(address.removeprefix(url), locale="en-GB") as visit:
        visit.ask(HONEY)
        assert "share=" not in visit.page.url
        expect(visit.page.locator("nav a")).to_have_text(["Ask", "Library"])
        visit.page.reload()
        expect(visit.page.locator(".answer")).to_contain_text("honey")
        visit.page.locator("header button", has_text="Sign out").click()
        expect(visit.page.locator("sign-in")).to_be_visible()


def test_a_share_of_an_open_service_promises_nothing(web: WebApp) -> None:
    with web.opened("/settings") as visit:
        page = visit.page
        address = share_address(page)
        expect(page.locator("share-note")).to_contain_text("until a key is made")
        expect(page.locator("share-note")).to_contain_text("Only this machine can open")
        expect(page.locator("share-note")).not_to_contain_text("nothing else")
        expect(page.locator("nav a")).to_have_count(5)
        with web.opened(address.removeprefix(web.url), locale="en-GB") as other:
            expect(other.page.locator("nav a")).to_have_text(["Ask"])
            other.page.reload()
            expect(other.page.locator("#question")).to_be_visible()
            expect(other.page.locator("nav a")).to_have_text(["Ask"])


@pytest.mark.parametrize("by", ["settings-page button", "a refused request"])
def test_answers_of_a_shared_visit_end_with_it(web: WebApp, by: str) -> None:
    guest = {"key_needed": True, "tenant": "local", "scopes": ["read"], "collection": "default"}
    with web.opened("/settings", locale="en-GB") as visit:
        page = visit.page
        page.route("**/v1/session", lambda route: route.fulfill(json=guest))
        page.reload()
        page.evaluate("sessionStorage.setItem('quoth-answer-q_1', '{}')")
        sign_out = page.locator("settings-page button", has_text="Sign out")
        expect(sign_out).to_be_visible()
        page.route("**/v1/**", lambda route: route.fulfill(status=401, json={}))
        if by == "a refused request":
            page.locator("nav a", has_text="Library").click()
        else:
            page.route("**/v1/session", lambda route: route.fulfill(status=204))
            sign_out.click()
        expect(page.locator("sign-in")).to_be_visible()
        assert "quoth-answer" not in page.evaluate("JSON.stringify({...sessionStorage})")


def test_a_shared_address_keeps_its_answers_and_offers_what_it_can_do(web: WebApp) -> None:
    guest = {"key_needed": True, "tenant": "local", "scopes": ["read"], "collection": "default"}
    refused = {"detail": "A share gives access to one collection only."}
    with web.opened(permissions=["clipboard-read", "clipboard-write"]) as visit:
        page = visit.page
        page.route("**/v1/session", lambda route: route.fulfill(json=guest))
        page.route("**/v1/queries/*", lambda route: route.fulfill(status=403, json=refused))
        page.reload()
        visit.ask(HONEY)
        expect(page.locator("export-menu :is(button, summary)")).to_have_text(
            ["Copy with links", "Print"]
        )
        expect(page.locator("a[href*=explain], answer-feedback")).to_have_count(0)
        page.locator("button", has_text="Copy with links").click()
        expect(page.locator("export-menu [role=status]")).to_have_text("Copied")
        copied = page.evaluate("navigator.clipboard.readText()")
        assert f"{web.url}/d/" in copied
        assert "/q/" not in copied
        page.reload()
        expect(page.locator(".answer")).to_contain_text("nectar")
        page.locator("button.number:not(.hidden)").first.click()
        expect(page.locator(".proof .reading mark").first).to_be_visible()
        page.route("**/v1/session", lambda route: route.fulfill(status=204))
        page.keyboard.press("Escape")
        page.locator("header button", has_text="Sign out").click()
        expect(page.locator("sign-in")).to_be_visible()
        assert "nectar" not in page.evaluate("JSON.stringify({...sessionStorage})")


@pytest.mark.soak
def test_a_key_opens_the_app_below_its_base_path(web: WebApp, tmp_path: Path) -> None:
    """All that the page asks for is below the base, else ``opened`` fails."""
    port = free_port()
    public = f"http://127.0.0.1:{port}/library"
    env = {**environment(tmp_path), "QUOTH_PUBLIC_URL": public}
    notes = str(web.sources / "notes.md")
    subprocess.run([*PROGRAM, "--quiet", "add", notes], env=env, check=True)
    with (
        serving(env, port=port) as url,
        replace(web, url=f"{url}/library", idle=[]).opened() as visit,
    ):
        page = visit.page
        key = make_first_key(page, visit.url)
        open_share(replace(web, url=visit.url, idle=[]), share_address(page), visit.url)
        page.locator("button", has_text="Sign out").click()
        expect(page.locator("sign-in")).to_be_visible()
        page.goto(f"{visit.url}/")
        page.locator("input[name=key]").fill("wrong")
        page.keyboard.press("Enter")
        expect(page.locator("sign-in .problem")).to_contain_text("key")
        page.locator("input[name=key]").fill(key)
        page.keyboard.press("Enter")
        expect(page.locator("#question")).to_be_visible()
        kept = page.evaluate("[{...localStorage}, {...sessionStorage}, location.href]")
        assert key not in str(kept)
        assert page.evaluate("document.cookie") == ""
        page.reload()
        visit.ask(HONEY)
        assert re.fullmatch(rf"{url}/library/q/q_\w+", page.url)
        page.locator("button.number:not(.hidden)").first.click()
        expect(page.locator(".proof .reading mark").first).to_be_visible()
        page.go_back()
        expect(page.locator(".proof")).to_have_count(0)
        page.locator("nav a", has_text="Settings").click()
        assert page.url == f"{url}/library/settings"
        assert [cookie["path"] for cookie in visit.context.cookies()] == ["/library"]
        page.locator("button", has_text="Sign out").click()
        expect(page.locator("sign-in")).to_be_visible()
        page.reload()
        expect(page.locator("sign-in")).to_be_visible()


def test_an_address_that_is_none_is_said_on_a_page(web: WebApp) -> None:
    with web.opened() as visit:
        visit.page.goto(f"{web.url}/nowhere")
        expect(visit.page.locator("main")).to_contain_text("There is no such page")
        expect(visit.page.locator("main h1")).to_be_visible()
        expect(visit.page.locator("main a")).to_have_text(["Ask", "Library"])
        for address in ("/d/nothing", "/pdf/nothing"):
            visit.page.goto(f"{web.url}{address}")
            expect(visit.page.locator(".problem")).to_contain_text("nothing here")
            expect(visit.page.locator("h1", has_text="Loading")).to_have_count(0)
        visit.errors.clear()  # the browser notes that the address is not found


@pytest.mark.skipif(not AXE.exists(), reason="make web-tools brings axe-core")
@pytest.mark.parametrize(
    ("scheme", "width"), [("dark", 360), pytest.param("light", 1280, marks=pytest.mark.soak)]
)
def test_axe_finds_nothing_on_any_page(web: WebApp, scheme: Any, width: int) -> None:
    source = AXE.read_text(encoding="utf-8")
    assert sha256(source.encode()).hexdigest() == AXE_SHA256
    known = query_id(web)
    pages = [
        "/",
        f"/q/{known}",
        f"/q/{known}#s1",
        f"/q/{known}/explain",
        "/history",
        "/library",
        "/live",
    ]
    pages += [f"/compare?question={HONEY}"]
    size = {"width": width, "height": 800}
    with web.opened(viewport=size, color_scheme=scheme) as visit:
        for path in ["thread", *pages, "/settings", "sign-in", "/q/q_000000000000"]:
            if path == "thread":
                for question in (HONEY, "Where do bees keep honey?", "ok thanks"):
                    visit.ask(question)
                visit.page.locator("other-turn a").last.click()
                expect(visit.page.locator("other-turn")).to_have_count(2)
            elif path == "sign-in":
                visit.page.evaluate("window.dispatchEvent(new CustomEvent('quoth-signed-out'))")
            else:
                visit.page.goto(f"{web.url}{path}")
                visit.page.locator("main h1").first.wait_for()
                visit.page.wait_for_timeout(300)
            visit.page.evaluate(source)
            found = visit.page.evaluate("axe.run().then((result) => result.violations)")
            said = [(each["id"], each["nodes"][0]["html"][:200]) for each in found]
            assert said == [], f"{path} in {scheme} at {width}"
