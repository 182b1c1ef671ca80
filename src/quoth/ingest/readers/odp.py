"""ODP: slides of OpenDocument."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from math import isfinite

from quoth.core.types import ParsedDocument
from quoth.ingest.readers.blocks import Block
from quoth.ingest.readers.odf_text import flow_blocks
from quoth.ingest.readers.odt import content_root, embedded_object, styles_of_lists
from quoth.ingest.readers.office_properties import office_properties
from quoth.ingest.readers.slides import MAX_GROUPS, Frame, Slide, enclose, slides_document
from quoth.ingest.readers.source_file import SourceFile
from quoth.ingest.readers.xml_parts import Element, attribute, below, local
from quoth.ingest.readers.zip_container import open_container

ReadBlocks = Callable[[Element], Iterator[Block]]
"""Returns the blocks below an element."""

_CENTIMETRES = {"cm": 1.0, "mm": 0.1, "in": 2.54, "pt": 2.54 / 72}


def read_odp(file: SourceFile) -> ParsedDocument:
    """Read slides: title, boxes from top to bottom, tables and notes of each."""
    container = open_container(file.data, name=file.name)
    root = content_root(container)
    hidden = {
        attribute(style, "name")
        for style in below(root, "style")
        if any(attribute(each, "visibility") == "hidden" for each in style)
    }
    blocks = partial(
        flow_blocks,
        embedded=lambda address: embedded_object(container, address),
        styles=styles_of_lists(container, root),
    )
    slides = [
        _slide(page, number, blocks, hidden=attribute(page, "style-name") in hidden)
        for number, page in enumerate(below(root, "page"), start=1)
    ]
    return slides_document(file, slides, meta=office_properties(container))


def _slide(page: Element, number: int, blocks: ReadBlocks, *, hidden: bool) -> Slide:
    title, notes, frames = "", [], []
    for element in page:
        name = local(element)
        if name == "notes":
            notes = [
                block
                for frame in element
                if attribute(frame, "class") == "notes"
                for block in blocks(frame)
            ]
        elif attribute(element, "class") == "title" and not title:
            title = " ".join(block.text for block in blocks(element))
        elif name != "forms" and attribute(element, "class") not in ("page-number", "date-time"):
            frames.append(_frame(element, blocks, depth=0))
    return Slide(number, title, frames, notes, hidden=hidden)


def _frame(element: Element, blocks: ReadBlocks, *, depth: int) -> Frame:
    if local(element) == "g" and depth < MAX_GROUPS:
        return enclose([_frame(each, blocks, depth=depth + 1) for each in element])
    edges = (attribute(element, name) for name in ("x", "y", "width", "height"))
    left, top, width, height = map(_length, edges)
    return Frame(left, top, width, height, list(blocks(element)))


def _length(text: str) -> float:
    """Return a length in centimetres, 0 for none."""
    try:
        length = float(text[:-2]) * _CENTIMETRES[text[-2:]]
    except (ValueError, KeyError):
        return 0.0
    return length if isfinite(length) else 0.0
