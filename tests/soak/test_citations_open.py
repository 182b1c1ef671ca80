"""A place of every format opens in the web app with the words of its citation marked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from quoth.text.locators import CELL_GAP
from tests.support.web_app import NEEDS_CHROMIUM, WebApp, open_web_app

FIXTURES = Path(__file__).parents[1] / "fixtures"
pytestmark = [pytest.mark.soak, pytest.mark.timeout(1800), NEEDS_CHROMIUM]


def _words(text: str) -> str:
    return "".join(text.split())


def _documents(page: Page, web: WebApp) -> list[dict[str, Any]]:
    listed = page.request.get(f"{web.url}/v1/documents?limit=100").json()
    assert listed.get("next") is None
    return [each for each in listed["documents"] if each["status"] == "ready"]


def _fault(page: Page, web: WebApp, document: str, block: dict[str, Any]) -> str:
    """Open a block's place; gives what is not as its citation says, "" if all is well."""
    start, end, text = block["start"], block["end"], block["text"]
    page.goto(f"{web.url}/d/{document}?start={start}&end={end}")
    mark = page.locator(".reading mark")
    expect(mark.first).to_be_attached()
    marked = "".join(mark.all_text_contents())
    if page.locator(".reading :is(td, th) mark").count():
        # A row of a table stands below its header, whose names begin the cells of the text.
        text = "".join(cell.partition(": ")[2] or cell for cell in text.split(CELL_GAP))
    if _words(marked) != _words(text):
        return f"marked is {marked[:80]!r}, not {text[:80]!r}"
    if block["locator"]["kind"] == "pages" and page.locator("page-image").count():
        expect(page.locator("page-image image").first).to_be_visible()
        expect(page.locator("page-image rect").first).to_be_visible()
    else:
        expect(mark.first).to_be_in_viewport()
    return ""


def test_every_format_opens_at_the_marked_words(tmp_path: Path) -> None:
    faults, suffixes, opened = [], set(), 0
    with open_web_app(tmp_path, more=FIXTURES) as web, web.opened() as visit:
        for document in _documents(visit.page, web):
            key, source = document["document_id"], document["source"]
            suffixes.add(Path(source).suffix)
            reading = visit.page.request.get(f"{web.url}/v1/documents/{key}/reading").json()
            blocks = reading["blocks"]
            for at in sorted({0, len(blocks) // 2, len(blocks) - 1}):
                opened += 1
                try:
                    fault = _fault(visit.page, web, key, blocks[at])
                except AssertionError as error:
                    fault = str(error).splitlines()[0]
                if fault:
                    faults.append(f"{source} {blocks[at]['label']}: {fault}")
    print(f"\n{opened} places of {len(suffixes)} formats opened: {' '.join(sorted(suffixes))}")  # noqa: T201
    assert faults == []
    assert len(suffixes) >= 35
