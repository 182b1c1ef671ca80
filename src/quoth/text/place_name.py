"""The name of a place within a document, as people read it beside the document's own."""

from __future__ import annotations

from dataclasses import replace

from quoth.core.types import Locator
from quoth.text.locators import ARROW, label


def place_name(
    document: str, locator: Locator, section: str | None, *, language: str = "en"
) -> str:
    """Name a place within a document, nothing of it twice."""
    known = [document]
    named = label(replace(locator, speaker=None), language=language)
    for part in (named, section or ""):
        # The part of a mail is its subject, too, with its sender and day.
        part = part.removeprefix(f"{document}{ARROW}").removeprefix(f"{document} · ")
        path = f"{ARROW}{part}{ARROW}"
        if part and not any(
            each.endswith(part) or path in f"{ARROW}{each}{ARROW}" for each in known
        ):
            known.append(part)
    if locator.speaker:
        known.insert(2, locator.speaker)
    return "".join(f" · {each}" for each in known[1:])
