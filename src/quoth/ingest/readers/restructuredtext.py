"""reStructuredText: sections, prose without its markup, and code as it is, with line numbers."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise, zip_longest
from unicodedata import east_asian_width

from quoth.core.types import ParsedDocument
from quoth.ingest.readers.blocks import Block, assemble, counted, to_plain_text
from quoth.ingest.readers.dates import normalize_date
from quoth.ingest.readers.marked_up import (
    Inline,
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
from quoth.ingest.readers.text_layout import indent

_RULE = re.compile(r"([!-/:-@\[-`{-~])\1{1,}\s*$")
_DIRECTIVE = re.compile(r"(\s*)\.\. (?P<name>[\w:.-]+)::\s*(?P<rest>.*)$")
_CODE = frozenset(["code", "code-block", "sourcecode", "literalinclude", "parsed-literal", "math"])
_SKIPPED = frozenset(
    ["image", "toctree", "raw", "index", "contents", "include", "meta", "highlight"]
)
_VERSIONS = {
    "versionadded": "Added in version",
    "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version",
}
"""What Sphinx writes before a version."""
_COMMENT = re.compile(r"\s*\.\.(?:\s+(?!\[|_).*|\s+_.*)?$")
_FOOTNOTE = re.compile(r"^\s*\.\. (?=\[)")
_OPTION = re.compile(r"\s+:(?P<name>[\w-]+):\s*(?P<value>.*)")
_REPLACED = re.compile(
    r"^[ \t]*\.\. \|([^|\n]{1,60})\| +replace:: +(.*(?:\n[ \t]+\S.*)*)$", re.MULTILINE
)
"""A name, and the text that stands for it."""
MAX_DEPTH = 20
"""Directives within one another that are read; what stands in the innermost is read as prose."""
MAX_REPLACED = 200
"""Characters of such a text."""
_NAME = re.compile(r"(?<![\w|])\|([^|\s](?:[^|\n]{0,58}[^|\s])?)\|_{0,2}(?!\w)")
_LIST_ROW = re.compile(r"\s*[*+-] +(?=- |-$)")
_SEPARATORS = {"tab": "\t", "space": " "}
_FIELD = re.compile(r":(?P<name>[\w -]{1,40}):\s+(?P<value>.+)$")
_ITEM = re.compile(r"^\s*(?:[-*+•]|\(?(?:\d{1,3}|[a-zA-Z#])[.)])\s+\S")
_COUNTED = re.compile(r"^(\s*\(?)(\d{1,3}|#)(?=[.)]\s)")
_TABLE_RULE = re.compile(r"[=\s]+|[+=-]+")
_PROMPT = ">>> "
"""What an example of Python begins with; it is code up to the next empty line."""
_ROW = re.compile(r"\s*(?:[+|].*[+|]|=+(?:\s+=+)+)\s*$")
_PAD = "\0"
_LITERAL = re.compile(r"``(?!`)(.{1,300}?)``|:math:`([^`]{1,300})`")
_HELD = 0x100000
"""The first of the private characters that stand for literals and formulas, which have no markup in
them; fonts with icons use those of another plane."""
_INLINE = (
    (re.compile(r":[\w:+.-]{1,40}:`~?([^`<]{1,200}?)\s*(?:<[^<>`]{0,300}>)?`"), r"\1"),
    (re.compile(r"`([^`<]{1,300}?)\s*<[^<>`]{1,500}>`_{0,2}"), r"\1"),
    (re.compile(r"`([^`]{1,300})`_{0,2}"), r"\1"),
    (re.compile(r"(?<![\w*])\*{1,2}(?=\S)([^*]{1,300}?)(?<=\S)\*{1,2}(?![\w*])"), r"\1"),
    (re.compile(r"(?<=\w)_(?=[\s.,;:)]|$)"), ""),
    (re.compile(r"\[#?(\w{0,20})\]_"), r"[\1]"),
    (re.compile(r"\\([^\w\s]|_)|\\\s"), r"\1"),
)


def read_rst(file: SourceFile) -> ParsedDocument:
    """Read reStructuredText; the first title is the document's."""
    blocks = list(_Reader(file.text.split("\n"), replaced=_replaced(file.text)).blocks())
    title = next((each.text for each in blocks if each.level), None)
    fields = {
        m["name"].lower(): m["value"]
        for line in file.text.split("\n")[:40]
        if (m := _FIELD.match(line))
    }
    meta = Metadata(
        title=title, speaker=fields.get("author"), date=normalize_date(fields.get("date", ""))
    )
    return file.document("text", assemble(blocks), meta=meta)


def _replaced(text: str) -> dict[str, str]:
    """Return the texts that stand for names, as the document says."""
    found = ((each[1], to_plain_text(each[2])) for each in _REPLACED.finditer(text))
    return {name: text for name, text in found if len(text) <= MAX_REPLACED}


class _Reader:
    """Reads lines from top to bottom; the signs under titles give their levels as they come."""

    def __init__(self, lines: Sequence[str], *, replaced: Mapping[str, str]) -> None:
        self._lines = lines
        self._plain = partial(plain, replaced=replaced)
        self._styles: list[str] = []
        self._counts: dict[int, tuple[int, tuple[str, str]]] = {}

    def blocks(self) -> Iterator[Block]:
        """Return the blocks of the text."""
        yield from self._blocks(list(paragraphs(self._lines)))

    def _blocks(self, parts: Sequence[Paragraph], *, depth: int = 0) -> Iterator[Block]:
        """Return the blocks of paragraphs that stand within so many directives."""
        at = 0
        while at < len(parts):
            part = parts[at]
            at += 1
            directive = _DIRECTIVE.match(part.lines[0])
            if directive is not None:
                body, at = self._body(parts, at, part)
                yield from self._directive(directive, body, depth=depth)
            elif _COMMENT.match(part.lines[0]):
                # Two full stops alone only end what stands before; a quotation may follow.
                if [line.strip() for line in part.lines] != [".."]:
                    _, at = self._body(parts, at, part)
            else:
                yield from self._text(part)
                if part.lines[-1].rstrip().endswith("::"):
                    body, at = self._body(
                        parts, at, Paragraph(part.number + len(part.lines) - 1, part.lines[-1:])
                    )
                    yield from code_block(body.lines[1:], body.number + 1)

    def _body(self, parts: Sequence[Paragraph], at: int, head: Paragraph) -> tuple[Paragraph, int]:
        """Return what is indented below a line, with that line, and where the text goes on."""
        margin = indent(head.lines[0])
        last = head.number + len(head.lines) - 1
        while at < len(parts) and indent(parts[at].lines[0]) > margin:
            last = parts[at].number + len(parts[at].lines) - 1
            at += 1
        return Paragraph(head.number, tuple(self._lines[head.number - 1 : last])), at

    def _directive(
        self, directive: re.Match[str], body: Paragraph, *, depth: int
    ) -> Iterator[Block]:
        name = directive["name"].split(":")[-1]
        inner = list(body.lines[1:])
        number = body.number + 1
        options: dict[str, str] = {}
        while inner and (option := _OPTION.match(inner[0])):
            options[option["name"]] = option["value"].strip()
            inner, number = inner[1:], number + 1
        if name in _SKIPPED:
            return
        if name in _CODE:
            yield from code_block(inner, number)
            return
        if directive["rest"] and name != "figure":
            said = f"{_VERSIONS.get(name, '')} {self._plain(directive['rest'])}"
            yield block(to_plain_text(said), body.number)
        if name in ("list-table", "csv-table"):
            rows = _listed(inner) if name == "list-table" else _separated(inner, options)
            header = "header" in options or options.get("header-rows", "0") != "0" or None
            place = counted("line", body.number, number + len(inner) - 1)
            yield from table_blocks(
                [[self._plain(cell) for cell in row] for row in rows], header=header, place=place
            )
            return
        parts = list(paragraphs(inner, first=number))
        if depth < MAX_DEPTH:
            yield from self._blocks(parts, depth=depth + 1)
        else:
            for part in parts:
                yield from self._text(part)

    def _text(self, part: Paragraph) -> Iterator[Block]:
        lines, number = part.lines, part.number
        if lines[0].lstrip().startswith(_PROMPT):
            yield from code_block(lines, number)
            return
        if len(lines) == 1 and _RULE.match(lines[0]) and len(lines[0].strip()) > 3:
            return
        if len(lines) > 2 and _RULE.match(lines[0]) and _RULE.match(lines[2]):
            yield self._title(lines[1], lines[0].strip()[0] * 2, number + 1)
            lines, number = lines[3:], number + 3
        while len(lines) > 1 and not lines[0][:1].isspace() and _underlines(lines[1], lines[0]):
            yield self._title(lines[0], lines[1].strip()[0], number)
            lines, number = lines[2:], number + 2
        if lines and all(_ROW.match(line) for line in (lines[0], lines[-1])):
            yield from _table(lines, number, self._plain)
        elif lines:
            first = _FOOTNOTE.sub("", lines[0])
            counted = tuple(self._numbered((first, *lines[1:])))
            yield from prose(Paragraph(number, counted), self._plain, _ITEM)

    def _numbered(self, lines: Sequence[str]) -> Iterator[str]:
        """Write the numbers of items that begin with "#.", in each indentation by itself."""
        for at, line in enumerate(lines):
            found, margin = _COUNTED.match(line), indent(line)
            if found or not at:
                # A list ends with a paragraph or an item further to the left.
                least = margin if found else margin - 1
                self._counts = {own: count for own, count in self._counts.items() if own <= least}
            if found:
                shape = found[1].strip(), line[found.end()]
                last = self._counts.get(margin, (0, shape))
                before = last[0] if last[1] == shape else 0
                number = before + 1 if found[2] == "#" else int(found[2])
                self._counts[margin] = number, shape
                line = f"{found[1]}{number}{line[found.end() :]}"
            yield line

    def _title(self, text: str, style: str, number: int) -> Block:
        self._counts.clear()
        if style not in self._styles:
            self._styles.append(style)
        level = min(self._styles.index(style) + 1, 6)
        return block(to_plain_text(self._plain(text)), number, level=level)


def _listed(lines: Sequence[str]) -> list[list[str]]:
    """Return the rows of a table that is written as a list of lists."""
    rows: list[list[str]] = []
    column = -1
    for line in lines:
        begin = _LIST_ROW.match(line)
        if begin is not None:
            column = begin.end()
            rows.append([])
        if rows and line[column : column + 1] == "-" and not line[:column].strip(" *+-"):
            rows[-1].append(line[column + 1 :].strip())
        elif rows and line.strip():
            rows[-1][-1] = f"{rows[-1][-1]} {line.strip()}".strip()
    return rows


def _separated(lines: Sequence[str], options: Mapping[str, str]) -> list[list[str]]:
    """Return the rows of a table of separated values, after the header that is stated."""
    mark = options.get("delim", ",")
    mark = _SEPARATORS.get(mark, mark if len(mark) == 1 else ",")
    texts = [options.get("header", ""), *(line.strip() for line in lines)]
    try:
        rows = list(csv.reader(texts, delimiter=mark, skipinitialspace=True))
    except csv.Error:  # a cell that is larger than any should be
        rows = [[text] for text in texts]
    return [row for row in rows if row]


def _table(lines: Sequence[str], number: int, inline: Inline) -> Iterator[Block]:
    """Return the rows of a table, drawn with "=" above its columns or with "|" between them."""
    place = counted("line", number, number + len(lines) - 1)
    rules = [at for at, line in enumerate(lines) if _TABLE_RULE.fullmatch(line.strip())]
    if lines[0].lstrip()[0] == "=":
        columns = [match.span() for match in re.finditer("=+", lines[0])]
        ends = [*(start for start, _ in columns[1:]), None]
        rows = [
            [
                line[low:high].replace(_PAD, "").strip()
                for (low, _), high in zip(columns, ends, strict=True)
            ]
            for at, line in enumerate(map(_padded, lines))
            if at not in rules
        ]
        header = len(rules) > 2
    else:
        cells = [line.strip().strip("|").split("|") for line in lines]
        rows = [
            [" ".join(parts) for parts in zip_longest(*cells[low + 1 : high], fillvalue="")]
            for low, high in pairwise(rules)
        ]
        header = any("=" in lines[at] for at in rules)
    shown = [[inline(cell) for cell in row] for row in rows]
    yield from table_blocks(shown, header=header or None, place=place)


def _padded(line: str) -> str:
    """Return a line with a character more after each that is two columns wide, as in docutils."""
    return "".join(each + _PAD * (east_asian_width(each) in "WF") for each in line)


def plain(text: str, *, replaced: Mapping[str, str]) -> str:
    """Return a line without its markup; ``replaced`` are texts by their names."""
    text = text.removesuffix("::") + (":" if text.endswith("::") and len(text) > 2 else "")
    held = dict(enumerate((a or b for a, b in _LITERAL.findall(text)), start=_HELD))
    numbers = iter(held)
    text = _LITERAL.sub(lambda _: chr(next(numbers)), text)
    text = _NAME.sub(lambda name: replaced.get(name[1], name[1]), text)
    return without_markup(text, _INLINE).translate(held)


def _underlines(line: str, title: str) -> bool:
    return _RULE.match(line) is not None and len(line.strip()) >= min(len(title.strip()), 4)
