"""A lecture from sound to citation: synthesised speech of a real transcript through the microphone.

It needs Chromium, espeak-ng, `quoth[speech]`, the weights of ``fetch_models.py speech`` (whisper,
which hears the language, and ``moonshine-base``), the built default model and the lectures beside
the repository; it is skipped where one is not there. The
figures are printed (``pytest -s``): seconds from the end of the last word of a window to its first
card on screen.
"""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import httpx
import pypdfium2
import pytest
from playwright.sync_api import Page, expect, sync_playwright

from quoth.core.extras import is_installed
from quoth.core.settings import Settings
from quoth.live.sources import read_transcript
from tests.support.fetch_models import MOONSHINE, speech_folder
from tests.support.web_app import CHROMIUM, NEEDS_CHROMIUM, PROGRAM, environment, serving

ROOT = Path(__file__).parents[2]
LECTURES = ROOT.parent / "shared" / "data" / "sicp-lectures"
WORDS = slice(330, 800)
"""Words of the lecture on the substitution model, about three minutes."""
PAGES = 90
MAX_DELAY_S = 2.0
"""The bar for the median delay."""
NEEDED = {
    "espeak-ng": shutil.which("espeak-ng"),
    "quoth[speech]": is_installed("faster_whisper"),
    "fetch_models.py speech": (speech_folder() / "model.bin").is_file(),
    "fetch_models.py speech moonshine-base": speech_folder(MOONSHINE).is_dir(),
    "the default model": Settings().models.is_dir(),
    "the lectures": LECTURES.is_dir(),
}
pytestmark = [
    pytest.mark.soak,
    pytest.mark.timed,
    pytest.mark.timeout(900),
    NEEDS_CHROMIUM,
    *(pytest.mark.skipif(not there, reason=f"needs {name}") for name, there in NEEDED.items()),
]
WATCH = """(() => {
  window.seen = {};
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (data) {
    if (data instanceof ArrayBuffer) window.heardAt ??= Date.now() - 100;
    return send.call(this, data);
  };
  new MutationObserver(() => {
    for (const card of document.querySelectorAll(".card[id]")) window.seen[card.id] ??= Date.now();
  }).observe(document, { childList: true, subtree: true });
})()"""


def _speech(folder: Path) -> Path:
    segments = read_transcript(LECTURES / "srt" / "lec1b.srt")
    words = " ".join(each.text for each in segments).split()[WORDS]
    file = folder / "lecture.wav"
    said = ["espeak-ng", "-v", "en-us", "-s", "150", "-w", str(file), " ".join(words)]
    subprocess.run(said, check=True)
    return file


def _book(folder: Path) -> Path:
    folder.mkdir()
    whole = pypdfium2.PdfDocument(LECTURES / "sicp.pdf")
    part = pypdfium2.PdfDocument.new()
    part.import_pages(whole, list(range(PAGES)))
    file = folder / "sicp.pdf"
    part.save(file)
    return file


def _speak(page: Page) -> None:
    page.get_by_label("Title").fill("Lecture 1b")
    page.get_by_role("button", name="Start a session").click()
    page.get_by_text("Microphone", exact=True).click()
    page.get_by_label("Those who are heard agree").check()
    page.get_by_role("button", name="Switch on").click()
    expect(page.locator(".transcribed")).to_contain_text("being transcribed")


def _delays(page: Page, client: httpx.Client) -> list[float]:
    session = client.get(f"/v1/sessions/{page.url.rpartition('/')[2]}").json()
    began, seen = page.evaluate("[window.heardAt, window.seen]")
    delays = []
    for window in session["windows"]:
        times = [seen[f"card-{each['id']}"] for each in window["citations"]]
        if times:
            delays.append((min(times) - began) / 1000 - window["end"])
    return delays


def test_cards_come_while_a_lecture_is_spoken(tmp_path: Path) -> None:
    env: dict[str, Any] = {
        **environment(tmp_path / "home"),
        "QUOTH_SPEECH_MODEL": str(speech_folder()),
        "QUOTH_SPEECH_MODEL_ENGLISH": str(speech_folder(MOONSHINE)),
    }
    del env["QUOTH_EMBEDDER"], env["QUOTH_CHUNK_TOKENS"]
    sound, book = _speech(tmp_path), _book(tmp_path / "book")
    subprocess.run([*PROGRAM, "--quiet", "add", str(book)], env=env, check=True)
    args = [
        *("--no-sandbox", "--disable-gpu", "--use-fake-ui-for-media-stream"),
        *(
            "--use-fake-device-for-media-stream",
            f"--use-file-for-fake-audio-capture={sound}%noloop",
        ),
    ]
    with serving(env) as url, sync_playwright() as play, httpx.Client(base_url=url) as client:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=args)
        page = browser.new_page(locale="en-US")
        page.add_init_script(WATCH)
        page.goto(f"{url}/live")
        _speak(page)
        transcript = page.locator(".transcript")
        expect(transcript).to_contain_text("the", timeout=60_000)
        quiet, last = 0, ""
        while quiet < 15:  # seconds without new words: the sound has ended
            time.sleep(1)
            words = transcript.inner_text()
            quiet, last = (quiet + 1 if words == last else 0), words
        assert "model" in last, last
        page.get_by_role("button", name="Switch the microphone off").click()
        expect(page.locator(".transcribed")).to_have_count(0, timeout=60_000)
        delays = sorted(_delays(page, client))
        browser.close()
    files = [each for each in tmp_path.rglob("*") if each.suffix in (".wav", ".pcm", ".raw")]
    assert files == [sound]
    p95 = quantiles(delays, n=20)[-1] if len(delays) > 1 else delays[0]
    print(f"\n{len(delays)} windows with cards, delay p50 {median(delays):.2f} s, p95 {p95:.2f} s")  # noqa: T201
    assert len(delays) >= 3
    assert median(delays) <= MAX_DELAY_S
