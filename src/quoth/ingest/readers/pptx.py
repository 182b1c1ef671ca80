"""PPTX: PowerPoint slides."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Iterator
from typing import Any

from pptx import Presentation
from pptx.exc import PythonPptxError
from pptx.util import Length

from quoth.core.errors import DocumentError
from quoth.core.types import ParsedDocument
from quoth.ingest.readers.blocks import Block, normalize_whitespace, to_plain_text
from quoth.ingest.readers.charts import DIAGRAM, chart_blocks, diagram_blocks
from quoth.ingest.readers.list_numbers import ListLevel, NumberedList
from quoth.ingest.readers.office_properties import office_properties
from quoth.ingest.readers.office_rewrite import choose_content, rewritten, set_equations
from quoth.ingest.readers.rows import Cell, mark_header, spanned_blocks
from quoth.ingest.readers.slides import (
    MAX_GROUPS,
    Frame,
    Slide,
    blocks_in_order,
    slides_document,
)
from quoth.ingest.readers.source_file import SourceFile
from quoth.ingest.readers.xml_parts import Element, parse_xml, whole_number
from quoth.ingest.readers.zip_container import open_container

DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"


_NUMBERED = re.compile(r"(arabic|alphaLc|alphaUc|romanLc|romanUc)(Period|ParenBoth|ParenR|Plain)$")
_KINDS = {
    "arabic": "decimal",
    "alphaLc": "lowerLetter",
    "alphaUc": "upperLetter",
    "romanLc": "lowerRoman",
    "romanUc": "upperRoman",
}


def read_pptx(file: SourceFile) -> ParsedDocument:
    """Read slides: title, shapes, tables, charts and notes; raises DocumentError."""
    container = open_container(file.data, name=file.name)
    container.check_xml()
    try:
        deck = Presentation(rewritten(container, _prepare, changes=_is_slide))
        slides = [_slide(each, number) for number, each in enumerate(deck.slides, start=1)]
    except _FAULTS as error:
        raise DocumentError(
            "damaged", f"{file.name} is damaged: {type(error).__name__} {error}; repair the file."
        ) from None
    return slides_document(file, slides, meta=office_properties(container))


_FAULTS = (
    *(PythonPptxError, SyntaxError, zipfile.BadZipFile, KeyError, ValueError, AttributeError),
    *(TypeError, IndexError, OSError, NotImplementedError, AssertionError, RecursionError),
    OverflowError,
)
"""What the library raises over damaged files."""


def _prepare(root: Element) -> None:
    """Turn equations and what they are packed in, which the library overlooks, into text."""
    choose_content(root)
    set_equations(root, namespace=DRAWING)


def _is_slide(member: str) -> bool:
    return member.startswith(("ppt/slides/slide", "ppt/notesSlides/notes")) and member.endswith(
        ".xml"
    )


def _slide(slide: Any, number: int) -> Slide:
    title = slide.shapes.title
    notes: list[Block] = []
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        notes = list(_paragraphs(slide.notes_slide.notes_text_frame))
    frames = [
        _frame(shape, depth=0)
        for shape in slide.shapes
        if title is None or shape.shape_id != title.shape_id
    ]
    shown = _clean(title.text_frame.text) if title is not None else ""
    return Slide(number, shown, frames, notes, hidden=slide.element.get("show") == "0")


def _frame(shape: Any, *, depth: int) -> Frame:
    left, top, width, height = map(_cm, (shape.left, shape.top, shape.width, shape.height))
    blocks = list(_shape_blocks(shape, depth=depth))
    return Frame(left, top, width, height, blocks)


def _shape_blocks(shape: Any, *, depth: int) -> Iterable[Block]:
    """Return the text of a shape; a group has coordinates of its own."""
    if hasattr(shape, "shapes"):
        inner = shape.shapes if depth < MAX_GROUPS else ()
        return blocks_in_order([_frame(each, depth=depth + 1) for each in inner])
    if shape.has_text_frame:
        if shape.is_placeholder and shape.placeholder_format.type in (13, 16):
            return ()  # the number of the slide, and the date
        return _paragraphs(shape.text_frame)
    if getattr(shape, "has_table", False):
        return _table_blocks(shape.table)
    if getattr(shape, "has_chart", False):
        return chart_blocks(_xml(shape.chart_part))
    diagrams = (each.get(DIAGRAM) for each in shape.element.iter() if each.get(DIAGRAM))
    parts = (shape.part.related_part(each) for each in diagrams)
    return [block for part in parts for block in diagram_blocks(_xml(part))]


def _xml(part: Any) -> Element:
    return parse_xml(part.blob, name=str(part.partname))


def _table_blocks(table: Any) -> Iterable[Block]:
    try:
        rows = [
            [
                Cell(cell.span_width, cell.span_height, texts=[_clean(cell.text)])
                for cell in row.cells
                if not cell.is_spanned
            ]
            for row in table.rows
        ]
    except ValueError:  # spans that are no numbers
        rows = [[Cell(texts=[_clean(cell.text)]) for cell in row.cells] for row in table.rows]
    mark_header(rows)
    if table.first_row and len(rows) > 1:
        for cell in rows[0]:
            cell.is_header = True
    return spanned_blocks(rows)


def _paragraphs(frame: Any) -> Iterator[Block]:
    numbers: dict[int, NumberedList] = {}
    for paragraph in frame.paragraphs:
        text = _clean(paragraph.text)
        if text:
            level = paragraph.level
            numbers = {above: own for above, own in numbers.items() if above <= level}
            lead = _number(paragraph, numbers) or ("- " if level else "")
            yield Block(f"{lead}{text}")


def _number(paragraph: Any, numbers: dict[int, NumberedList]) -> str:
    """Return "3. " where a paragraph is numbered; ``numbers`` are the open lists by their level."""
    stated = paragraph._p.find(f"{DRAWING}pPr/{DRAWING}buAutoNum")
    kind = _NUMBERED.match(stated.get("type", "")) if stated is not None else None
    before = numbers.pop(paragraph.level, None)
    if kind is None:
        return ""
    level = ListLevel(
        whole_number(stated, "startAt", default=1),
        _KINDS[kind[1]],
        {"ParenBoth": "(%1)", "ParenR": "%1)", "Plain": "%1"}.get(kind[2], "%1."),
    )
    own = before if before is not None and before.levels[0] == level else NumberedList({0: level})
    numbers[paragraph.level] = own
    return f"{own.next(0)} "


def _clean(text: str) -> str:
    lines = normalize_whitespace(text).split("\n")
    return "\n".join(filter(None, map(to_plain_text, lines)))


def _cm(length: Length | None) -> float:
    return 0.0 if length is None else length.cm
