"""Read a file with the reader for its format, detected by content before suffix."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from quoth.core.errors import DocumentError
from quoth.core.types import ParsedDocument
from quoth.ingest.readers.dates import date_from_file_name
from quoth.ingest.readers.detect import HEAD, binary_format, decode, is_pdf, sniff
from quoth.ingest.readers.dialogue import with_speakers
from quoth.ingest.readers.formats import READERS, SUFFIX_FORMATS, SUFFIXES, Format, is_wanted
from quoth.ingest.readers.metadata import EMPTY, Metadata, front_matter, read_beside, sidecar
from quoth.ingest.readers.pdf.reader import read_pdf
from quoth.ingest.readers.source_file import SourceFile
from quoth.ingest.sandbox.limits import enforce_limits

__all__ = ["SUFFIXES", "is_wanted", "read", "read_data", "sidecar"]

_ALIKE = frozenset(
    {
        *(("spoken", each) for each in ("markdown", "text")),
        *(("timed", each) for each in ("markdown", "text")),
        ("rst", "text"),
        ("data", "json"),
        ("json", "data"),
    }
)
"""Formats that a suffix of another one promises, too."""


def read(path: Path, given: Metadata = EMPTY, *, ocr_seconds: float = 300.0) -> ParsedDocument:
    """Read one file of any format that quoth knows; raises DocumentError with a code.

    Metadata precedence: ``given``, sidecar, front matter, embedded metadata, file name.
    """
    beside, warnings = read_beside(path)
    meta = given.normalized().merged_with(beside)
    if is_pdf(_load(path, most=HEAD), suffix=path.suffix.lower()):
        pdf = read_pdf(path, meta=meta, ocr_seconds=ocr_seconds)
        return _finish(pdf, "pdf", name=path.name, meta=meta, warnings=warnings)
    file = SourceFile(path.name, _load(path), meta, ocr_seconds=ocr_seconds, path=path)
    return read_data(file, warnings=warnings)


def read_data(file: SourceFile, *, warnings: list[str] | None = None) -> ParsedDocument:
    """Read the content of a file, which may be a part of another one; raises DocumentError."""
    suffix, meta = Path(file.name).suffix.lower(), file.meta
    said = list(warnings or ())
    binary = binary_format(file.data, suffix=suffix, name=file.name)
    if binary is not None:
        document = READERS[binary].read(file)
        return _finish(document, binary, name=file.name, meta=meta, warnings=said)
    text, guess = decode(file.data, name=file.name)
    front, body, front_warnings = front_matter(text)
    meta = meta.merged_with(front)
    said += [*([guess] if guess else []), *front_warnings]
    form = sniff(body, suffix=suffix, name=file.name)
    line = 1 + text.count("\n", 0, len(text) - len(body))
    document = READERS[form].read(replace(file, text=body, meta=meta, line=line))
    return _finish(document, form, name=file.name, meta=meta, warnings=said)


def _finish(
    reading: ParsedDocument, form: Format, *, name: str, meta: Metadata, warnings: list[str]
) -> ParsedDocument:
    """Check that the document has text, and add the reader's warnings."""
    if not reading.text.strip():
        raise DocumentError("empty", f"{name} has no text in it. There is nothing to read.")
    path = Path(name)
    expected = SUFFIX_FORMATS.get(path.suffix.lower())
    if expected is not None and expected != form and (form, expected) not in _ALIKE:
        warnings = [
            *warnings,
            f"{name} is named like {READERS[expected].name} but holds {READERS[form].name}, "
            "and was read as that.",
        ]
    whole = replace(
        reading,
        speaker=reading.speaker or meta.speaker,
        date=meta.date or reading.date or date_from_file_name(path),
        warnings=(*warnings, *reading.warnings),
        is_language_given=meta.language is not None,
    )
    return enforce_limits(with_speakers(whole))


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
