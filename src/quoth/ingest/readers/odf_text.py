"""The flow of OpenDocument text: paragraphs, headings, lists, tables, notes and text boxes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from quoth.ingest.readers.blocks import Block, normalize_whitespace, to_plain_text
from quoth.ingest.readers.list_marks import BULLET
from quoth.ingest.readers.odf_lists import NO_STYLES, ListStyles, OdfLists
from quoth.ingest.readers.rows import Cell, spanned_blocks
from quoth.ingest.readers.xml_parts import Element, attribute, local, walk, whole_number

CODE_STYLES = ("Preformatted", "Source", "Code")
"""How the names of styles of program text begin."""
SIGNS = ("mi", "mo", "mn", "mtext")
"""What an equation of MathML is written with."""
MAX_REPEATED = 1000
"""Spaces or columns that one element may stand for."""
SKIPPED = frozenset(
    [
        *("tracked-changes", "annotation", "annotation-end", "table-of-content", "index-title"),
        *(
            "alphabetical-index",
            "sequence-decls",
            "forms",
            "variable-decls",
            "desc",
            "event-listeners",
        ),
        *("shapes", "soft-page-break", "ruby-text"),
    ]
)
"""Left out: deleted text, comments, printed tables of contents, and what is no text."""


@dataclass(slots=True)
class _TableDraft:
    """The table that is being read; a cell that another one covers is in none of its rows."""

    rows: list[list[Cell]] = field(default_factory=list)
    cell: Cell | None = None
    in_header: bool = False


@dataclass(slots=True)
class _Flow:
    """The state of the walk. Notes and text boxes follow the paragraph that they stand in."""

    lists: OdfLists
    paragraphs: list[list[str]] = field(default_factory=list)
    deferred: list[Block] = field(default_factory=list)
    tables: list[_TableDraft] = field(default_factory=list)
    item: str = ""
    note: str = ""
    code: list[str] = field(default_factory=list)


def flow_blocks(
    root: Element,
    *,
    embedded: Callable[[str], Element | None] = lambda _address: None,
    styles: ListStyles = NO_STYLES,
    style: Callable[[Element], str] = lambda _paragraph: "",
) -> Iterator[Block]:
    """Return the blocks below an element.

    ``embedded`` returns the content of an object by its address, whose tables follow where it
    stands, ``style`` the name of a paragraph's style; ``styles`` are those of lists.
    """
    flow = _Flow(OdfLists(styles))
    for element, entering in walk(root, skip=SKIPPED):
        name = local(element)
        if entering:
            _enter(flow, element, name)
            if name == "object":
                _enter_object(flow, embedded(attribute(element, "href")))
        elif name in ("p", "h"):
            yield from _end_paragraph(flow, element, style(element))
        elif name == "table":
            table = flow.tables.pop()
            blocks = list(spanned_blocks(table.rows))
            if flow.tables and flow.tables[-1].cell is not None:
                flow.tables[-1].cell.texts.extend(block.text for block in blocks)
            else:
                yield from blocks
        else:
            _leave(flow, name)
        if not entering and flow.paragraphs and element.tail:
            flow.paragraphs[-1].append(element.tail)
    yield from _code(flow)
    yield from flow.deferred


def _enter_object(flow: _Flow, root: Element | None) -> None:
    """Read an equation within its line, and a chart or a sheet as the table that it shows."""
    if root is None:
        return
    if local(root) != "math":
        flow.deferred.extend(flow_blocks(root))
    elif flow.paragraphs:
        signs = (each.text or "" for each in root.iter() if local(each) in SIGNS)
        flow.paragraphs[-1].append(" ".join(filter(None, map(str.strip, signs))))


def _enter(flow: _Flow, element: Element, name: str) -> None:
    text = flow.paragraphs[-1] if flow.paragraphs else []
    if name in ("p", "h"):
        flow.paragraphs.append([element.text or ""])
        return
    if name == "s":
        text.append(" " * _repeated(element, "c"))
    elif name in ("tab", "line-break"):
        text.append("\t" if name == "tab" else "\n")
    elif name == "note-citation":
        flow.note = f"[{(element.text or '').strip()}] "
        text.append(flow.note.strip())
        return
    else:
        _enter_structure(flow, element, name)
    if element.text and flow.paragraphs:
        text.append(element.text)


def _enter_structure(flow: _Flow, element: Element, name: str) -> None:
    if name == "list":
        flow.lists.begin(element)
    elif name == "list-item":
        flow.item = flow.lists.item(element)
    elif name == "table":
        flow.tables.append(_TableDraft())
    elif name == "table-header-rows" and flow.tables:
        flow.tables[-1].in_header = True
    elif name == "table-row" and flow.tables:
        flow.tables[-1].rows.append([])
    elif name in ("table-cell", "covered-table-cell") and flow.tables:
        _enter_cell(flow.tables[-1], element, is_covered=name == "covered-table-cell")


def _enter_cell(table: _TableDraft, element: Element, *, is_covered: bool) -> None:
    columns = whole_number(element, "number-columns-spanned", default=1)
    rows = whole_number(element, "number-rows-spanned", default=1)
    table.cell = Cell(columns, rows, table.in_header)
    if table.rows and not is_covered:
        table.rows[-1].append(table.cell)


def _leave(flow: _Flow, name: str) -> None:
    if name == "list":
        flow.lists.end()
    elif name == "list-item":
        flow.item = ""
    elif name in ("table-cell", "covered-table-cell") and flow.tables:
        flow.tables[-1].cell = None
    elif name == "table-header-rows" and flow.tables:
        flow.tables[-1].in_header = False
    elif name == "note":
        flow.note = ""


def _end_paragraph(flow: _Flow, element: Element, style: str) -> Iterator[Block]:
    text = normalize_whitespace("".join(flow.paragraphs.pop()))
    is_code = style.startswith(CODE_STYLES) and not flow.paragraphs and not flow.tables
    if is_code:
        flow.code.append(text.expandtabs(4).rstrip())
        return
    text = "\n".join(filter(None, map(to_plain_text, text.split("\n"))))
    if flow.tables and flow.tables[-1].cell is not None:
        flow.tables[-1].cell.texts.append(text)
        return
    level = _level(element, style)
    if flow.paragraphs:  # a note or a text box within a paragraph
        flow.deferred.append(Block(flow.note + text))
        return
    yield from _code(flow)
    lead, flow.item = (flow.item, "") if text else ("", flow.item)
    if level:
        lead = "" if lead == BULLET else lead
    if text and local(element) == "h" and not flow.lists:
        lead = flow.lists.heading(element)
    yield Block(lead + text, level=level)
    deferred, flow.deferred = flow.deferred, []
    yield from deferred


def _code(flow: _Flow) -> Iterator[Block]:
    """Return the lines of code before this as one block."""
    if flow.code:
        yield Block("\n".join(flow.code))
        flow.code = []


def _level(element: Element, style: str) -> int:
    if local(element) == "h":
        return min(max(whole_number(element, "outline-level", default=1), 1), 6)
    return 1 if style == "Title" else 0


def _repeated(element: Element, name: str) -> int:
    """Return a count that an attribute gives, within bounds."""
    return min(whole_number(element, name, default=1), MAX_REPEATED)
