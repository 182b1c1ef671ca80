"""Slides as text: title, boxes in reading order, notes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from quoth.core.types import Pages, ParsedDocument
from quoth.ingest.readers.blocks import Block, assemble, to_plain_text
from quoth.ingest.readers.metadata import Metadata
from quoth.ingest.readers.reading_order import Rectangle, reading_order
from quoth.ingest.readers.source_file import SourceFile

MARGIN_CM = 0.2
"""Within a box around its text; programs leave 0.25 cm at its sides, 0.13 above and below."""
MAX_TITLE = 120
MAX_GROUPS = 20
"""Groups of boxes within one another that are opened."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A box of a slide, in centimetres from the upper left corner."""

    left: float
    top: float
    width: float
    height: float
    blocks: Sequence[Block]

    def inner(self) -> Rectangle:
        """Return what the text may fill, in tenths of a millimetre: boxes often touch."""
        across, down = min(MARGIN_CM, self.width / 2), min(MARGIN_CM, self.height / 2)
        right, bottom = self.left + self.width, self.top + self.height
        edges = (self.left + across, self.top + down, right - across, bottom - down)
        return Rectangle(*(round(100 * edge) for edge in edges))


@dataclass(frozen=True, slots=True)
class Slide:
    """A slide, counted from 1."""

    number: int
    title: str
    frames: Sequence[Frame]
    notes: Sequence[Block]
    hidden: bool = False


def blocks_in_order(frames: Sequence[Frame]) -> list[Block]:
    """Return the text of boxes in reading order, without empty blocks."""
    filled = _filled(frames)
    order = reading_order([frame.inner() for frame in filled])
    return [block for at in order for block in filled[at].blocks if block.text.strip()]


def enclose(frames: Sequence[Frame]) -> Frame:
    """Return the box around the boxes of a group, with their text."""
    filled = _filled(frames) or [Frame(0, 0, 0, 0, ())]
    left, top = min(each.left for each in filled), min(each.top for each in filled)
    right = max(each.left + each.width for each in filled)
    bottom = max(each.top + each.height for each in filled)
    return Frame(left, top, right - left, bottom - top, blocks_in_order(filled))


def _filled(frames: Sequence[Frame]) -> list[Frame]:
    return [each for each in frames if any(block.text.strip() for block in each.blocks)]


def slide_blocks(slide: Slide) -> Iterator[Block]:
    """Return the blocks of a slide: its title is a heading, its notes are said to be notes."""
    number = str(slide.number)
    place = Pages(slide.number, slide.number, number, number, unit="slide")
    title = to_plain_text(slide.title)
    blocks = blocks_in_order(slide.frames)
    if title:
        yield Block(title, level=1, place=place)
    elif blocks or slide.notes:
        name = blocks[0].text.split("\n")[0][:MAX_TITLE] if blocks else f"Slide {number}"
        yield Block(name, level=1, place=place, silent=True)
    if slide.hidden:
        yield Block("(This slide is hidden.)", place=place)
    for block in blocks:
        yield replace(block, level=0, place=place)
    notes = [block for block in slide.notes if block.text.strip()]
    for at, block in enumerate(notes):
        yield Block(f"Notes: {block.text}" if at == 0 else block.text, place=place)


def slides_document(file: SourceFile, slides: Sequence[Slide], *, meta: Metadata) -> ParsedDocument:
    """Return the document of slides; it says which are hidden, and which have no text."""
    blocks = {slide.number: list(slide_blocks(slide)) for slide in slides}
    hidden = ", ".join(str(slide.number) for slide in slides if slide.hidden)
    bare = [number for number, own in blocks.items() if not own]
    empty = ", ".join(map(str, bare[:20]))
    warnings = (
        *((f"Hidden slides, which are read, too: {hidden}.",) if hidden else ()),
        *((f"Slides without text: {empty}.",) if empty else ()),
    )
    content = assemble(chain(*blocks.values()))
    return file.document("slides", content, meta=meta, pages=len(slides), warnings=warnings)
