"""The web app in a real browser: ``quoth serve`` as a process, and pages of Chromium.

Under the policy of the service neither `wait_for_function` nor `add_script_tag` of Playwright
work: tests wait for elements, and scripts run with `evaluate`.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.support.small_library import write_sources

CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium")
"""The same browser without its windows takes a third of the processor time."""
PROGRAM = [sys.executable, "-m", "quoth"]
NEEDS_CHROMIUM = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed here")


@dataclass(frozen=True, slots=True)
class WebApp:
    """A running service, and a browser to open it in."""

    url: str
    browser: Browser
    sources: Path
    idle: list[BrowserContext] = field(default_factory=list)
    """Contexts of pages that are closed: the scripts of the app are in their cache."""

    @contextmanager
    def opened(self, path: str = "/", **options: Any) -> Iterator[Visit]:
        """Open a page in a context that no other open page has, and none had with options."""
        shared = self.idle.pop() if self.idle and not options else None
        context = shared or self.browser.new_context(**{"locale": "en-US", **options})
        page = context.new_page()
        page.set_default_timeout(10_000)
        visit = Visit(self.url, page, context)
        page.on("request", lambda each: visit.note(each.url))
        page.on("pageerror", lambda error: visit.errors.append(str(error)))
        page.goto(f"{self.url}{path}")
        page.locator("main > *").first.wait_for()
        alone = bool(options)
        try:
            yield visit
            assert visit.errors == []
            assert visit.elsewhere == [], "the page asked another machine for something"
            alone = alone or len(context.pages) > 1
        except BaseException:
            alone = True
            raise
        finally:
            # A request that a test changes on its way may still be open: it fails another test.
            page.unroute_all(behavior="ignoreErrors")
            if alone:
                context.close()
            else:
                page.close()
                context.clear_cookies()
                self.idle.append(context)


@dataclass(slots=True)
class Visit:
    """A page, its errors, and what it asked of other machines."""

    url: str
    page: Page
    context: BrowserContext
    errors: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)

    def note(self, address: str) -> None:
        """Keep the address of a request that leaves the service."""
        if not address.startswith((self.url, "data:", "blob:")):
            self.elsewhere.append(address)

    def ask(self, question: str) -> None:
        """Ask, and wait until the answer is complete."""
        self.page.locator("#question").fill(question)
        self.page.keyboard.press("Enter")
        self.page.locator("current-turn .answer[aria-busy=false] p").first.wait_for()


@contextmanager
def open_web_app(folder: Path, *, more: Path | None = None) -> Iterator[WebApp]:
    """Serve a small library with a talk, a PDF and notes, and more sources; no model."""
    sources = write_sources(folder / "sources")
    garden = folder / "garden"
    garden.mkdir()
    (garden / "compost.md").write_text("# Compost\n\nCompost needs air.\n", encoding="utf-8")
    (garden / "broken.pdf").write_bytes(b"%PDF-1.4 this is none")
    env = environment(folder / "home") | {
        "QUOTH_WATCHED": json.dumps({"garden": str(garden)}),
        "QUOTH_REQUEST_PROFILES": "book",
    }
    added = [str(sources), *([] if more is None else [str(more)])]
    # Exit code 1 says that some files could not be read, as is meant in some tests.
    done = subprocess.run([*PROGRAM, "--quiet", "add", *added], env=env, check=False)
    assert done.returncode in ((0,) if more is None else (0, 1))
    with serving(env) as url, sync_playwright() as play:
        browser = play.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        yield WebApp(url, browser, sources)
        browser.close()


def environment(home: Path) -> dict[str, str]:
    """The variables of a process whose library is in a folder of its own; no model."""
    return {
        **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
        "PYTHONPATH": os.pathsep.join(each for each in sys.path if each),
        "QUOTH_HOME": str(home),
        "QUOTH_EMBEDDER": "fake",
        "QUOTH_CHUNK_TOKENS": "32",
    }


def free_port() -> int:
    """Return a port that nothing listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def serving(env: dict[str, str], *, port: int | None = None) -> Iterator[str]:
    """Run ``quoth serve`` until the block ends, on a free port without one; gives its address."""
    port = port or free_port()
    words = [*PROGRAM, "serve", "--port", str(port)]
    process = subprocess.Popen(words, env=env, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            assert process.poll() is None, "the service ended"
            try:
                # Where a key is needed, the answer is 401.
                if httpx.get(f"{url}/readyz").status_code in (200, 401):
                    break
            except httpx.TransportError:
                pass
            time.sleep(0.2)
        yield url
    finally:
        process.terminate()
        process.wait(timeout=30)
