"""Jupyter notebooks: text, code and the beginning of what it put out, cell by cell."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from quoth.core.errors import DocumentError
from quoth.core.types import ParsedDocument
from quoth.ingest.readers.blocks import Block, assemble, counted, normalize_whitespace
from quoth.ingest.readers.markdown import markdown_blocks
from quoth.ingest.readers.metadata import Metadata
from quoth.ingest.readers.source_file import SourceFile

MAX_OUTPUT = 2_000
"""Characters of the output of a cell that are read."""
MAX_CELLS = 5_000


def read_notebook(file: SourceFile) -> ParsedDocument:
    """Read a notebook of format 4, or 3 by its first worksheet; raises DocumentError."""
    try:
        book = json.loads(file.text)
        if not isinstance(book, dict):
            raise ValueError("no object")
        cells = book.get("cells")
        if cells is None:
            cells = book["worksheets"][0]["cells"]
        blocks = list(_blocks(cells[:MAX_CELLS]))
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        raise DocumentError(
            "damaged", f"{file.name} is no notebook that can be read ({error}); save it again."
        ) from None
    warnings = (f"Only {MAX_CELLS:,} cells are read.",) if len(cells) > MAX_CELLS else ()
    title = next((block.text for block in blocks if block.level == 1), None)
    return file.document(
        "notebook", assemble(blocks), meta=Metadata(title=title), warnings=warnings
    )


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
            shown = normalize_whitespace(_output(output)).strip("\n").rstrip()
            if shown.strip():
                yield Block(shown, place=place)


def _output(output: Mapping[str, Any]) -> str:
    """Return the text of an output, cut where it is long; pictures have none."""
    data = output.get("data", output)
    if output.get("output_type") == "error" or "ename" in output:
        text = f"{output.get('ename', '')}: {output.get('evalue', '')}"
    else:
        text = _text(data.get("text/plain", data.get("text", "")))
    if len(text) <= MAX_OUTPUT:
        return text
    return f"{text[:MAX_OUTPUT]}\n… ({len(text) - MAX_OUTPUT:,} more characters of output)"


def _text(source: object) -> str:
    return "".join(map(str, source)) if isinstance(source, list) else str(source or "")
