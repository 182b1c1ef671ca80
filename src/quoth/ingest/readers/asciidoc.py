"""AsciiDoc: sections, prose without its markup, and code as it is, with line numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

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
from quoth.ingest.readers.metadata import Metadata
from quoth.ingest.readers.rows import table_blocks
from quoth.ingest.readers.source_file import SourceFile

_TITLE = re.compile(r"(={1,6})\s+(\S.*?)(?:(?<!\s)\s+=+)?$")
_UNDERLINE = re.compile(r"(?:={3,}|-{3,}|~{3,}|\^{3,}|\+{3,})$")
_LETTER = re.compile(r"\w")
MAX_UNEVEN = 1
"""Characters by which a title may be shorter or longer than the line that underlines it."""
_FENCE = re.compile(r"(-{4,}|\.{4,}|`{3,}|\+{4,}|/{4,}|\|={3,})(?:\w*)\s*$")
_DROPPED = re.compile(
    r"(?:\[.*\]|:[\w-]+!?:.*|//.*|(?:include|image|ifdef|ifndef|endif)::.*|<<<|\+|'''|={4,}|\*{4,}"
    r"|_{4,}|--)\s*$"
)
_ATTRIBUTES = re.compile(r"\[.*\]$")
_ATTRIBUTE = re.compile(r":(author|revdate|lang):\s+(.+)$")
_DEFINED = re.compile(r":([\w-]+):\s+(\S.{0,199})$")
_REFERENCE = re.compile(r"(?<!\\)\{([\w-]+)\}")
_CAPTION = re.compile(r"^\.(?=[\w\"'])")
_ITEM = re.compile(r"^\s*(?:[*.]{1,5}|-|\d{1,3}\.|\S.{0,80}?::)\s+\S")
_COLUMNS = re.compile(r'\[.*\bcols="?([^"\]]+)')
_START = re.compile(r"\[(?:.*,)?\s*start=\"?(\d{1,4})\b")
_TIMES = re.compile(r"\s*(\d{1,2})\*")
_MARK = re.compile(r"\s*([*.]{1,5}|-)\s+(?=\S)")
_MACRO = r"\b(?:link|xref|mailto|image|icon):[^\s\[\]]{1,300}"
_LINK = rf"(?:(?:link:|xref:)?https?://[^\s\[\]]{{1,500}}|{_MACRO})\[([^\]]{{1,300}})\]"
_INLINE = (
    (re.compile(r"\bfootnote:\w*\[([^\]]{1,500})\]"), r" [\1]"),
    (re.compile(r"\b(?:kbd|menu|btn|stem|latexmath|pass):\w*\[([^\]]{1,500})\]"), r"\1"),
    (re.compile(_LINK), r"\1"),
    (re.compile(r"<<[^<>,]{1,200},\s*([^<>]{1,200})>>"), r"\1"),
    (re.compile(r"<<([^<>,]{1,200})>>"), r"\1"),
    (re.compile(r"(?<![\w*])\*{1,2}(?=\S)([^*]{1,300}?)(?<=\S)\*{1,2}(?!\w)"), r"\1"),
    (re.compile(r"(?<![\w_])_{1,2}(?=\S)([^_]{1,300}?)(?<=\S)_{1,2}(?!\w)"), r"\1"),
    (re.compile(r"(?<![\w`])[`+]{1,2}(?=\S)([^`+]{1,300}?)(?<=\S)[`+]{1,2}(?!\w)"), r"\1"),
    (re.compile(r"\[\[[\w, .-]{1,100}\]\]|\{nbsp\}"), ""),
    (re.compile(r"^\s*[*.]{1,5}\s+"), "- "),
)


def read_asciidoc(file: SourceFile) -> ParsedDocument:
    """Read AsciiDoc; the first title is the document's."""
    lines = file.text.split("\n")
    defined = {m[1]: m[2].strip() for line in lines if (m := _DEFINED.match(line))}
    blocks = list(_blocks(lines, defined))
    stated = {m[1]: m[2].strip() for line in lines[:40] if (m := _ATTRIBUTE.match(line))}
    meta = Metadata(
        title=next((each.text for each in blocks if each.level), None),
        speaker=stated.get("author"),
        date=normalize_date(stated.get("revdate", "")),
    )
    return file.document("text", assemble(blocks), meta=meta)


def _blocks(lines: list[str], defined: Mapping[str, str]) -> Iterator[Block]:
    """Return the blocks of the text; ``defined`` are texts by the names that refer to them."""

    def shown(own: Sequence[str]) -> list[str]:
        return [_REFERENCE.sub(lambda m: defined.get(m[1], m[0]), line) for line in own]

    at = begin = 0
    items: list[tuple[str, int]] = []
    underlines = _underlines(lines)
    while at <= len(lines):
        begins = at < len(lines) and not (at > begin and at in underlines)
        fence = _FENCE.match(lines[at]) if begins else None
        if fence is None and at < len(lines):
            at += 1
            continue
        for part in paragraphs(shown(lines[begin:at]), first=begin + 1):
            yield from _text(part, items)
        if fence is None:
            return
        end = next(
            (n for n in range(at + 1, len(lines)) if lines[n].rstrip() == fence[1]), len(lines)
        )
        above = lines[at - 1] if at else ""
        inner = lines[at + 1 : end]
        inner = shown(inner) if fence[1].startswith("|") else inner
        yield from _fenced(fence[1], inner, at + 2, columns=_columns(above))
        at = begin = end + 1


def _underlines(lines: Sequence[str]) -> set[int]:
    """Return the lines below titles: those that the next one of their signs does not close.

    That one closes a listing if it is below a line of text that is no title itself.
    """
    found: set[int] = set()
    later: dict[str, int] = {}
    for at in range(len(lines) - 1, 0, -1):
        signs = lines[at].rstrip()
        if not _UNDERLINE.match(signs):
            continue
        after = later.get(signs, at)
        above = lines[after - 1].strip()
        opens = not above or _ATTRIBUTES.match(above) or _CAPTION.match(above)
        if _is_title(lines[at - 1], signs) and (after == at or after in found or opens):
            found.add(at)
        later[signs] = at
    return found


def _is_title(line: str, below: str) -> bool:
    """Return whether a line is a title that the one below it underlines."""
    marked = any(mark.match(line) for mark in (_DROPPED, _CAPTION, _MARK))
    named = line[:1].strip() and not marked
    alike = abs(len(line.rstrip()) - len(below.rstrip())) <= MAX_UNEVEN
    return bool(named and alike and _LETTER.search(line) and _UNDERLINE.match(below.rstrip()))


def _fenced(fence: str, lines: list[str], first: int, *, columns: int) -> Iterator[Block]:
    if fence.startswith("|"):
        yield from _table(lines, first, columns=columns)
    elif not fence.startswith("/"):
        yield from code_block(lines, first)


def _columns(line: str) -> int:
    """Return the number of columns that a table's attributes state, else 0."""
    stated = _COLUMNS.match(line)
    parts = stated[1].split(",") if stated else ()
    return sum(int(times[1]) if (times := _TIMES.match(part)) else 1 for part in parts)


def _table(lines: list[str], first: int, *, columns: int) -> Iterator[Block]:
    """Return the rows of a table: as many cells each as is stated, or as the first line has."""
    rows = [_cells(line) for line in lines if line.strip()]
    width = columns or (len(rows[0]) if rows else 0)
    if width > 1 and any(len(row) != width for row in rows):
        flat = [cell for row in rows for cell in row]
        rows = [flat[at : at + width] for at in range(0, len(flat), width)]
    head = next((at for at, line in enumerate(lines) if not line.strip()), 0)
    header = sum(len(_cells(line)) for line in lines[:head]) == width > 0
    place = counted("line", first, first + len(lines))
    yield from table_blocks(rows, header=header or None, place=place)


def _cells(line: str) -> list[str]:
    return [plain(cell.strip()) for cell in re.split(r"(?:^|\s)[\w.^<>+*]{0,8}\|", line)[1:]]


def _numbered(line: str, items: list[tuple[str, int]], *, start: int) -> str:
    """Write the number of an item; ``items`` are the marks of the open lists, with their counts.

    A list that begins here does so with the number ``start``.
    """
    found = _MARK.match(line)
    if found is None:
        return line
    mark = found[1]
    at = next((at for at, (own, _) in enumerate(items) if own == mark), len(items))
    count = items[at][1] + 1 if at < len(items) else start
    items[at:] = [(mark, count)]
    return f"{count}. {line[found.end() :]}" if mark.startswith(".") else line


def _text(part: Paragraph, items: list[tuple[str, int]]) -> Iterator[Block]:
    lines, number = list(part.lines), part.number
    if lines[0][0].isspace() and not _ITEM.match(lines[0]):
        yield from code_block(lines, number)
        return
    if not _ITEM.match(lines[0]) and lines[0].strip() != "+":
        items.clear()
    start = 1
    while lines:
        title = _TITLE.match(lines[0])
        if title is not None:
            yield block(to_plain_text(plain(title[2])), number, level=len(title[1]))
            lines, number = lines[1:], number + 1
        elif len(lines) > 1 and _is_title(lines[0], lines[1]):
            level = "=-~^+".index(lines[1][0]) + 1
            yield block(to_plain_text(plain(lines[0])), number, level=level)
            lines, number = lines[2:], number + 2
        elif _DROPPED.match(lines[0]):
            stated = _START.match(lines[0])
            start = int(stated[1]) if stated else start
            lines, number = lines[1:], number + 1
        else:
            break
    kept: list[str] = []
    for line in lines:
        shown = _CAPTION.sub("", _numbered(line, items, start=start))
        kept.append("" if _DROPPED.match(line) else shown)
        start = 1 if items else start
    if lines:
        yield from prose(Paragraph(number, tuple(kept)), plain, _ITEM)


def plain(text: str) -> str:
    """Return a line without its markup."""
    return without_markup(text, _INLINE)
