"""150 hostile texts in every text place of the web app, and cut at every byte of a stream."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.interfaces.web.test_asking import DANGERS, HONEY, hostile_answer, sse
from tests.support.payloads import ACTIVE, SENDING
from tests.support.web_app import NEEDS_CHROMIUM, Visit, WebApp, open_web_app

pytestmark = [pytest.mark.soak, NEEDS_CHROMIUM]

EVERY = [*ACTIVE, *SENDING]
PAYLOADS = EVERY[:: max(1, len(EVERY) // 150)][:150]
SAFE = {"ran": None, "bad": 0}
CUT = """() => { const real = window.fetch; window.fetch = async (path, options) => {
  if (!String(path).endsWith('/v1/query')) return real(path, options);
  const bytes = new TextEncoder().encode(window.stream);
  const start = async (to) => {
    to.enqueue(bytes.slice(0, window.cut));
    await new Promise((resolve) => requestAnimationFrame(resolve));
    to.enqueue(bytes.slice(window.cut)); to.close();
  };
  return new Response(new ReadableStream({ start }), { status: 200 });
}; }"""
SWEEP = f"""async (step) => {{ const bad = [];
  const page = document.querySelector('ask-page');
  const length = new TextEncoder().encode(window.stream).length;
  for (window.cut = 0; window.cut <= length; window.cut += step) {{
    page.clear();  /* else every question is one more turn of a conversation */
    await page.ask('Question ' + window.cut);
    await page.updateComplete;
    const found = ({DANGERS})();
    if (found.ran || found.bad) bad.push(window.cut);
  }}
  return {{ length, bad }}; }}"""


def front(text: str) -> str:
    return json.dumps(" ".join(text.split()))


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebApp]:
    """A library whose titles, headings, speakers, cues, names and subjects are hostile."""
    folder = tmp_path_factory.mktemp("hostile")
    sources = folder / "more"
    sources.mkdir()
    for at, text in enumerate(PAYLOADS):
        name = "".join(char for char in text if char not in "/\\\0\n\r")[:60].strip(". ") or "x"
        line = " ".join(text.split())
        body = f"# {line}\n\nHoney number {at} is sweet. {line}\n"
        (sources / f"{at} {name}.md").write_text(body, encoding="utf-8")
        meta = {"title": f"{at} {line}"[:400], "speaker": line[:190]}
        if at % 5 == 0:
            cue = f"1\n00:00:01,000 --> 00:00:04,000\nTalk {at} on honey. {line}\n"
            (sources / f"talk{at}.srt").write_text(cue, encoding="utf-8")
            (sources / f"talk{at}.srt.meta.json").write_text(json.dumps(meta), encoding="utf-8")
        if at % 5 == 1:
            mail = f"From: {front(text)} <a@b.test>\nSubject: {line}\n\nHoney mail {at}. {line}\n"
            (sources / f"mail{at}.eml").write_text(mail, encoding="utf-8")
    with open_web_app(folder, more=sources) as app:
        yield app


def look(visit: Visit, path: str, ready: str) -> None:
    visit.page.goto(f"{visit.url}{path}")
    visit.page.locator(ready).first.wait_for()
    assert visit.page.evaluate(DANGERS) == SAFE, path


def test_hostile_documents_are_text_on_every_page(web: WebApp) -> None:
    with web.opened() as visit:
        page = visit.page
        listed = [
            document
            for skip in (0, 100, 200)
            for document in page.request.get(
                f"{web.url}/v1/documents?limit=100&skip={skip}"
            ).json()["documents"]
        ]
        assert len(listed) > len(PAYLOADS)
        look(visit, "/library", "tbody tr")
        for document in listed:
            if document["status"] == "ready":
                look(visit, f"/d/{document['document_id']}", ".reading .block")
        for at in range(0, len(PAYLOADS), 10):
            page.goto(web.url)
            visit.ask(f"What does talk {at} say on honey?")
            assert page.evaluate(DANGERS) == SAFE
            look(visit, f"{page.url.removeprefix(web.url)}/explain", ".table")
        look(visit, "/history", ".list li")


def test_hostile_answers_are_text_wherever_the_stream_is_cut(web: WebApp) -> None:
    with web.opened() as visit:
        page = visit.page
        page.evaluate(CUT)
        for at, text in enumerate(PAYLOADS):
            answer = hostile_answer(text)
            events = [{"event": "token", "text": text}, {"event": "done", "answer": answer}]
            page.evaluate("(stream) => { window.stream = stream; }", sse(*events))
            # Every byte for some, and a few places for all.
            found = page.evaluate(SWEEP, 1 if at % 30 == 0 else 97)
            assert found["bad"] == [], text
        assert len(PAYLOADS) == 150


def test_an_answer_of_three_thousand_words_stays_usable(web: WebApp, tmp_path: Path) -> None:
    words = "Honey is made from nectar by bees in the hive. " * 300
    answer = hostile_answer(words)
    with web.opened() as visit:
        page = visit.page
        tokens = [{"event": "token", "text": part + " "} for part in words.split()]
        body = sse(*tokens, {"event": "done", "answer": answer})
        page.route("**/v1/query", lambda r: r.fulfill(content_type="text/event-stream", body=body))
        visit.ask(HONEY)
        expect(page.locator(".status")).to_contain_text("roved")
        page.locator("button.number").first.click()
        expect(page.locator(".proof")).to_be_visible()
