"""Logging setup of the service and the command line, with redaction.

A line has an event name with ids, counts and times. It contains no query, answer or document text;
of an error it has the type and the stack frames, not the message, which may repeat user text.
Anything that looks like a key is removed from every line, third-party lines included, and no value
can start a new line.

quoth logs through the standard library, ``log.info("event", extra={"count": 3})``; structlog events
have the same form.
"""

from __future__ import annotations

import logging
import re
import sys
import traceback
from collections.abc import Iterator, Mapping, MutableMapping
from types import TracebackType
from typing import Any, TextIO

import structlog
from structlog.typing import EventDict, Processor

OWN = "quoth"
"""The logger below which the house's own are; all others are strangers."""
REMOVED = "[removed]"
MAX_CHARACTERS = 300
"""Characters of a third-party message that are logged."""
MAX_FRAMES = 20

CAME_THROUGH = re.compile(r'^ +File "([^"\n]+)", line (\d+), in (\S+)', re.MULTILINE)
TYPE = re.compile(r"^[A-Za-z_][\w.]*", re.MULTILINE)
"""The places of an error in the text of a traceback, and the type that follows the last."""

KEYS = re.compile(
    r"""
      \bq(?:th|sh)_[A-Za-z0-9_-]{8,}               # keys and shares of quoth
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
    shown = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=_before(),
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            _safe_values,
            _as_json if as_json else _for_people,
        ],
    )
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(RedactingFormatter(shown))
    handler.set_name("quoth")
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *_before(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
    )
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
    structlog.contextvars.bind_contextvars(**known)


def redact_keys(text: str) -> str:
    """Remove anything that looks like a key from a text."""
    return KEYS.sub(REMOVED, text)


class RedactingFormatter(logging.Formatter):
    """Formatter that keeps every record on one line and removes keys."""

    def __init__(self, inner: logging.Formatter) -> None:
        super().__init__()
        self._inner = inner

    def format(self, record: logging.LogRecord) -> str:
        """Write a record as one line."""
        return redact_keys(_one_line(self._inner.format(record)))


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


def _before() -> list[Processor]:
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _without_message_of_errors,
        _truncate_third_party,
    ]


def _without_message_of_errors(_logger: Any, _name: str, event: EventDict) -> EventDict:
    given = event.pop("exc_info", None)
    if given is True:
        given = sys.exc_info()
    error = given[1] if isinstance(given, tuple) else given
    if isinstance(error, BaseException):
        event["error"] = list(frames_of(error))
    event.pop("exc_text", None)
    event.pop("stack_info", None)
    return event


def _truncate_third_party(_logger: Any, _name: str, event: EventDict) -> EventDict:
    """Truncate third-party messages to the first line: later lines may show values."""
    for left_by_other_handlers in ("message", "asctime"):
        event.pop(left_by_other_handlers, None)
    name = str(event.get("logger", ""))
    if name != OWN and not name.startswith(f"{OWN}."):
        said = str(event.get("event", ""))
        first = said.partition("\n")[0]
        if first.startswith("Traceback "):
            # uvicorn logs a failed start as the text of its traceback.
            first, event["error"] = "failed", list(_logger_name(said))
        event["event"] = first[:MAX_CHARACTERS]
    return event


def _logger_name(trace: str) -> Iterator[str]:
    """Return the type and the places of the last error in the text of a traceback."""
    places = list(CAME_THROUGH.finditer(trace))
    kind = TYPE.search(trace, places[-1].end()) if places else None
    yield kind[0] if kind else "Error"
    for place in places[-MAX_FRAMES:]:
        path, line, name = place.groups()
        yield f"{'/'.join(path.replace(chr(92), '/').split('/')[-3:])}:{line} in {name}"


def _safe_values(_logger: Any, _name: str, event: EventDict) -> EventDict:
    return {str(name): _safe(value) for name, value in event.items()}


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


def _as_json(logger: Any, name: str, event: EventDict) -> str:
    first: MutableMapping[str, Any] = {
        key: event.pop(key) for key in ("timestamp", "level", "logger", "event") if key in event
    }
    return str(structlog.processors.JSONRenderer()(logger, name, {**first, **event}))


def _for_people(_logger: Any, _name: str, event: EventDict) -> str:
    when = str(event.pop("timestamp", ""))[11:19]
    level, name, said = (event.pop(key, "") for key in ("level", "logger", "event"))
    rest = " ".join(
        f"{key}={' < '.join(map(str, value)) if isinstance(value, list) else value}"
        for key, value in event.items()
    )
    return f"{when} {level:<7} {name}: {said} {rest}".rstrip()
