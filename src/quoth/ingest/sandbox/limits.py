"""Length limits for a document's metadata, which is repeated with every chunk.

A title, a heading or a name is repeated with every chunk: one of 100 kB in a document of the same
size would make thousands of times as much of it. The text itself stays as it is.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import assert_never

from quoth.core.types import (
    Chars,
    Locator,
    Pages,
    ParsedDocument,
    Seconds,
    Section,
    SpanLocator,
)
from quoth.text.locators import ARROW

MAX_TITLE_LENGTH = 300
MAX_NAME_LENGTH = 120
MAX_LABEL_LENGTH = 40
MAX_ANCHOR_LENGTH = 300
MAX_ADDRESS_LENGTH = 2048
"""Characters; an anchor or an address that is longer is left out, since half of one leads
nowhere, and all else is cut."""
MAX_SECTIONS = 10_000
"""Every section has chunks of its own: a heading in each line makes hundreds of them of a page."""
MAX_DEPTH = 12
"""Headings within headings that a place names."""


def enforce_limits(reading: ParsedDocument) -> ParsedDocument:
    """Return the reading with titles, headings, names, labels and addresses within bounds."""
    url = reading.url if reading.url and len(reading.url) <= MAX_ADDRESS_LENGTH else None
    many = len(reading.sections) > MAX_SECTIONS
    warning = f"There are more than {MAX_SECTIONS:,} headings; the rest are not used as sections."
    return replace(
        reading,
        title=_cut(reading.title, MAX_TITLE_LENGTH),
        speaker=_name(reading.speaker),
        url=url,
        labels=tuple(label[:MAX_LABEL_LENGTH] for label in reading.labels),
        places=tuple(_place(place) for place in reading.places),
        sections=tuple(_section(section) for section in reading.sections[:MAX_SECTIONS]),
        warnings=(*reading.warnings, warning) if many else reading.warnings,
    )


def _section(section: Section) -> Section:
    path = tuple(_cut(each, MAX_TITLE_LENGTH) for each in section.path[:MAX_DEPTH])
    return replace(section, path=path, anchor=_anchor(section.anchor))


def _place(place: SpanLocator) -> SpanLocator:
    bound = _locator(place.locator)
    return place if bound is place.locator else replace(place, locator=bound)


def _locator(locator: Locator) -> Locator:
    section = None if locator.section is None else _path(locator.section)
    match locator:
        case Pages() | Chars():
            labels = (locator.label_first, locator.label_last)
            short = max(map(len, labels)) <= MAX_LABEL_LENGTH
            named = _name(locator.speaker) == locator.speaker
            same = section == locator.section and _anchor(locator.anchor) == locator.anchor
            if short and named and same:
                return locator
            return replace(
                locator,
                section=section,
                label_first=labels[0][:MAX_LABEL_LENGTH],
                label_last=labels[1][:MAX_LABEL_LENGTH],
                anchor=_anchor(locator.anchor),
                speaker=_name(locator.speaker),
            )
        case Seconds(speaker=speaker):
            if _name(speaker) == speaker and section == locator.section:
                return locator
            return replace(locator, section=section, speaker=_name(speaker))
        case _:
            assert_never(locator)


@lru_cache(maxsize=256)
def _path(section: str) -> str:
    if len(section) <= MAX_TITLE_LENGTH and section.count(ARROW) < MAX_DEPTH:
        return section
    parts = section.split(ARROW)[:MAX_DEPTH]
    return ARROW.join(_cut(part, MAX_TITLE_LENGTH) for part in parts)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def _name(name: str | None) -> str | None:
    return None if name is None else _cut(name, MAX_NAME_LENGTH)


def _anchor(anchor: str | None) -> str | None:
    return anchor if anchor is None or len(anchor) <= MAX_ANCHOR_LENGTH else None
