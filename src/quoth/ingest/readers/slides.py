"""Slides as text: title, boxes in reading order, notes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from quoth.core.types import Pages
from quoth.ingest.readers.blocks import Block, to_plain_text

SAME_LINE_CM = 1.0
"""Boxes whose upper edges are no further apart stand beside each other."""
MAX_TITLE = 120


@dataclass(frozen=True, slots=True)
class Frame:
    """A box of a slide, with its upper left corner in centimetres."""

    top: float
    left: float
    blocks: Sequence[Block]


@dataclass(frozen=True, slots=True)
class Slide:
    """A slide, counted from 1."""

    number: int
    title: str
    frames: Sequence[Frame]
    notes: Sequence[Block]
    hidden: bool = False


def slide_blocks(slide: Slide) -> Iterator[Block]:
    """Return the blocks of a slide: its title is a heading, its notes are said to be notes."""
    number = str(slide.number)
    place = Pages(slide.number, slide.number, number, number, unit="slide")
    title = to_plain_text(slide.title)
    frames = sorted(slide.frames, key=lambda each: (round(each.top / SAME_LINE_CM), each.left))
    blocks = [block for frame in frames for block in frame.blocks if block.text.strip()]
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


def slides_warnings(slides: Sequence[Slide]) -> tuple[str, ...]:
    """Return what has to be said about hidden slides, and about slides without text."""
    hidden = ", ".join(str(slide.number) for slide in slides if slide.hidden)
    bare = [slide.number for slide in slides if not list(slide_blocks(slide))]
    empty = ", ".join(map(str, bare[:20]))
    return (
        *((f"Hidden slides, which are read, too: {hidden}.",) if hidden else ()),
        *((f"Slides without text: {empty}.",) if empty else ()),
    )
