"""Reasons why a sentence is not supported, as they are stored, and in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from quoth.core.translations import translate

IN_ANOTHER_PLACE = "elsewhere "
"""Begins a reason that names what the sources have in another place than the sentence."""
OMITTED = "omitted "
"""Begins a reason that names what the sources say there and the sentence does not."""


def describe_reasons(reasons: Sequence[str], *, language: str) -> str:
    """Return the reasons in words: what the sources lack, have elsewhere, or say besides."""
    return " ".join(
        translate(f"answering.reasons_{kind}", language, reasons=", ".join(found))
        for kind, found in _by_kind(reasons)
        if found
    )


def _by_kind(reasons: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    yield "missing", [each for each in reasons if not each.startswith((IN_ANOTHER_PLACE, OMITTED))]
    for kind, prefix in (("elsewhere", IN_ANOTHER_PLACE), ("omitted", OMITTED)):
        yield kind, [each.removeprefix(prefix) for each in reasons if each.startswith(prefix)]
