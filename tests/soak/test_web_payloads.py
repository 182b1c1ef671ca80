"""150 hostile texts in every text place of the web app, and cut at every byte of a stream."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from quoth.interfaces.web.routes import load_site
from tests.interfaces.web.test_asking import DANGERS, HONEY, hostile_answer, sse
from tests.support.payloads import ACTIVE, SENDING
from tests.support.web_app import NEEDS_CHROMIUM, Visit, WebApp, open_web_app

pytestmark = [pytest.mark.soak, NEEDS_CHROMIUM]

EVERY = [*ACTIVE, *SENDING]
REDRAWN = 97
"""Of so many cuts one is drawn in any case."""
PAYLOADS = EVERY[:: max(1, len(EVERY) // 150)][:150]
SAFE = {"ran": None, "bad": 0}
SWEEP = f"""async ([modules, stream, step]) => {{
  const {{ IDLE, reduce }} = await import(modules + 'reduce.js');
  const {{ readEvents }} = await import(modules + 'sse.js');
  const page = document.querySelector('ask-page');
  const found = {{ splits: 0, bad: [] }};
  const drawn = new Set();
  /* What is drawn depends on the state alone: one that was drawn is seldom drawn again. */
  const show = async (state, at) => {{
    const known = JSON.stringify(state);
    if (drawn.has(known) && at % {REDRAWN}) return;
    drawn.add(known);
    page.asking = state;
    await page.updateComplete;
    await Promise.all([...page.querySelectorAll('*')].map((each) => each.updateComplete));
    const {{ ran, bad }} = ({DANGERS})();
    if (ran || bad) found.bad.push(at);
  }};
  const bytes = new TextEncoder().encode(stream);
  for (let at = 0; at <= bytes.length; at += step) {{
    const start = (to) => {{
      [bytes.slice(0, at), bytes.slice(at)].forEach((each) => to.enqueue(each));
      to.close();
    }};
    let state = reduce(IDLE, {{ event: 'asked', question: 'Question' }});
    const response = new Response(new ReadableStream({{ start }}));
    for await (const {{ event, data }} of readEvents(response)) {{
      state = reduce(state, {{ ...data, event }});
      await show(state, at);
    }}
    if (state.phase !== 'done') found.bad.push(at);
    found.splits += 1;
  }}
  /* What an image that fails to load would run comes a task later. */
  await new Promise((resolve) => setTimeout(resolve, 20));
  if (window.ran) found.bad.push('late');
  return found; }}"""
PARTS = 10
WHOLE = 1_000_000_000
"""A step beyond the end: the stream is not cut."""


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


@pytest.mark.timeout(900)
@pytest.mark.parametrize("part", range(PARTS))
def test_hostile_answers_are_text_wherever_the_stream_is_cut(web: WebApp, part: int) -> None:
    """All payloads, cut at every byte of their stream, and a character a token, by the app."""
    assert len(PAYLOADS) == 150
    modules = f"/static/{load_site().version}/"
    splits = 0
    with web.opened() as visit:
        for text in PAYLOADS[part::PARTS]:
            answer = hostile_answer(text)
            done = {"event": "done", "answer": answer}
            tokens = [{"event": "token", "text": char} for char in text]
            once = stream_of({"event": "token", "text": text}, done)
            for stream, step in ((once, 1), (stream_of(*tokens, done), WHOLE)):
                found = visit.page.evaluate(SWEEP, [modules, stream, step])
                assert found["bad"] == [], text
                splits += found["splits"]
    assert splits > 200_000 / PARTS


def stream_of(*events: dict[str, Any]) -> str:
    """Events as UTF-8, which a cut may part within a character."""
    parts = ((each["event"], json.dumps(each, ensure_ascii=False)) for each in events)
    return "".join(f"event: {name}\ndata: {data}\n\n" for name, data in parts)


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
