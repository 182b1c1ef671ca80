"""Metadata that the caller gives with files that are added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from quoth.core.custom_metadata import MetadataValue
from quoth.core.errors import InputError
from quoth.ingest.readers.blocks import normalize_whitespace, to_plain_text
from quoth.ingest.readers.metadata import Metadata, require_language, require_url
from quoth.ingest.sources.files import find_files
from quoth.store.blobs import source_of


@dataclass(frozen=True, slots=True)
class DocumentMetadata:
    """Metadata given by the caller; overrides the file's own.

    ``name`` is the display name of a file stored under another name, ``custom`` are keys of the
    caller's own; neither affects identity.
    ``files`` holds metadata of single files, by resolved path, in place of this. Raises InputError
    for a URL that is no web address and a language that is no code.
    """

    title: str | None = None
    url: str | None = None
    speaker: str | None = None
    language: str | None = None
    name: str | None = None
    custom: Mapping[str, MetadataValue] = field(default_factory=dict)
    files: Mapping[Path, DocumentMetadata] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require_url(self.url or "")
        require_language(self.language or "")

    def of(self, path: Path) -> DocumentMetadata:
        """Return the metadata of one file."""
        return self.files.get(path, self)

    def values(self) -> tuple[str | None, ...]:
        """Return the values that identify a document's version, in a fixed order."""
        return (self.title, self.url, self.speaker, self.language)

    def cleaned(self) -> DocumentMetadata:
        """Return a copy without line breaks and unstorable characters."""
        files = {path: each.cleaned() for path, each in self.files.items()}
        # Cleaned as the stored document will be, so that its identity can be recomputed.
        meta = Metadata(*map(_line, self.values())).normalized()
        return replace(
            self,
            title=meta.title,
            url=meta.url,
            speaker=meta.speaker,
            language=meta.language,
            name=_line(self.name),
            files=files,
        )

    def require_one_file(self, sources: Sequence[Path]) -> None:
        """Raise InputError for a title or a URL that several files would have."""
        if (self.title or self.url) and len(list(islice(find_files(sources), 2))) > 1:
            what = "title" if self.title else "URL"
            raise InputError(
                f"A {what} is for a single file, and these are several. Add each with its own "
                f"{what}, or leave it out; a speaker and a language may hold for all."
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
