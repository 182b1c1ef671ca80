"""Read a file with the reader for its format, detected by content before suffix."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import assert_never

from quoth.core.errors import DocumentError
from quoth.core.types import ParsedDocument
from quoth.ingest.readers.captions import read_captions, read_json_transcript
from quoth.ingest.readers.dates import date_from_file_name
from quoth.ingest.readers.detect import (
    FORMAT_NAMES,
    HEAD,
    SUFFIX_FORMATS,
    SUFFIXES,
    Format,
    decode,
    is_pdf,
    is_wanted,
    sniff,
)
from quoth.ingest.readers.html import read_html
from quoth.ingest.readers.markdown import read_markdown
from quoth.ingest.readers.metadata import (
    EMPTY,
    Metadata,
    front_matter,
    read_sidecar,
    sidecar,
)
from quoth.ingest.readers.neighbours import repeated_beside
from quoth.ingest.readers.pdf.reader import read_pdf
from quoth.ingest.readers.spoken_markdown import read_spoken
from quoth.ingest.readers.text import read_plain
from quoth.ingest.sandbox.limits import enforce_limits

__all__ = ["SUFFIXES", "is_wanted", "read", "sidecar"]


def read(path: Path, given: Metadata = EMPTY) -> ParsedDocument:
    """Read one file of any format that quoth knows; raises DocumentError with a code.

    Metadata precedence: ``given``, sidecar, front matter, embedded metadata, file name.
    """
    beside, warnings = read_sidecar(path)
    meta = given.normalized().merged_with(beside)
    suffix = path.suffix.lower()
    if is_pdf(_load(path, most=HEAD), suffix=suffix):
        pdf = read_pdf(path, title=meta.title, url=meta.url, language=meta.language)
        return _finish(pdf, "pdf", path=path, meta=meta, warnings=warnings)
    data = _load(path)
    text, guess = decode(data, name=path.name)
    warnings += [guess] if guess else []
    front, body, front_warnings = front_matter(text)
    meta = meta.merged_with(front)
    warnings += front_warnings
    found = sniff(body, suffix=suffix, name=path.name)
    reading = _parse(body, found, meta=meta, path=path)
    return _finish(reading, found, path=path, meta=meta, warnings=warnings)


def _parse(text: str, found: Format, *, meta: Metadata, path: Path) -> ParsedDocument:
    name = path.name
    match found:
        case "html":
            return read_html(text, meta=meta, name=name, repeated=repeated_beside(path))
        case "markdown":
            return read_markdown(text, meta=meta, name=name)
        case "spoken":
            return read_spoken(text, meta=meta, name=name)
        case "vtt" | "srt" | "sbv":
            return read_captions(text, vtt=found == "vtt", meta=meta, name=name)
        case "json":
            return read_json_transcript(text, meta=meta, name=name)
        case "text":
            return read_plain(text, meta=meta, name=name)
        case "pdf":
            raise AssertionError("A PDF is read from its file.")
        case _:
            assert_never(found)


def _finish(
    reading: ParsedDocument, found: Format, *, path: Path, meta: Metadata, warnings: list[str]
) -> ParsedDocument:
    """Check that the document has text, and add the reader's warnings."""
    if not reading.text.strip():
        raise DocumentError("empty", f"{path.name} has no text in it. There is nothing to read.")
    expected = SUFFIX_FORMATS.get(path.suffix.lower())
    alike = found == "spoken" and expected in ("markdown", "text")
    if expected is not None and expected != found and not alike:
        warnings = [
            *warnings,
            f"{path.name} is named like {FORMAT_NAMES[expected]} but holds {FORMAT_NAMES[found]}, "
            "and was read as that.",
        ]
    whole = replace(
        reading,
        speaker=reading.speaker or meta.speaker,
        date=meta.date or reading.date or date_from_file_name(path),
        warnings=(*warnings, *reading.warnings),
    )
    return enforce_limits(whole)


def _load(path: Path, *, most: int = -1) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(most)
    except FileNotFoundError:
        raise DocumentError("not_found", f"{path} is not there. Check the path.") from None
    except IsADirectoryError:
        raise DocumentError("unsupported", f"{path} is a folder, not a file.") from None
    except OSError as error:
        reason = error.strerror or "the system refuses it"
        raise DocumentError("unreadable", f"{path} cannot be read: {reason}.") from None
