"""RTF: the text, read as plain text."""

from __future__ import annotations

import re

from striprtf.striprtf import rtf_to_text

from quoth.core.errors import DocumentError
from quoth.core.types import ParsedDocument
from quoth.ingest.readers.blocks import Block, assemble, normalize_whitespace
from quoth.ingest.readers.dates import normalize_date
from quoth.ingest.readers.division_paragraphs import with_division_sections
from quoth.ingest.readers.metadata import Metadata
from quoth.ingest.readers.numbered_titles import with_numbered_titles
from quoth.ingest.readers.rows import table_blocks
from quoth.ingest.readers.source_file import SourceFile

MAX_BYTES = 30 << 20

_INFO = re.compile(rb"\{\\(title|author)\s+([^{}\\]{1,200})\}")
_REVISED = re.compile(rb"\{\\(?:revtim|creatim)\\yr(\d{4})\\mo(\d{1,2})\\dy(\d{1,2})")
_PICTURE = re.compile(rb"(?:[0-9a-fA-F]{60,}\s*)+")
_OUTLINE = re.compile(rb"\\outlinelevel([0-8])(?![0-9]) ?")
_HEADING = re.compile("\ue000([0-8])\ue001")
_PAR = re.compile(rb"\\par\b")
_GROUP = re.compile(
    rb"\{(?:(?P<note>(?:\\\*)?\\(?:footnote|endnote)\b ?)|\\shp(?=[{\\ ])"
    rb"|(?:\\[a-z]{1,32}-?\d{0,10} ?){0,40}?\\deleted\b)"
)
"""A note, a shape or deleted text."""
_BOX = re.compile(rb"\{\\shptxt\b ?")
_BULLET = re.compile("[\uf000-\uf0ff\u2022\u00b7]\t")
_BRACE = re.compile(rb"\\[{}\\]|[{}]")
_HIDDEN = re.compile(rb"\{\\\*\\(?:annotation|atnid|atnauthor|atndate|atnref)\b[^{}]*\}")


def read_rtf(file: SourceFile) -> ParsedDocument:
    """Read an RTF file: paragraphs, and rows of tables; it does not say what a heading is."""
    data = _HIDDEN.sub(b"", _PICTURE.sub(b"", file.data))
    if len(data) > MAX_BYTES:
        raise DocumentError(
            "too_large", f"{file.name} has more than {MAX_BYTES >> 20} MB of RTF text; split it."
        )
    try:
        text = rtf_to_text(_marked(data).decode("latin-1"), errors="replace")
    except (ValueError, LookupError, IndexError, TypeError) as error:
        raise DocumentError(
            "damaged", f"{file.name} is damaged: it is no RTF that can be read ({error})."
        ) from None
    blocks: list[Block] = []
    rows: list[list[str]] = []
    for line in normalize_whitespace(text).replace("\n|", "|").split("\n"):
        if line.count("|") > 1 or (rows and "|" in line):
            rows.append(line.rstrip().rstrip("|").split("|"))
            continue
        blocks += table_blocks(rows)
        rows = []
        heading = _HEADING.match(line)
        level = int(heading[1]) + 1 if heading else 0
        blocks.append(Block(_BULLET.sub("- ", _HEADING.sub("", line)).strip(), level=min(level, 6)))
    blocks += table_blocks(rows)
    info = {each[1].decode(): each[2].decode("latin-1").strip() for each in _INFO.finditer(data)}
    revised = _REVISED.search(data)
    meta = Metadata(
        title=info.get("title") or None,
        speaker=info.get("author") or None,
        date=normalize_date("-".join(part.decode() for part in revised.groups()))
        if revised
        else None,
    )
    return file.document(
        "document", assemble(with_division_sections(with_numbered_titles(blocks))), meta=meta
    )


def _marked(data: bytes) -> bytes:
    """Mark headings by their level, set notes and text boxes in brackets, leave out deletions."""
    data = _OUTLINE.sub(rb"{\\uc1\\u57344?\1\\u57345?}", data)
    parts: list[bytes] = []
    position = 0
    for group in _GROUP.finditer(data):
        if group.start() < position:
            continue
        end = _group_end(data, group.end())
        parts.append(data[position : group.start()])
        for inner in [group] if group["note"] else _BOX.finditer(data, group.start(), end):
            inside = data[inner.end() : _group_end(data, inner.end())]
            parts += [b"{ [", _PAR.sub(b" ", inside), b"]}"]
        position = end + 1
    return b"".join([*parts, data[position:]])


def _group_end(data: bytes, start: int) -> int:
    """Return where the group ends whose content begins here."""
    depth = 1
    for brace in _BRACE.finditer(data, start):
        depth += {b"{": 1, b"}": -1}.get(brace[0], 0)
        if depth == 0:
            return brace.start()
    return len(data)
