"""Org: headings, prose without its markup, and code as it is, with line numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from quoth.core.types import ParsedDocument
from quoth.ingest.readers.blocks import Block, assemble, counted, to_plain_text
from quoth.ingest.readers.dates import normalize_date
from quoth.ingest.readers.marked_up import (
    Paragraph,
    block,
    code_block,
    paragraphs,
    prose,
    without_markup,
)
from quoth.ingest.readers.metadata import Metadata, normalize_language
from quoth.ingest.readers.rows import table_blocks
from quoth.ingest.readers.source_file import SourceFile

_HEADING = re.compile(
    r"(\*{1,8})\s+(?:(?:TODO|DONE|NEXT|WAITING)\s+)?(?:\[#[A-Z]\]\s+)?(.*?)(?:(?<!\s)\s+:[\w:@]+:)?$"
)
_KEYWORD = re.compile(r"#\+(?P<key>\w+):\s*(?P<value>.*)$")
_BEGIN = re.compile(r"\s*#\+begin_(?P<name>\w+)", re.IGNORECASE)
_END = re.compile(r"\s*#\+end_", re.IGNORECASE)
_DRAWER = re.compile(
    r"\s*(?::(?:PROPERTIES|LOGBOOK|END|[A-Z_]+):.*|:[\w-]+:\s.*|#(?:\s.*)?|#\+\w+:.*|-{5,})$"
)
_ROW = re.compile(r"\s*\|")
_ITEM = re.compile(r"^\s*(?:[-+]|\d{1,3}[.)])\s+\S")
_INLINE = (
    (re.compile(r"^(\d{1,3}[.)] )\[@\d{1,3}\] "), r"\1"),  # the number that it says is there
    (re.compile(r"\[\[[^\[\]]{1,500}\]\[([^\[\]]{1,300})\]\]"), r"\1"),
    (re.compile(r"\[\[([^\[\]]{1,500})\]\]"), r"\1"),
    (re.compile(r"\[fn:(\w{1,30})\]"), r"[\1]"),
    (re.compile(r"(?<![\w*/=~+])([*/=~+])(?=\S)([^*=~+\n]{1,300}?)(?<=\S)\1(?![\w*/=~+])"), r"\2"),
)


def read_org(file: SourceFile) -> ParsedDocument:
    """Read an Org file with what its keywords say of it."""
    lines = file.text.split("\n")
    stated = {
        m["key"].lower(): m["value"].strip() for line in lines[:60] if (m := _KEYWORD.match(line))
    }
    meta = Metadata(
        title=stated.get("title") or None,
        speaker=stated.get("author") or None,
        language=normalize_language(stated.get("language", "")),
        date=normalize_date(stated.get("date", "").strip("<>[]")[:10]),
    )
    return file.document("text", assemble(_blocks(lines)), meta=meta)


def _blocks(lines: list[str]) -> Iterator[Block]:
    pending: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        heading, begin = _HEADING.match(line), _BEGIN.match(line)
        if heading is None and begin is None:
            pending.append("" if _DRAWER.match(line) else line)
            at += 1
            continue
        yield from _text(pending, at + 1 - len(pending))
        pending = []
        at += 1
        if heading is not None:
            yield block(to_plain_text(plain(heading[2])), at, level=min(len(heading[1]), 6))
        elif begin is not None:
            end = next((n for n in range(at, len(lines)) if _END.match(lines[n])), len(lines))
            yield from _marked(begin["name"].lower(), lines[at:end], at + 1)
            at = end + 1
    yield from _text(pending, at + 1 - len(pending))


def _marked(name: str, lines: list[str], first: int) -> Iterator[Block]:
    if name in ("src", "example", "export", "verse"):
        yield from code_block(lines, first)
    elif name != "comment":
        yield from _text(lines, first)


def _text(lines: list[str], first: int) -> Iterator[Block]:
    for part in paragraphs(lines, first=first):
        number = part.number
        for is_table, run in groupby(part.lines, key=lambda line: bool(_ROW.match(line))):
            piece = Paragraph(number, tuple(run))
            number += len(piece.lines)
            yield from _table(piece) if is_table else prose(piece, plain, _ITEM)


def _table(part: Paragraph) -> Iterator[Block]:
    rows = [line.strip()[1:] for line in part.lines]
    cells = [row.rstrip("|").split("|") for row in rows if not row.startswith("-")]
    ruled = len(rows) > 1 and rows[1].startswith("-")
    place = counted("line", part.number, part.number + len(rows) - 1)
    yield from table_blocks(
        [[plain(cell) for cell in row] for row in cells], header=ruled or None, place=place
    )


def plain(text: str) -> str:
    """Return a line without its markup."""
    return without_markup(text, _INLINE)
