"""DOCX: Word documents, turned into HTML by mammoth and read as a page."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from posixpath import join, normpath

import mammoth
from selectolax.lexbor import LexborHTMLParser, LexborNode

from quoth.core.errors import DocumentError
from quoth.core.types import ParsedDocument
from quoth.ingest.readers.blocks import assemble, to_plain_text
from quoth.ingest.readers.charts import DIAGRAM, chart_blocks, diagram_blocks
from quoth.ingest.readers.division_paragraphs import with_division_sections
from quoth.ingest.readers.docx_numbers import (
    WordNumbers,
    number_paragraphs,
    remove_numbered_levels,
)
from quoth.ingest.readers.html import body_blocks, parse_html
from quoth.ingest.readers.metadata import Metadata
from quoth.ingest.readers.numbered_titles import with_numbered_titles
from quoth.ingest.readers.office_properties import office_properties
from quoth.ingest.readers.office_rewrite import rewritten, set_equations
from quoth.ingest.readers.rows import Cell, mark_header
from quoth.ingest.readers.source_file import SourceFile
from quoth.ingest.readers.xml_parts import (
    XML_FAULTS,
    Element,
    SubElement,
    attribute,
    local,
    whole_number,
)
from quoth.ingest.readers.zip_container import ZipContainer, open_container

WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
PARAGRAPH = f"{WORD}p"
RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_RELATIONS = "word/_rels/document.xml.rels"
STYLES = """
p[style-name='Title'] => h1.title:fresh
p[style-name='Subtitle'] => p:fresh
p[style-name^='toc '] => !
p[style-name^='TOC '] => !
p[style-name='Source Code'] => pre:separator('\\n')
p[style-name='HTML Preformatted'] => pre:separator('\\n')
"""
_UNREAD = ("word/media/", "word/embeddings/", "word/fonts/", "docProps/thumbnail")
NUMBERING, _STYLES = "word/numbering.xml", "word/styles.xml"
_CHANGED = r"(?:(?:document|footnotes|endnotes)\d*|numbering)\.xml"


def read_docx(file: SourceFile) -> ParsedDocument:
    """Read a Word document; raises DocumentError.

    Tracked changes are read as accepted, comments are left out, notes follow what refers to them.
    """
    container = open_container(file.data, name=file.name)
    container.check_xml()
    prepare = partial(
        _prepare,
        drawn=partial(_drawn, container, _targets(container)),
        numbering=container.xml(NUMBERING) if container.has(NUMBERING) else None,
        styles=container.xml(_STYLES) if container.has(_STYLES) else None,
    )
    prepared = rewritten(container, prepare, changes=_is_changed, unread=_UNREAD)
    try:
        page = mammoth.convert_to_html(prepared, style_map=STYLES, convert_image=_no_image).value
    except (*XML_FAULTS, AttributeError, TypeError, OSError, RecursionError) as error:
        raise DocumentError(
            "damaged", f"{file.name} is damaged: {type(error).__name__} {error}; repair the file."
        ) from None
    tree = parse_html(page)
    _move_notes(tree)
    title = tree.css_first("h1.title")
    shown = to_plain_text(title.text(deep=True) or "") if title else ""
    meta = office_properties(container)
    # "Rules 2025" among the properties tells more than "Rules" above the text.
    if f" {shown} ".casefold() not in f" {meta.title or ''} ".casefold():
        meta = Metadata(title=shown or None).merged_with(meta)
    blocks = with_division_sections(with_numbered_titles(body_blocks(tree)))
    return file.document("document", assemble(blocks), meta=meta)


def _move_notes(tree: LexborHTMLParser) -> None:
    """Move each note from the end of the converter's page to below the block that refers to it."""
    for link in tree.css("a[href^='#footnote-ref'], a[href^='#endnote-ref']"):
        link.decompose()
    notes = {note.id: note for note in tree.css("li[id^='footnote-'], li[id^='endnote-']")}
    last: dict[int, LexborNode] = {}
    for link in tree.css("a[id^='footnote-ref'], a[id^='endnote-ref']"):
        note = notes.pop((link.attrs["href"] or "").removeprefix("#"), None)
        block: LexborNode | None = link
        while block is not None and block.parent is not None and block.parent.tag != "body":
            block = block.parent
        del link.attrs["id"]  # of the converter's page, no bookmark of the document
        if note is None or block is None:
            continue
        mark = f"{link.text()} "
        for part in list(note.iter()):
            before = last.get(block.mem_id, block)
            before.insert_after(part)
            moved = before.next
            if moved is None:
                break
            if mark and moved.child is not None:
                moved.child.insert_before(mark)
                mark = ""
            last[block.mem_id] = moved
        note.decompose()
    for note in notes.values():
        del note.attrs["id"]


def _no_image(_image: object) -> list[object]:
    return []


def _prepare(
    root: Element,
    *,
    drawn: Callable[[Element], list[str]],
    numbering: Element | None,
    styles: Element | None,
) -> None:
    """Turn equations, numbers and what is drawn, which the converter leaves out, into text.

    Header rows are marked.
    """
    if local(root) == "numbering":
        remove_numbered_levels(root)
        return
    set_equations(root, namespace=WORD)
    _mark_headers(root)
    if numbering is not None:
        _write_numbers(root, WordNumbers(numbering, styles))
    for parent in list(root.iter()):
        for at, child in reversed([*enumerate(parent)]):
            if child.tag == PARAGRAPH and len([*child.iter(PARAGRAPH)]) == 1:
                for offset, text in enumerate(drawn(child), start=1):
                    paragraph = Element(PARAGRAPH)
                    SubElement(SubElement(paragraph, f"{WORD}r"), f"{WORD}t").text = text
                    parent.insert(at + offset, paragraph)


def _write_numbers(root: Element, numbers: WordNumbers) -> None:
    """Write the numbers of paragraphs into their text."""
    for paragraph, label in list(number_paragraphs(root, numbers)):
        if any((each.text or "").strip() for each in paragraph.iter(f"{WORD}t")):
            run = Element(f"{WORD}r")
            SubElement(run, f"{WORD}t").text = f"{label} "
            paragraph.insert(1, run)  # The first child has the properties.


def _targets(container: ZipContainer) -> Mapping[str, str]:
    """Return the parts that the document's text refers to, by their names there."""
    named = container.relations(_RELATIONS).items()
    return {key: normpath(join("word", target)).removeprefix("/") for key, target in named}


def _drawn(container: ZipContainer, targets: Mapping[str, str], paragraph: Element) -> list[str]:
    """Return the texts of the charts and diagrams that stand in a paragraph."""
    found: list[str] = []
    for each in paragraph.iter():
        chart = each.get(RELATION) if local(each) == "chart" else None
        member = targets.get(chart or each.get(DIAGRAM) or "", "")
        if member and container.has(member):
            root = container.xml(member)
            blocks = chart_blocks(root) if chart else diagram_blocks(root)
            found += [block.text for block in blocks if block.text]
    return found


def _is_changed(member: str) -> bool:
    return member.startswith("word/") and re.fullmatch(_CHANGED, member[5:]) is not None


def _mark_headers(root: Element) -> None:
    """Mark the first rows of a table as its header where they look like one."""
    for table in root.iter(f"{WORD}tbl"):
        rows = list(table.iter(f"{WORD}tr"))
        if any(attribute_set(row) for row in table.iter(f"{WORD}trPr")):
            continue
        cells = [[_cell(cell) for cell in row.iter(f"{WORD}tc")] for row in rows]
        mark_header(cells)
        for row, own in zip(rows, cells, strict=True):
            if any(cell.is_header for cell in own):
                properties = row.find(f"{WORD}trPr")
                if properties is None:
                    properties = Element(f"{WORD}trPr")
                    row.insert(0, properties)
                SubElement(properties, f"{WORD}tblHeader")


def attribute_set(properties: Element) -> bool:
    """Return whether the properties of a row say that it is a header."""
    header = properties.find(f"{WORD}tblHeader")
    return header is not None and attribute(header, "val") not in ("0", "false", "off")


def _cell(cell: Element) -> Cell:
    text = to_plain_text("".join(each.text or "" for each in cell.iter(f"{WORD}t")))
    span = cell.find(f"{WORD}tcPr/{WORD}gridSpan")
    return Cell(1 if span is None else whole_number(span, "val", default=1), texts=[text])
