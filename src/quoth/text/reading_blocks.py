"""The blocks of a reading view: the cues of a recording, else paragraphs within a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from quoth.core.types import Chunk, Locator, Pages, Seconds, SpanLocator
from quoth.text.locators import label, locate

PARAGRAPH_BREAK = "\n\n"


@dataclass(frozen=True, slots=True)
class ReadingBlock:
    """The characters from `start` to `end` of a document's stored text, shown as one block.

    ``label`` names the place for people; the locator of a page is without boxes.
    """

    start: int
    end: int
    text: str
    section: tuple[str, ...]
    locator: Locator
    label: str


def reading_blocks(chunks: Sequence[Chunk]) -> list[ReadingBlock]:
    """Return the blocks of consecutive chunks of one document.

    They are in order and do not overlap; what lies between two blocks is white space.
    """
    if not chunks:
        return []
    offset = chunks[0].start
    text = "".join(chunk.text for chunk in chunks)
    return [
        _block(group, section, text=text[group[0].start - offset : group[-1].end - offset])
        for group, section in _groups(chunks, text=text, offset=offset)
    ]


def _groups(
    chunks: Sequence[Chunk], *, text: str, offset: int
) -> Iterator[tuple[list[SpanLocator], tuple[str, ...]]]:
    """Group the places that belong to one block, with the section of the first of them."""
    group: list[SpanLocator] = []
    section: tuple[str, ...] = ()
    for chunk in chunks:
        for place in chunk.places:
            gap = text[group[-1].end - offset : place.start - offset] if group else ""
            if group and (chunk.section != section or _parts(group[-1], place, gap=gap)):
                yield group, section
                group = []
            section = section if group else chunk.section
            group.append(place)
    if group:
        yield group, section


def _parts(previous: SpanLocator, place: SpanLocator, *, gap: str) -> bool:
    """Return whether a block ends between two places with this text between them."""
    if isinstance(place.locator, Seconds) or PARAGRAPH_BREAK in gap:
        return True
    before, after = previous.locator, place.locator
    return isinstance(before, Pages) and isinstance(after, Pages) and before.last != after.first


def _block(places: Sequence[SpanLocator], section: tuple[str, ...], *, text: str) -> ReadingBlock:
    start, end = places[0].start, places[-1].end
    locator = locate(places, start, end)
    if isinstance(locator, Pages):
        locator = replace(locator, boxes=())
    return ReadingBlock(start, end, text, section, locator, label(locator))
