"""Values to JSON and back, for the catalogue and for readers in another process."""

from __future__ import annotations

import json
from collections.abc import Hashable
from dataclasses import is_dataclass
from functools import cache, lru_cache
from typing import Any, TypeVar, assert_never, cast

from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_jsonable_python

from quoth.core.types import Box, Chars, Locator, Pages, Seconds, SpanLocator

MAX_REPLY_LENGTH = 20_000
"""Characters of a language model's reply that are read."""


def to_json(value: Any) -> Any:
    """Turn a value of `quoth.core.types` into plain dictionaries, lists, strings and numbers."""
    return to_jsonable_python(value) if is_dataclass(value) else value


def dump(value: Any) -> str:
    """Write plain data as compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def json_object(reply: str) -> dict[str, Any] | None:
    """Return the first JSON object in a language model's reply, None where there is none."""
    start = reply.find("{")
    if start < 0:
        return None
    try:
        found, _end = json.JSONDecoder().raw_decode(reply[:MAX_REPLY_LENGTH], start)
    except (ValueError, RecursionError):
        return None
    return cast(dict[str, Any], found)


def pack_places(places: tuple[SpanLocator, ...]) -> str:
    """Encode places as compact JSON; `unpack_spot` restores them."""
    return dump([[p.start, p.end, p.hyphen, _pack(p.locator)] for p in places])


def pack_locator(locator: Locator) -> str:
    """Encode a locator as compact JSON; `unpack_spot` restores it."""
    return dump(_pack(locator))


@lru_cache(maxsize=2048)
def unpack_spot(
    *, locator: str, places: str, section: str
) -> tuple[Locator, tuple[SpanLocator, ...], tuple[str, ...]]:
    """Decode the position of a chunk: its packed locator and places, and its section.

    All three are decoded in one call: the overhead per call exceeds the decoding.
    """
    whole, parts, path = json.loads(f"[{locator},{places},{section}]")
    found = tuple(
        SpanLocator(start, end, _unpack(each), hyphen) for start, end, hyphen, each in parts
    )
    return _unpack(whole), found, tuple(path)


def _pack(locator: Locator) -> list[Any]:
    match locator:
        case Pages():
            more = [locator.unit, locator.anchor, locator.speaker]
            boxes = [[b.page, b.x0, b.y0, b.x1, b.y1] for b in locator.boxes]
            return [
                "p",
                locator.first,
                locator.last,
                locator.label_first,
                locator.label_last,
                locator.section,
                boxes,
                *_but_defaults(more, ["page", None, None]),
            ]
        case Seconds():
            estimated = [True] if locator.estimated else []
            return ["s", locator.start, locator.end, locator.speaker, locator.section, *estimated]
        case Chars():
            counted = [locator.unit, locator.label_first, locator.label_last, locator.speaker]
            return [
                "c",
                locator.start,
                locator.end,
                locator.section,
                locator.anchor,
                *_but_defaults(counted, [None, "", "", None]),
            ]
        case _:
            assert_never(locator)


def _but_defaults(values: list[Any], defaults: list[Any]) -> list[Any]:
    """Return the values without those at the end that are their defaults."""
    while values and values[-1] == defaults[len(values) - 1]:
        values = values[:-1]
    return values


def _unpack(packed: list[Any]) -> Locator:
    match packed:
        case ["p", first, last, label_first, label_last, section, boxes, *more]:
            spans = tuple(Box(*box) for box in boxes)
            return Pages(first, last, label_first, label_last, section, spans, "pages", *more)
        case ["s", start, end, speaker, section, *estimated]:
            return Seconds(start, end, speaker, section, "seconds", *estimated)
        case ["c", start, end, section, anchor, *counted]:
            return Chars(start, end, section, anchor, "chars", *counted)
        case _:
            raise ValueError(f"not a packed locator: {packed!r}")


T = TypeVar("T")


def decode_json(kind: type[T], data: Any) -> T:
    """Return a dataclass value from the output of `to_json`.

    Missing fields get their defaults and unknown ones are ignored, so that records of older and
    newer versions can be read. Raises ValueError for invalid data.
    """
    try:
        value: T = _adapter(cast(Hashable, kind)).validate_python(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise ValueError(f"This is no {kind.__name__}: {where}: {first['msg']}.") from None
    return value


@cache
def _adapter(kind: Hashable) -> TypeAdapter[Any]:
    return TypeAdapter(cast(Any, kind))
