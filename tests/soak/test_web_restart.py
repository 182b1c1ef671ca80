"""A service that stops or dies while an answer streams: the page says so, and goes on after it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.support import http_double
from tests.support.small_library import write_sources
from tests.support.web_app import (
    NEEDS_CHROMIUM,
    PROGRAM,
    WebApp,
    environment,
    free_port,
    open_web_app,
    serving,
)

pytestmark = [pytest.mark.soak, NEEDS_CHROMIUM]

HONEY = "What is honey made from?"
TEXT = (
    "Honey is made from nectar, which the workers carry home in their stomachs [1]. "
    "They fan it with their wings until it is thick enough to keep [1]."
)


class SlowModel(http_double.Handler):
    """Streams two sentences in OpenAI's protocol, a word at a time."""

    pause_s = 0.15

    def do_POST(self) -> None:
        with suppress(BrokenPipeError, ConnectionResetError):  # the service was killed
            self._stream()

    def _stream(self) -> None:
        self.json_body()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        about = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "slow"}
        words = [f"{word} " for word in TEXT.split()]
        for at, word in enumerate([*words, ""]):
            reason = "stop" if at == len(words) else None
            choice = {"index": 0, "delta": {"content": word}, "finish_reason": reason}
            self.wfile.write(f"data: {json.dumps({**about, 'choices': [choice]})}\n\n".encode())
            self.wfile.flush()
            time.sleep(self.pause_s)
        self.wfile.write(b"data: [DONE]\n\n")


def process_on(port: int) -> int:
    found = subprocess.run(["pgrep", "-f", f"serve --port {port}"], capture_output=True, text=True)
    return int(found.stdout.split()[0])


def test_a_restart_in_mid_stream(tmp_path: Path) -> None:
    sources, port = write_sources(tmp_path / "sources"), free_port()
    with http_double.serving(SlowModel) as model, open_web_app(tmp_path / "browser") as browser:
        generator = {"QUOTH_GENERATOR": f"openai-compatible:slow@{model}/v1"}
        env = environment(tmp_path / "home") | generator
        subprocess.run([*PROGRAM, "--quiet", "add", str(sources)], env=env, check=True)
        app = WebApp(f"http://127.0.0.1:{port}", browser.browser, sources)
        with ExitStack() as first:
            first.enter_context(serving(env, port=port))
            context = app.browser.new_context(locale="en-US")
            page = context.new_page()
            page.goto(app.url)
            # Stopped: what is in flight is finished first, and the page has its answer.
            page.locator("#question").fill(HONEY)
            page.keyboard.press("Enter")
            expect(page.locator(".status")).to_contain_text("Writing", timeout=20_000)
            os.kill(process_on(port), signal.SIGTERM)
            expect(page.locator(".status")).to_contain_text("proved", timeout=20_000)
        with serving(env, port=port):
            page.reload()
            expect(page.locator(".status")).to_contain_text("stored answer")
            page.locator("button", has_text="New conversation").click()
            # Killed: the answer is lost, which the page knows once the service is there again.
            page.locator("#question").fill("What do the workers carry home?")
            page.keyboard.press("Enter")
            expect(page.locator(".status")).to_contain_text("Writing", timeout=20_000)
            os.kill(process_on(port), signal.SIGKILL)
            expect(page.locator(".status")).to_contain_text("Asking for the stored answer")
        with serving(env, port=port):
            expect(page.locator(".status")).to_contain_text("was not stored", timeout=30_000)
            page.locator("button", has_text="Ask again").click()
            expect(page.locator(".status")).to_contain_text("proved", timeout=20_000)
        context.close()
