"""ODP: slides of OpenDocument."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import isfinite

from quoth.core.types import Pages, ParsedDocument
from quoth.ingest.readers.blocks import Block, assemble
from quoth.ingest.readers.odf_lists import ListStyles
from quoth.ingest.readers.odf_text import flow_blocks
from quoth.ingest.readers.odt import content_root, embedded_object, styles_of_lists
from quoth.ingest.readers.office_properties import office_properties
from quoth.ingest.readers.slides import (
    MAX_GROUPS,
    Frame,
    Slide,
    enclose,
    slide_blocks,
    slides_warnings,
)
from quoth.ingest.readers.source_file import SourceFile
from quoth.ingest.readers.xml_parts import Element, attribute, local
from quoth.ingest.readers.zip_container import open_container

_CENTIMETRES = {"cm": 1.0, "mm": 0.1, "in": 2.54, "pt": 2.54 / 72}


def read_odp(file: SourceFile) -> ParsedDocument:
    """Read slides: title, boxes from top to bottom, tables and notes of each."""
    container = open_container(file.data, name=file.name)
    root = content_root(container)
    hidden = {
        attribute(style, "name")
        for style in root.iter()
        if local(style) == "style"
        and any(attribute(each, "visibility") == "hidden" for each in style)
    }
    styles = styles_of_lists(container, root)
    pages = [each for each in root.iter() if local(each) == "page"]
    slides = [
        _slide(
            page,
            number,
            hidden=attribute(page, "style-name") in hidden,
            styles=styles,
            embedded=lambda address: embedded_object(container, address),
        )
        for number, page in enumerate(pages, start=1)
    ]
    return file.document(
        "slides",
        assemble(block for slide in slides for block in slide_blocks(slide)),
        meta=office_properties(container),
        pages=len(slides),
        warnings=slides_warnings(slides),
    )


def _slide(
    page: Element,
    number: int,
    *,
    hidden: bool,
    styles: ListStyles,
    embedded: Callable[[str], Element | None],
) -> Slide:
    place = Pages(number, number, str(number), str(number), unit="slide")

    def blocks(element: Element) -> Iterator[Block]:
        return flow_blocks(
            element,
            place=place,
            embedded=embedded,
            styles=styles,
        )

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


def _frame(element: Element, blocks: Callable[[Element], Iterable[Block]], *, depth: int) -> Frame:
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
