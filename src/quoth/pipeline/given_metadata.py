"""Metadata that the caller gives with files that are added, or in place of a document's own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from quoth.core.command_line import command_line
from quoth.core.custom_metadata import MetadataValue
from quoth.core.errors import DocumentError, InputError
from quoth.core.types import Document
from quoth.ingest.readers.blocks import normalize_whitespace, to_plain_text
from quoth.ingest.readers.metadata import (
    CUSTOM,
    KEYS,
    SIDECAR,
    Metadata,
    make_meta,
    read_beside,
    require_date,
    require_language,
    require_url,
)
from quoth.ingest.sources.files import find_files
from quoth.store.blobs import source_of, source_path


@dataclass(frozen=True, slots=True)
class DocumentMetadata:
    """Metadata given by the caller; overrides the file's own.

    ``name`` is the display name of a file stored under another name, ``custom`` are keys of the
    caller's own; neither affects identity.
    ``files`` holds metadata of single files, by resolved path, in place of this. Raises InputError
    for a URL that is no web address, a language that is no code and a date that is none.
    """

    title: str | None = None
    url: str | None = None
    speaker: str | None = None
    language: str | None = None
    date: str | None = None
    name: str | None = None
    custom: Mapping[str, MetadataValue] = field(default_factory=dict)
    files: Mapping[Path, DocumentMetadata] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require_url(self.url or "")
        require_language(self.language or "")
        require_date(self.date or "")

    def of(self, path: Path) -> DocumentMetadata:
        """Return the metadata of one file."""
        return self.files.get(path, self)

    def values(self) -> tuple[str | None, ...]:
        """Return the values that identify a document's version, in the order of `KEYS`.

        The date only where it is given: documents of earlier versions were added without.
        """
        values = (self.title, self.url, self.speaker, self.language)
        return (*values, self.date) if self.date else values

    def cleaned(self) -> DocumentMetadata:
        """Return a copy without line breaks and unstorable characters."""
        files = {path: each.cleaned() for path, each in self.files.items()}
        # Cleaned as the stored document will be, so that its identity can be recomputed.
        meta = Metadata(*map(_line, self.values())).normalized()
        known = {key: getattr(meta, key) for key in KEYS}
        return replace(self, **known, name=_line(self.name), files=files)

    def require_one_file(self, sources: Sequence[Path]) -> None:
        """Raise InputError for a title or a URL that several files would have."""
        if (self.title or self.url) and len(find_files(sources)) > 1:
            what = "title" if self.title else "URL"
            raise InputError(
                f"A {what} is for a single file, and these are several. Add each with its own "
                f"{what}, or leave it out; a speaker, a language and a date may hold for all."
            )

    def meta(self) -> Metadata:
        """Return the document metadata."""
        return Metadata(*self.values())

    def title_of(self, path: Path) -> str:
        """Return the title of a file that was not read: its name."""
        return self.title or to_plain_text(normalize_whitespace(Path(self.name or path.name).name))

    def source_of(self, path: Path) -> str:
        """Return a document's source as stored."""
        return file_uri(path) if self.name is None else source_of(path, name=self.name)


def file_uri(path: Path) -> str:
    """Return a path as stored: unchanged, or a file URI if its bytes are not text."""
    text = str(path)
    return text if text == text.encode("utf-8", "replace").decode() else path.as_uri()


def _line(text: str | None) -> str | None:
    return (text and to_plain_text(normalize_whitespace(text))) or None


def read_pairs(texts: Sequence[str]) -> dict[str, str]:
    """Read ``KEY=VALUE`` texts; raises InputError for an unknown key or a value that is none."""
    values: dict[str, str] = {}
    for text in texts:
        key, found, value = text.partition("=")
        if not found or key not in KEYS:
            raise InputError(
                f"'{text}' is not a change. Write KEY=VALUE, KEY one of: {', '.join(KEYS)}."
            )
        values[key] = value.strip()
    _known, problems = make_meta(values, where="Nothing was changed")
    if problems:
        raise InputError(problems[0])
    return values


def describe(document: Document, given: Mapping[str, str]) -> Path:
    """Write values beside a document's file; return the file, to be added again.

    What is known of the document stays as it is where nothing is given. Raises InputError and
    DocumentError.
    """
    path = source_path(document.source)
    if path is None:
        again = command_line("add URL --title …", collection=document.collection)
        raise InputError(
            f"'{document.title}' came from the web or an upload, and no file is beside which its "
            "values could be kept. Change it in the web app or with PATCH /v1/documents/ID, or "
            f"add it again with: {again}"
        )
    if not path.is_file():
        raise DocumentError("not_found", f"The file {path} of '{document.title}' is gone.")
    beside, _warnings = read_beside(path)
    known: dict[str, object] = {key: getattr(document, key) or getattr(beside, key) for key in KEYS}
    known |= {**given, CUSTOM: dict(document.metadata)}
    text = json.dumps({key: value for key, value in known.items() if value}, ensure_ascii=False)
    try:
        path.with_name(path.name + SIDECAR).write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"The values cannot be kept beside {path}: {error.strerror}. Nothing was changed."
        ) from None
    return path
