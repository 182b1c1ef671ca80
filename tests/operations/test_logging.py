"""The logs: no keys (S21), no lines that a text has forged (S23), no values of errors."""

from __future__ import annotations

import io
import json
import logging
import subprocess
import sys
import traceback
from collections.abc import Iterator
from contextvars import copy_context

import pytest

from quoth.core.errors import GenerationError
from quoth.operations.logging import bind, configure_logging, redact_keys

SECRETS = {
    "quoth": "qth_a1b2c3d4_uXq9vTn4W2kLm7PzR5sYd8HfJ3aBcE6gN1oQxU0wZiV",
    "share": "qsh_Zk3vT9mW2qLx7PzR5sYd8HfJ3aBcE6gN1oQxU0wZiVu",
    "session": "qss_Qm7bR2xVt9LkZ4wYp6sNc8HfJ3aBdE5gT1oKxU0wZiV",
    "openai": "sk-proj-4fJ8kL2mN6pQ9rS3tU7vW1xY5z",
    "anthropic": "sk-ant-api03-AbCdEfGh1234567890",
    "google": "AIzaSyD4eF6gH8iJ0kL2mN4oP6qR8sT0uV2wX4y",
    "bearer": "eyJhbGciOi.J9.c2VjcmV0",
    "database": "hunter2-of-the-database",
}
"""Kinds of keys, as they stand in settings, headers and errors."""
SAID = {
    "quoth": "{}",
    "share": "token={}",
    "session": "Cookie: quoth_session={}",
    "openai": "Incorrect API key provided: {}.",
    "anthropic": '{{"x-api-key": "{}"}}',
    "google": "https://example.com/v1?key={}&alt=sse",
    "bearer": "Authorization: Bearer {}",
    "database": "postgresql+psycopg://quoth:{}@db.example.com/quoth",
}
FORGERIES = (
    'question\n{"level":"info","event":"granted"}',
    "a\r\n2026-11-22 INFO admin logged in",
    "tab\tand\x0bfeed\x0c",
    "\x1b[2J\x1b[31mred",
    "line\u2028separator\u2029",
    "next\x85line",
    "nul\x00byte",
    "\u202egnp.exe",
    "half \ud800 a pair",
    '","event":"granted","x":"',
)


@pytest.fixture(params=[True, False], ids=["json", "people"])
def lines(request: pytest.FixtureRequest) -> Iterator[tuple[io.StringIO, bool]]:
    """Logs as they are written, and whether they are JSON; all is put back in the end."""
    root, own = logging.getLogger(), logging.getLogger("quoth")
    levels = root.level, own.level
    stream = io.StringIO()
    handler = configure_logging(as_json=request.param, stream=stream)
    yield stream, request.param
    root.removeHandler(handler)
    root.setLevel(levels[0])
    own.setLevel(levels[1])
    logging.captureWarnings(False)


@pytest.mark.parametrize("kind", SECRETS)
def test_no_key_is_written_wherever_it_stands(kind: str, lines: tuple[io.StringIO, bool]) -> None:
    stream, _ = lines
    secret = SECRETS[kind]
    said = SAID[kind].format(secret)
    log = logging.getLogger("quoth.test")
    log.info(said)
    log.info("served", extra={"header": said, "many": [said], "inner": {"at": said}})
    logging.getLogger("strange.library").warning("it said: %s", said)
    try:
        try:
            raise ValueError(said)
        except ValueError as error:
            raise GenerationError(said, code="llm_denied") from error
    except GenerationError:
        log.exception("failed")
        logging.getLogger("strange.library").exception("broke: %s", said)
    assert secret not in stream.getvalue()
    assert "failed" in stream.getvalue()
    assert redact_keys(said) != said


@pytest.mark.parametrize("text", FORGERIES)
def test_no_text_begins_a_line_of_its_own(text: str, lines: tuple[io.StringIO, bool]) -> None:
    stream, as_json = lines
    logging.getLogger("quoth.test").info(text, extra={"more": text})
    logging.getLogger("strange").warning(text)
    written = stream.getvalue()
    assert len(written.splitlines()) == 2
    assert all(each.isprintable() for each in written.rstrip("\n").split("\n"))
    if as_json:
        events = [json.loads(line) for line in written.splitlines()]
        assert all(each["event"] != "granted" for each in events)
        assert {each["level"] for each in events} == {"info", "warning"}


def test_an_error_is_told_by_its_type_and_places_and_not_by_its_message(
    lines: tuple[io.StringIO, bool],
) -> None:
    stream, as_json = lines
    try:
        raise ValueError("what the document said")
    except ValueError:
        logging.getLogger("quoth.test").exception("failed")
        logging.getLogger("strange").exception("failed")
    written = stream.getvalue()
    assert "what the document said" not in written
    assert "ValueError" in written
    assert "test_logging.py" in written
    assert len(written.splitlines()) == 2
    if as_json:
        assert json.loads(written.splitlines()[0])["error"][0] == "ValueError"


def test_the_request_is_named_in_every_line_of_its_task(lines: tuple[io.StringIO, bool]) -> None:
    stream, as_json = lines

    def task() -> None:
        bind(request_id="r_1")
        logging.getLogger("quoth.a").info("one")
        logging.getLogger("quoth.b").info("two", extra={"count": 2})

    copy_context().run(task)
    logging.getLogger("quoth.a").info("three")
    one, two, three = stream.getvalue().splitlines()
    assert "r_1" in one
    assert "r_1" in two
    assert "r_1" not in three
    if as_json:
        assert json.loads(two) | {"timestamp": ""} == {
            "timestamp": "",
            "level": "info",
            "logger": "quoth.b",
            "event": "two",
            "request_id": "r_1",
            "count": 2,
        }


def test_strangers_are_heard_from_warnings_on_and_in_one_line(
    lines: tuple[io.StringIO, bool],
) -> None:
    stream, _ = lines
    strange = logging.getLogger("strange.client")
    strange.info("GET /v1?query=what+somebody+asked")
    strange.error("Task exception\nfuture: <Task exception=ValueError('what somebody asked')>")
    assert "somebody" not in stream.getvalue()
    assert len(stream.getvalue().splitlines()) == 1


def test_a_start_that_failed_is_told_by_type_and_place(lines: tuple[io.StringIO, bool]) -> None:
    """Servers tell of it by the text of a traceback, which may end in anything."""
    stream, _as_json = lines
    try:
        int("a secret\nWord: of somebody")
    except ValueError:
        logging.getLogger("a.server").error(traceback.format_exc())
    written = stream.getvalue()
    assert "ValueError" in written
    assert "test_logging.py:" in written
    assert "secret" not in written
    assert "Word" not in written


def test_the_command_line_shows_warnings_without_keys() -> None:
    code = f"""
import logging, sys
from quoth.interfaces.cli.session import show_warnings
show_warnings()
logging.getLogger("strange").warning("it said {SECRETS["openai"]}")
logging.getLogger("quoth.a").info("not shown")
logging.getLogger("quoth.a").warning("shown")
assert [each.get_name() for each in logging.getLogger().handlers] == ["quoth"]
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    first, second = done.stderr.splitlines()
    assert "[removed]" in first
    assert "shown" in second
