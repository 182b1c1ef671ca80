"""Every page as people see it: pictures at three widths, light and dark, and figures of speed.

They are written to the folder that the variable SCREENS names, else to ``build/screens``.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.interfaces.web.test_pages import AXE
from tests.support.web_app import (
    NEEDS_CHROMIUM,
    PROGRAM,
    Visit,
    WebApp,
    environment,
    open_web_app,
)

pytestmark = [pytest.mark.soak, NEEDS_CHROMIUM]

ROOT = Path(__file__).parents[2]
SCREENS = Path(os.environ.get("SCREENS", ROOT / "build" / "screens"))
COURSE = ROOT / "examples" / "hf-course"
BIG = ROOT.parent / "shared" / "data" / "sicp-lectures" / "sicp.pdf"
QUESTION = "What is transfer learning?"
FIGURES = """() => { window.figures = { shift: 0, blocked: 0 };
  new PerformanceObserver((list) => { for (const entry of list.getEntries())
    if (!entry.hadRecentInput) window.figures.shift += entry.value;
  }).observe({ type: 'layout-shift', buffered: true });
  new PerformanceObserver((list) => { for (const entry of list.getEntries())
    window.figures.blocked += Math.max(0, entry.duration - 50);
  }).observe({ type: 'longtask', buffered: true }); }"""


VIOLATIONS = """axe.run().then((result) => result.violations.map(
  (each) => [each.id, ...each.nodes.map((node) => node.target.join(' '))]))"""
CARD = """() => {
  const began = () => { window.began = performance.now(); };
  document.addEventListener('keydown', began, { capture: true, once: true });
  new MutationObserver((_all, watch) => {
    if (!document.querySelector('.card')) return;
    window.card = performance.now();
    watch.disconnect();
  }).observe(document.body, { childList: true, subtree: true });
}"""
RANGES = """performance.getEntriesByType('resource')
  .filter((each) => each.name.endsWith('/original')).length"""


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebApp]:
    with open_web_app(tmp_path_factory.mktemp("screens"), more=COURSE) as app:
        yield app


def pages(visit: Visit) -> dict[str, str]:
    """Ask once, and return the address of every page by its name."""
    visit.ask(QUESTION)
    found = re.search(r"/q/q_\w+", visit.page.url)
    assert found is not None
    listed = visit.page.request.get(f"{visit.url}/v1/documents?limit=100").json()["documents"]
    pdf = next(document["document_id"] for document in listed if document["kind"] == "pdf")
    talk = next(document["document_id"] for document in listed if document["kind"] == "transcript")
    return {
        "ask": "/",
        "answer": found[0],
        "proof": f"{found[0]}#c1",
        "explain": f"{found[0]}/explain",
        "compare": f"/compare?question={QUESTION}",
        "history": "/history",
        "library": "/library",
        "live": "/live",
        "settings": "/settings",
        "talk": f"/d/{talk}?start=300&end=420",
        "page": f"/d/{pdf}?start=900&end=1000",
        "pdf": f"/pdf/{pdf}?start=900&end=1000",
    }


@pytest.mark.parametrize("locale", ["en-US", "fr-FR"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1024, 1600])
def test_every_page_has_its_picture(web: WebApp, width: int, scheme: Any, locale: str) -> None:
    SCREENS.mkdir(parents=True, exist_ok=True)
    size = {"width": width, "height": 900}
    with web.opened(viewport=size, color_scheme=scheme, locale=locale) as visit:
        for name, path in pages(visit).items():
            visit.page.goto(f"{web.url}{path}")
            visit.page.locator("h1, .pdf-bar").first.wait_for()
            visit.page.wait_for_load_state("networkidle")
            if AXE.exists():
                visit.page.evaluate(AXE.read_text(encoding="utf-8"))
                found = visit.page.evaluate(VIOLATIONS)
                assert found == [], f"axe-core on {name} at {width}"
            wide = visit.page.evaluate("document.documentElement.scrollWidth - innerWidth")
            visit.page.screenshot(path=SCREENS / f"{name}-{width}-{scheme}-{locale[:2]}.png")
            assert wide <= 0, f"{name} scrolls sideways at {width}"


def test_figures_of_speed_are_written_down(web: WebApp) -> None:
    SCREENS.mkdir(parents=True, exist_ok=True)
    with web.opened() as visit:
        page = visit.page
        page.evaluate(FIGURES)
        paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        sent = page.evaluate(
            "performance.getEntriesByType('resource').reduce((sum, r) => sum + r.transferSize, 0)"
        )
        page.locator("#question").fill(QUESTION)
        page.evaluate(CARD)
        page.keyboard.press("Enter")
        page.locator(".answer[aria-busy=false] p").first.wait_for()
        figures = page.evaluate("({ ...window.figures, evidence: window.card - window.began })")
    figures |= {"first_paint_ms": paint, "bytes": sent}
    (SCREENS / "figures.json").write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    assert sent <= 150_000
    assert figures["shift"] <= 0.1


@pytest.mark.skipif(not BIG.exists(), reason="a PDF of 900 pages is needed")
def test_a_page_of_a_pdf_of_900_pages_is_shown_soon(web: WebApp) -> None:
    # Into the same library: Playwright runs once in a process.
    env = environment(web.sources.parent / "home")
    subprocess.run([*PROGRAM, "--quiet", "add", str(BIG)], env=env, check=True)
    with web.opened() as visit:
        page = visit.page
        found = page.request.get(f"{web.url}/v1/documents?words=sicp").json()["documents"]
        path = f"{web.url}/pdf/{found[0]['document_id']}#page=500"
        page.goto(path)
        page.locator("#page-500 canvas").wait_for()
        page.reload()  # the files of the page are kept, as on a second visit
        page.locator("#page-500 canvas").wait_for()
        drawn = page.evaluate("performance.now()")
        loaded = page.evaluate("performance.getEntriesByType('navigation')[0].duration")
        ranges = page.evaluate(RANGES)
        SCREENS.mkdir(parents=True, exist_ok=True)
        figures = {"loaded_ms": loaded, "drawn_ms_at_most": drawn, "ranges": ranges}
        (SCREENS / "big-pdf.json").write_text(json.dumps(figures) + "\n", encoding="utf-8")
        page.screenshot(path=SCREENS / "big-pdf.png")
        assert ranges < 40, "the whole file is fetched"
        assert page.locator(".pdf-bar input").input_value() == "472", "its printed number"
