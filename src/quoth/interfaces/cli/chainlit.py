"""`quoth chainlit`: the chat page of Chainlit, on this machine alone."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from subprocess import Popen
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from quoth.core.errors import InputError
from quoth.core.extras import require_extra
from quoth.interfaces.cli.session import DONE, FAILED, CliSession, command

HOST = "127.0.0.1"
CONFIG = """[project]
session_timeout = 3600
allow_origins = []

[features]
unsafe_allow_html = false
latex = false
user_message_markdown = false
edit_message = false

[features.spontaneous_file_upload]
enabled = false

[UI]
name = "quoth"
description = "Answers from your documents, every sentence proved."
cot = "hidden"

[meta]
generated_by = "2.12.0"
"""
"""What Chainlit reads of its settings: nothing is uploaded, and no HTML of a text is run."""

Port = Annotated[int, typer.Option(help="Port of the page.", min=1, max=65_535)]
Browser = Annotated[bool, typer.Option(help="Open the page in the browser.")]


@command
def chainlit(session: CliSession, port: Port = 8000, browser: Browser = True) -> int:
    """Serve a chat page on this machine, made with Chainlit."""
    require_extra("chainlit", module="chainlit", what="The chat page (quoth chainlit)")
    with TemporaryDirectory(prefix="quoth-chainlit-") as folder:
        lay_out(Path(folder))
        given = environment(session, folder=folder, port=port)
        return serve(given, browser=browser)


def lay_out(folder: Path) -> None:
    """Put Chainlit's settings where it looks for them; its other files go there too."""
    (folder / ".chainlit").mkdir()
    (folder / ".chainlit" / "config.toml").write_text(CONFIG, encoding="utf-8")
    (folder / "chainlit.md").write_text("", encoding="utf-8")


def environment(session: CliSession, *, folder: str, port: int) -> dict[str, str]:
    """Hand the options of this call on to the page, which reads the settings itself."""
    settings = session.settings
    if len(session.collections) > 1:
        raise InputError("The chat page asks one collection. Name one.")
    given = {
        "QUOTH_HOME": str(settings.home),
        "QUOTH_COLLECTION": settings.collection,
        "QUOTH_PROFILE": settings.profile,
        "QUOTH_EMBEDDER": settings.embedder or "",
        "QUOTH_RERANKER": settings.reranker or "",
        "CHAINLIT_APP_ROOT": folder,
        "CHAINLIT_HOST": HOST,
        "CHAINLIT_PORT": str(port),
    }
    return {each: value for each, value in given.items() if value}


def serve(given: Mapping[str, str], *, browser: bool) -> int:
    """Serve in a separate process until it is stopped; returns the exit code.

    Chainlit exits its process at once, so that a parent has to clean up.
    """
    found = find_spec("quoth.interfaces.chainlit_app")
    assert found is not None
    assert found.origin is not None
    words = [sys.executable, "-m", "chainlit", "run", found.origin]
    page = Popen([*words, *([] if browser else ["--headless"])], env=os.environ | given)  # noqa: S603
    signal.signal(signal.SIGTERM, lambda *_: page.terminate())
    try:
        code = page.wait()
    except KeyboardInterrupt:
        page.wait()
        raise
    return DONE if code in (0, -signal.SIGTERM) else FAILED
