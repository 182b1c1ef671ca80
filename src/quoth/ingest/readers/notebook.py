"""Jupyter notebooks: text, code and what it put out, cell by cell."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from quoth.core.errors import DocumentError
from quoth.core.types import ParsedDocument
from quoth.ingest.readers.blocks import Block, assemble, counted, normalize_whitespace
from quoth.ingest.readers.html import html_blocks
from quoth.ingest.readers.markdown import markdown_blocks
from quoth.ingest.readers.metadata import Metadata
from quoth.ingest.readers.source_file import SourceFile

MAX_OUTPUT = 20_000
"""Characters of an output that are read, for HTML with its markup."""
MAX_CELLS = 5_000
_CUT = " more characters of output)"
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_OVERWRITTEN = re.compile(r"^.*\r(?=[^\r\n])", re.MULTILINE)
"""What a terminal shows no longer of a line, as of a progress bar."""
_OBJECT = re.compile(r"<[\w.]+( object| at 0x[0-9a-f]+)*>")
"""A name such as ``<IPython.core.display.HTML object>``, which stands for what is shown."""


def read_notebook(file: SourceFile) -> ParsedDocument:
    """Read a notebook of format 4, or 3; raises DocumentError."""
    try:
        book = json.loads(file.text)
        if not isinstance(book, dict):
            raise ValueError("no object")
        cells = book.get("cells")
        if cells is None:
            cells = [cell for sheet in book["worksheets"] for cell in sheet["cells"]]
        blocks = list(_blocks(cells[:MAX_CELLS]))
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        reason = f"without {error}" if isinstance(error, KeyError) else error
        raise DocumentError(
            "damaged", f"{file.name} is no notebook that can be read ({reason}); save it again."
        ) from None
    warnings = [f"Only {MAX_CELLS:,} cells are read."] if len(cells) > MAX_CELLS else []
    if cut := sum(block.text.endswith(_CUT) for block in blocks):
        warnings.append(f"Of long outputs, {MAX_OUTPUT:,} characters are read; cut: {cut}.")
    title = next((block.text for block in blocks if block.level == 1), None)
    meta = Metadata(title=title)
    return file.document("notebook", assemble(blocks), meta=meta, warnings=warnings)


def _blocks(cells: Sequence[Mapping[str, Any]]) -> Iterator[Block]:
    for number, cell in enumerate(cells, start=1):
        place = counted("cell", number)
        text = normalize_whitespace(_text(cell.get("source", cell.get("input", ""))))
        kind = cell.get("cell_type")
        if kind == "markdown":
            for block in markdown_blocks(text):
                yield replace(block, place=place)
        elif kind == "heading":
            yield Block(text, level=min(max(int(cell.get("level", 1)), 1), 6), place=place)
        else:
            yield Block(text, place=place)
        for output in cell.get("outputs", ()):
            for block in _output(output):
                if block.text.strip():
                    # A heading that a program puts out begins no section of the notebook.
                    yield replace(block, level=0, place=place)


def _output(output: Mapping[str, Any]) -> Iterator[Block]:
    """Return an output as it is shown: tables by rows, errors with their traceback; no pictures."""
    shown = output.get("data", output)
    plain = _text(shown.get("text/plain", shown.get("text", "")))
    markdown = _text(shown.get("text/markdown", ""))
    html = _text(shown.get("text/html", shown.get("html", "")))
    if "ename" in output:
        traceback = "\n".join(map(str, output.get("traceback") or ()))
        plain = traceback or f"{output['ename']}: {output.get('evalue', '')}"
    if markdown:
        yield from markdown_blocks(normalize_whitespace(markdown[:MAX_OUTPUT]))
    elif html and ("<table" in html or not plain or _OBJECT.fullmatch(plain.strip())):
        # Names within an output are no places of the notebook.
        blocks = html_blocks(normalize_whitespace(html[:MAX_OUTPUT]))
        yield from (replace(block, anchor=None) for block in blocks)
    elif not _OBJECT.fullmatch(plain.strip()):
        text = _OVERWRITTEN.sub("", _COLOUR.sub("", plain[:MAX_OUTPUT]))
        yield Block(normalize_whitespace(text).strip("\n").rstrip())
    size = len(markdown or html or plain)
    if size > MAX_OUTPUT:
        yield Block(f"… ({size - MAX_OUTPUT:,}{_CUT}")


def _text(source: object) -> str:
    return "".join(map(str, source)) if isinstance(source, list) else str(source or "")
