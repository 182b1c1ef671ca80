"""Metadata of a document that its owner makes up: ``team`` is legal, ``year`` is 2024."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping

from quoth.core.errors import InputError

MetadataValue = str | int | float | bool | tuple[str, ...]
"""A text, a number, a boolean, or several texts, of which a filter needs one."""

PREFIX = "meta."
"""Comes before the key in a filter: ``meta.team=legal``."""
KEY = re.compile(r"[^\W\d][\w.-]{0,63}")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?")
"""Numbers that are compared as such: "007" and longer ones are names."""
MAX_NUMBER = 2**53
MAX_KEYS = 50
MAX_TEXT = 1000
MAX_TEXTS = 100


def check_metadata(given: object) -> dict[str, MetadataValue]:
    """Return metadata with lists as tuples, keys in order; raises InputError for what is none."""
    if not isinstance(given, Mapping):
        raise InputError('Metadata are keys and values, such as {"team": "legal", "year": 2024}.')
    if len(given) > MAX_KEYS:
        raise InputError(f"A document has at most {MAX_KEYS} keys of metadata, not {len(given)}.")
    return {key: _value(key, given[key]) for key in sorted(map(_key, given))}


def read_metadata(text: str) -> dict[str, MetadataValue]:
    """Return metadata from a JSON object; raises InputError."""
    try:
        return check_metadata(json.loads(text))
    except (ValueError, RecursionError):
        raise InputError(
            'Metadata are a JSON object, such as {"team": "legal", "year": 2024}.'
        ) from None


def metadata_from_pairs(pairs: Iterable[str]) -> dict[str, MetadataValue]:
    """Return metadata from ``KEY=VALUE`` texts; a key that is repeated has several texts.

    Raises InputError.
    """
    found: dict[str, list[str]] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not value.strip():
            raise InputError(f"'{pair}' is no metadata. Write KEY=VALUE, such as team=legal.")
        found.setdefault(key.strip(), []).append(value.strip())
    return check_metadata(
        {key: tuple(texts) if len(texts) > 1 else texts[0] for key, texts in found.items()}
    )


def pairs_of(metadata: Mapping[str, MetadataValue]) -> list[str]:
    """Return metadata as ``KEY=VALUE`` texts, as people read them."""
    return [
        f"{key}={', '.join(value) if isinstance(value, tuple) else value}"
        for key, value in metadata.items()
    ]


def changed_metadata(
    known: Mapping[str, MetadataValue], pairs: Iterable[str]
) -> dict[str, MetadataValue]:
    """Return metadata with ``meta.KEY=VALUE`` texts applied; one without a value takes it back.

    Raises InputError.
    """
    given = [pair.removeprefix(PREFIX).partition("=") for pair in pairs]
    taken = {key.strip() for key, equals, value in given if equals and not value.strip()}
    new = metadata_from_pairs("".join(each) for each in given if each[0].strip() not in taken)
    return {key: value for key, value in ({**known, **new}).items() if key not in taken}


def fits(value: MetadataValue, wanted: str) -> bool:
    """Return whether a value is one of those wanted, or in their range.

    ``wanted`` is one text, several with commas between them, or a range such as ``2020..2024``, of
    which one end may be missing. Case does not count; numbers are compared as numbers.
    """
    texts = value if isinstance(value, tuple) else (str(value),)
    low, is_range, high = wanted.partition("..")
    if is_range:
        return any(_is_between(text, low.strip(), high.strip()) for text in texts)
    asked = {_normalized(each) for each in (wanted, *wanted.split(","))}
    return any(_normalized(text) in asked for text in texts)


def _is_between(text: str, low: str, high: str) -> bool:
    number = _number(text)
    first = _number(low) if low else -math.inf
    last = _number(high) if high else math.inf
    if number is not None and first is not None and last is not None:
        return first <= number <= last
    at = text.casefold()
    # "2024-12-31" is within "2023..2024": an end stands for all that begins with it.
    return low.casefold() <= at and (not high or at[: len(high)] <= high.casefold())


def _normalized(text: str) -> str | float:
    number = _number(text)
    return text.strip().casefold() if number is None else number


def _number(text: str) -> float | None:
    return float(text) if _NUMBER.fullmatch(text.strip()) else None


def _key(key: object) -> str:
    if not isinstance(key, str) or not KEY.fullmatch(key):
        raise InputError(
            f"'{str(key)[:80]}' is not a key of metadata. Use up to 64 letters, digits, '_', '-' "
            "and '.', a letter first."
        )
    return key


def _value(key: str, value: object) -> MetadataValue:
    if isinstance(value, (list, tuple)) and value and all(isinstance(each, str) for each in value):
        if len(value) > MAX_TEXTS:
            raise InputError(f"'{key}' has {len(value)} values; the limit is {MAX_TEXTS}.")
        return tuple(_text(key, each) for each in value)
    if isinstance(value, str):
        return _text(key, value)
    if isinstance(value, (bool, int, float)) and abs(value) <= MAX_NUMBER:  # NaN is not
        return value
    raise InputError(
        f"'{key}' is neither a text nor a number up to 2^53, true or false, or a list of texts."
    )


def _text(key: str, text: str) -> str:
    if not text.strip():
        raise InputError(f"'{key}' has no value. Leave it out.")
    if len(text) > MAX_TEXT:
        raise InputError(f"The value of '{key}' is longer than {MAX_TEXT:,} characters.")
    if any(sign < " " or "\ud800" <= sign <= "\udfff" for sign in text):
        raise InputError(f"The value of '{key}' holds characters that are no text.")
    return text
