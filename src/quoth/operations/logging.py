"""Logging setup of the service and the command line, with redaction.

A line has an event name with ids, counts and times. It contains no query, answer or document text;
of an error it has the type and the stack frames, not the message, which may repeat user text.
Anything that looks like a key is removed from every line, third-party lines included, and no value
can start a new line.

quoth logs through the standard library: ``log.info("event", extra={"count": 3})``.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from datetime import UTC, datetime
from types import MappingProxyType, TracebackType
from typing import Any, TextIO

OWN = "quoth"
"""The logger below which the house's own are; all others are strangers."""
REMOVED = "[removed]"
MAX_CHARACTERS = 300
"""Characters of a third-party message that are logged."""
MAX_FRAMES = 20

_STANDARD = {*logging.makeLogRecord({}).__dict__, "message", "asctime"}
"""What every record has, or other handlers leave in it; all else was given as ``extra``."""
_BOUND: ContextVar[Mapping[str, str]] = ContextVar("bound", default=MappingProxyType({}))

CAME_THROUGH = re.compile(r'^ +File "([^"\n]+)", line (\d+), in (\S+)', re.MULTILINE)
TYPE = re.compile(r"^[A-Za-z_][\w.]*", re.MULTILINE)
"""The places of an error in the text of a traceback, and the type that follows the last."""

KEYS = re.compile(
    r"""
      \bq(?:th|sh|ss)_[A-Za-z0-9_-]{8,}            # keys, shares and sessions of quoth
    | \bsk-[A-Za-z0-9_-]{8,}                       # OpenAI, Anthropic, OpenRouter
    | \bAIza[A-Za-z0-9_-]{10,}                     # Google
    | (?i:\b(?:bearer|basic))[ ]+[A-Za-z0-9._~+/=-]{6,}
    | (?i:\bpostgres(?:ql)?(?:\+\w+)?)://[^\s"'@]*:[^\s"']*@
    | (?i:\b(?:x-api-key|api[_-]?key|password|authorization)["']?\s*[:=]\s*)["']?
      (?i:(?:bearer|basic)[ ]+)?[^\s"',;&}]{6,}
    """,
    re.VERBOSE,
)
"""The shapes of keys: our own, those of the providers, those in headers, addresses and options."""


def configure_logging(
    *, as_json: bool, level: int = logging.INFO, stream: TextIO | None = None
) -> logging.Handler:
    """Send every log of this process to ``stream`` (stderr) as lines of JSON, or for people.

    Replaces the setup of an earlier call; returns the handler. Third-party loggers log from WARNING
    on.
    """
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(LineFormatter(as_json=as_json))
    handler.set_name("quoth")
    root = logging.getLogger()
    for old in [handler for handler in root.handlers if handler.get_name() == "quoth"]:
        root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    logging.getLogger(OWN).setLevel(level)
    logging.captureWarnings(True)
    return handler


def bind(**known: str) -> None:
    """Add values, such as the request's id, to every later line of this task."""
    _BOUND.set({**_BOUND.get(), **known})


def redact_keys(text: str) -> str:
    """Remove anything that looks like a key from a text."""
    return KEYS.sub(REMOVED, text)


class LineFormatter(logging.Formatter):
    """Formatter that keeps every record on one line and removes keys."""

    def __init__(self, *, as_json: bool) -> None:
        super().__init__()
        self._as_json = as_json

    def format(self, record: logging.LogRecord) -> str:
        """Write a record as one line."""
        fields = {name: _safe(value) for name, value in _fields(record).items()}
        line = json.dumps(fields) if self._as_json else _for_people(fields)
        return redact_keys(_one_line(line))


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "timestamp": datetime.fromtimestamp(record.created, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "level": record.levelname.lower(),
        "logger": record.name,
        "event": record.getMessage(),
        **_BOUND.get(),
        **{name: each for name, each in record.__dict__.items() if name not in _STANDARD},
    }
    error = record.exc_info[1] if record.exc_info else None
    if error is not None:
        fields["error"] = list(frames_of(error))
    if record.name != OWN and not record.name.startswith(f"{OWN}."):
        # Later lines of a third-party message may show values.
        said = str(fields["event"])
        first = said.partition("\n")[0]
        if first.startswith("Traceback "):
            # uvicorn logs a failed start as the text of its traceback.
            first, fields["error"] = "failed", list(_frames_in(said))
        fields["event"] = first[:MAX_CHARACTERS]
    return fields


def frames_of(error: BaseException) -> Iterator[str]:
    """Return an error's types and stack frames, without any values."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        code = getattr(current, "code", None)
        yield type(current).__name__ + (f" ({code})" if isinstance(code, str) else "")
        yield from _places(current.__traceback__)
        current = current.__cause__ or current.__context__


def _places(trace: TracebackType | None) -> Iterator[str]:
    for frame in traceback.extract_tb(trace)[-MAX_FRAMES:]:
        file = frame.filename.replace("\\", "/")
        yield f"{'/'.join(file.split('/')[-3:])}:{frame.lineno} in {frame.name}"


def _frames_in(trace: str) -> Iterator[str]:
    """Return the type and the places of the last error in the text of a traceback."""
    places = list(CAME_THROUGH.finditer(trace))
    kind = TYPE.search(trace, places[-1].end()) if places else None
    yield kind[0] if kind else "Error"
    for place in places[-MAX_FRAMES:]:
        path, line, name = place.groups()
        yield f"{'/'.join(path.replace(chr(92), '/').split('/')[-3:])}:{line} in {name}"


def _safe(value: Any) -> Any:
    """Return numbers as they are, other values as text without control and bidi characters."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, list | tuple):
        return [_safe(each) for each in value]
    if isinstance(value, Mapping):
        return {str(name): _safe(each) for name, each in value.items()}
    return redact_keys(_one_line(str(value)))


def _one_line(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape", "replace").decode()
        for each in text
    )


def _for_people(fields: dict[str, Any]) -> str:
    when, level, name, said = (fields.pop(key) for key in ("timestamp", "level", "logger", "event"))
    rest = " ".join(
        f"{key}={' < '.join(map(str, value)) if isinstance(value, list) else value}"
        for key, value in fields.items()
    )
    return f"{when[11:19]} {level:<7} {name}: {said} {rest}".rstrip()
