"""Values from plain data: the inverse of `quoth.text.json_codec.to_json`."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cache
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

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
