"""The name of a place within a document, as people read it beside the document's own."""

from __future__ import annotations

from dataclasses import replace

from quoth.core.types import Locator
from quoth.text.locators import ARROW, label


def place_name(document: str, locator: Locator, section: str | None) -> str:
    """Name a place within a document, nothing of it twice."""
    known = [document]
    within = f"{document}{ARROW}"
    named = label(replace(locator, speaker=None))
    for part in (named.removeprefix(within), (section or "").removeprefix(within)):
        path = f"{ARROW}{part}{ARROW}"
        if part and not any(
            each.endswith(part) or path in f"{ARROW}{each}{ARROW}" for each in known
        ):
            known.append(part)
    if locator.speaker:
        known.insert(2, locator.speaker)
    return "".join(f" · {each}" for each in known[1:])
