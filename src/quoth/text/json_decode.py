"""From plain data back to values: the other way of `quoth.text.json_codec.to_json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")


def decoded(kind: type[T], data: Any) -> T:
    """Make a value of a dataclass from what `to_json` made of one.

    Fields that are missing have their defaults and unknown ones are left out, so that what an
    older or a newer version wrote can be read. Raises ValueError for what is no such value.
    """
    try:
        found: T = _decoded(kind, data)
    except (TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"This is no {kind.__name__}: {error}.") from error
    return found


def _decoded(kind: Any, data: Any) -> Any:
    if data is None or kind is Any:
        return data
    if is_dataclass(kind):
        return _dataclass(kind, data)
    origin, inside = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return _decoded(_option(inside, data), data)
    if origin is tuple:
        # Both `tuple[X, ...]` and pairs of one kind: nothing here mixes kinds in a tuple.
        return tuple([_decoded(inside[0], each) for each in data])
    if origin is Mapping:
        return {key: _decoded(inside[1], each) for key, each in data.items()}
    return data


def _dataclass(kind: Any, data: Any) -> Any:
    hints = _hints(kind)
    return kind(**{name: _decoded(hints[name], data[name]) for name in hints if name in data})


def _option(kinds: tuple[Any, ...], data: Any) -> Any:
    """Choose among the kinds of a union: by the value's own `kind`, else the first."""
    there = [each for each in kinds if each is not NoneType]
    named = data.get("kind") if isinstance(data, dict) else None
    return next((each for each in there if named and _own_kind(each) == named), there[0])


@cache
def _own_kind(kind: Any) -> Any:
    if not is_dataclass(kind):
        return None
    default = {each.name: each.default for each in fields(kind)}.get("kind", MISSING)
    return None if default is MISSING else default


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)
