"""Pages of PDF files drawn and marked in the sandbox."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from quoth.core.types import Json
from quoth.ingest.readers.pdf.page_marks import MarkedLine, PageMarks
from quoth.ingest.sandbox.parent import ParserPool
from quoth.text.json_codec import decode_json

PAGE_SECONDS = 10.0
PAGE_MEMORY_MB = 1024
"""What one page may take, in processor time and memory."""


class PdfPages:
    """Draws and marks pages in processes of its own, so that none waits for a file being read.

    Each method raises DocumentError as `ParserPool.read` does.
    """

    def __init__(self, *, workers: int = 1) -> None:
        self._pool = ParserPool(
            seconds=PAGE_SECONDS, memory_mb=PAGE_MEMORY_MB, workers=workers, files_per_child=500
        )

    async def draw(self, path: Path, *, page: int, width: int) -> bytes:
        """Return a page, counted from 1, as PNG of this width in pixels."""
        return await self._pool.run("draw", path, decode=_png, page=page, width=width)

    async def mark(self, path: Path, lines: Sequence[MarkedLine]) -> list[PageMarks]:
        """Return the marks of lines, by page."""
        sent = [asdict(line) for line in lines]
        return await self._pool.run("mark", path, decode=_marks, lines=sent)

    async def close(self) -> None:
        """End the processes."""
        await self._pool.close()


def _png(answer: Json) -> bytes:
    return b64decode(answer["png"], validate=True)


def _marks(answer: Json) -> list[PageMarks]:
    return [decode_json(PageMarks, page) for page in answer["pages"]]
