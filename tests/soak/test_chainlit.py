"""The chat page of Chainlit in a real browser: streamed, cited, and nothing from elsewhere.

Its packages have an environment of their own; ``make chainlit`` makes it.
"""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.support.small_library import write_sources
from tests.support.web_app import CHROMIUM, NEEDS_CHROMIUM

ROOT = Path(__file__).parents[2]
QUOTH = ROOT / ".venv-chainlit" / "bin" / "quoth"
EVIL = (
    "# Wax <img src='https://evil.test/t.png' onerror='document.title=1'>\n\n"
    "Wax is made by young workers [here](https://evil.test/a) "
    "![x](https://evil.test/b.png) <script>document.title='bad'</script> from their glands.\n"
)

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(not QUOTH.exists(), reason="make chainlit makes the environment for this"),
    NEEDS_CHROMIUM,
]


@dataclass(frozen=True, slots=True)
class Site:
    """A running page, and what its browser asked of other machines."""

    url: str
    browser: Browser


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("chainlit")
    sources = write_sources(folder / "sources")
    (sources / "wax.md").write_text(EVIL, encoding="utf-8")
    env = {
        **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
        "QUOTH_HOME": str(folder / "home"),
        "QUOTH_EMBEDDER": "fake",
        "QUOTH_CHUNK_TOKENS": "32",
        "TMPDIR": str(folder / "tmp"),
    }
    (folder / "tmp").mkdir()
    subprocess.run([str(QUOTH), "--quiet", "add", str(sources)], env=env, check=True)
    with running(env) as url, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield Site(url, browser)
        browser.close()
    assert not list((folder / "tmp").glob("quoth-*")), "the page leaves its files behind"


@contextmanager
def running(env: dict[str, str]) -> Iterator[str]:
    """Run ``quoth chainlit`` on a free port until it answers; gives its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [str(QUOTH), "chainlit", "--port", str(port), "--no-browser"]
    process = subprocess.Popen(words, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            assert process.poll() is None, process.communicate()[0]
            try:
                httpx.get(url)
                break
            except httpx.TransportError:
                time.sleep(0.2)
        yield url
    finally:
        process.terminate()
        process.communicate(timeout=30)


@contextmanager
def opened(site: Site, *, locale: str = "en-US") -> Iterator[tuple[Page, list[str]]]:
    """Open the page; the list holds what the browser got from other machines."""
    context = site.browser.new_context(locale=locale)
    page = context.new_page()
    elsewhere: list[str] = []
    page.on(
        "requestfinished",
        lambda request: (
            None
            if request.url.startswith((site.url, "data:", "blob:"))
            else elsewhere.append(request.url)
        ),
    )
    page.goto(site.url)
    page.locator("#chat-input").wait_for()
    yield page, elsewhere
    context.close()


def ask(page: Page, question: str) -> None:
    page.locator("#chat-input").click()
    page.keyboard.type(question)
    page.locator("#chat-submit").click()


def test_an_answer_comes_with_its_sources(site: Site) -> None:
    with opened(site) as (page, elsewhere):
        ask(page, "What is honey made from?")
        link = page.get_by_role("link", name="1", exact=True).first
        link.wait_for()
        assert link.get_attribute("href") == "https://www.youtube.com/watch?v=aaaaaaaaaaa&t=12"
        page.get_by_text("Source 1").first.click()
        page.get_by_role("link", name="0:12–0:21").wait_for()
        ask(page, "And how much of it does a strong colony need until spring?")
        page.get_by_text("fifteen kilograms").first.wait_for()
    assert elsewhere == []


def test_a_pdf_opens_at_its_page(site: Site) -> None:
    with opened(site) as (page, elsewhere):
        ask(page, "What did the keeper climb when the lamp went out at midnight?")
        page.get_by_text("PDF 1").first.click()
        page.get_by_text("The lighthouse keeper wrote").first.wait_for()
    assert elsewhere == []


def test_a_french_question_is_answered_in_french(site: Site) -> None:
    with opened(site, locale="fr-FR") as (page, _elsewhere):
        ask(page, "Pourquoi le miel d'acacia reste-t-il liquide ?")
        page.get_by_text("peu de glucose").first.wait_for()


def test_nothing_of_a_hostile_document_runs(site: Site) -> None:
    with opened(site) as (page, elsewhere):
        title = page.title()
        ask(page, "Who makes wax?")
        page.get_by_text("young workers").first.wait_for()
        page.get_by_text("Source 1").first.click()
        page.wait_for_timeout(1000)
        assert page.title() == title
        addresses = [each.get_attribute("href") for each in page.locator("a").all()]
        assert not [each for each in addresses if each and "evil" in each]
        assert page.locator("img[src*=evil]").count() == 0
    assert elsewhere == []


def test_a_question_that_cannot_be_answered_says_why(site: Site) -> None:
    with opened(site) as (page, _elsewhere):
        ask(page, "x")
        page.get_by_text("at least 3").wait_for()


def test_no_other_page_and_no_other_name_is_let_in(site: Site) -> None:
    upgrade = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
    }
    path = "/ws/socket.io/?EIO=4&transport=websocket"
    evil = {"Origin": "https://evil.test"}
    assert httpx.get(site.url, headers={"Host": "evil.test"}).status_code == 403
    assert httpx.get(site.url + path, headers={**upgrade, **evil}).status_code == 403
    polled = "/ws/socket.io/?EIO=4&transport=polling"
    assert httpx.post(site.url + polled, headers=evil, content=b"40").status_code == 403
    assert httpx.get(site.url).status_code == 200
