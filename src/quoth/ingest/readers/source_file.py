"""A file as its reader gets it: the name, the content and what is known about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from quoth.core.errors import DocumentError
from quoth.core.types import DocumentKind, ParsedDocument
from quoth.ingest.readers.blocks import Content
from quoth.ingest.readers.metadata import EMPTY, Metadata, file_title

MAX_NESTING = 3
"""Archives and messages within one another that are opened."""


def password_error(name: str) -> DocumentError:
    """Return the error for a file that only a password opens."""
    return DocumentError(
        "encrypted", f"{name} is protected by a password; save a copy without one and add that."
    )


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to read. ``text`` is the decoded content of a text format, "" of any other.

    ``path`` is where the file is, for readers that look at the files beside it, None for a part of
    another one; ``line`` is the number of the first line of ``text`` in the file.
    ``nesting`` counts the archives and messages around it; ``ocr_seconds`` is the wall time for the
    recognition of its scanned pages.
    """

    name: str
    data: bytes
    meta: Metadata = EMPTY
    text: str = ""
    nesting: int = 0
    ocr_seconds: float = 300.0
    path: Path | None = None
    line: int = 1

    def document(
        self,
        kind: DocumentKind,
        content: Content,
        *,
        meta: Metadata = EMPTY,
        pages: int | None = None,
        seconds: float | None = None,
        labels: tuple[str, ...] = (),
        warnings: Sequence[str] = (),
    ) -> ParsedDocument:
        """Return the document of this content; ``meta`` is what the file says of itself."""
        known = self.meta.merged_with(meta)
        text, places, sections = content
        return ParsedDocument(
            kind=kind,
            title=known.title or (self.name if kind == "code" else file_title(self.name)),
            text=text,
            places=places,
            sections=sections,
            language=known.language,
            url=known.url,
            speaker=known.speaker,
            date=known.date,
            pages=pages,
            seconds=seconds,
            labels=labels,
            warnings=tuple(warnings),
        )
