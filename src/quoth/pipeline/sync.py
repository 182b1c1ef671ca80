"""Files that are added beside those that a collection has: new, changed, gone, or the same.

A document's id covers its sidecar's bytes (docs/decisions/054), so the file of a folder that is
uploaded in the browser would be a second document without this look.
"""

from __future__ import annotations

import filecmp
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from quoth.core.command_line import command_line
from quoth.core.errors import InputError
from quoth.core.settings import Settings
from quoth.core.types import Document
from quoth.ingest.readers.metadata import EMPTY, KEYS, Metadata, read_beside
from quoth.ingest.sources.files import find_files, is_unchanged
from quoth.pipeline.components import Components
from quoth.pipeline.given_metadata import file_uri
from quoth.store.blobs import Blobs, source_path
from quoth.store.catalogue import Catalogue
from quoth.store.document_list import DocumentLists
from quoth.store.rows import Collection


@dataclass(frozen=True, slots=True)
class FolderChanges:
    """The files of a folder by what would happen to them, and the documents whose file is gone."""

    new: tuple[Path, ...]
    changed: tuple[Path, ...]
    unchanged: tuple[Path, ...]
    gone: tuple[Document, ...]


def check_folder(folder: Path, settings: Settings, *, collection: str = "") -> None:
    """Raise InputError for what is no folder, or holds nothing that could be added.

    A folder that is not mounted, or misspelt, would otherwise empty the collection.
    """
    if not folder.is_dir():
        raise InputError(f"There is no folder {folder}. Nothing was changed.")
    if not find_files([folder]):
        raise InputError(
            f"The folder {folder} holds no file that quoth reads. Nothing was changed; to remove "
            f"what came from it: {command_line('remove TITLE', settings, collection=collection)}"
        )


def folder_changes(
    catalogue: Catalogue, documents: Sequence[Document], *, folder: Path
) -> FolderChanges:
    """Compare a folder with the documents that came from it; reads every file once."""
    known = {each.source: each for each in documents}
    new, changed, unchanged = [], [], []
    for path in find_files([folder]):
        document = known.get(file_uri(path))
        if document is None:
            new.append(path)
        elif is_current(catalogue, document, path=path):
            unchanged.append(path)
        else:
            changed.append(path)
    gone = gone_documents(documents, folder=folder)
    return FolderChanges(tuple(new), tuple(changed), tuple(unchanged), tuple(gone))


def gone_documents(documents: Sequence[Document], *, folder: Path) -> list[Document]:
    """Return the documents whose file was below the folder and no longer exists."""
    inside = folder.resolve()
    return [
        each
        for each in documents
        if each.status in ("ready", "failed")
        and (path := source_path(each.source)) is not None
        and path.is_relative_to(inside)
        and _is_gone(path)
    ]


def _is_gone(path: Path) -> bool:
    """Return whether nothing is there; what cannot be looked at counts as there."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def known_file(
    parts: Components, collection: Collection, *, path: Path, name: str | None, given: Metadata
) -> Document | None:
    """Return the document of the same bytes and file name, where nothing else is said of it.

    ``name`` is the display name of an upload. What only the file itself says is the same in both.
    """
    beside, _warnings = read_beside(path)
    if name is None and beside == EMPTY:
        return None  # its id covers no description: the same bytes have the same id
    said = given.merged_with(beside).normalized()
    settings = parts.settings
    blobs = Blobs(settings.home, tenant=settings.tenant, shared=parts.files)
    for document in DocumentLists.of(parts.catalogue).named(collection, name or path.name):
        original = source_path(document.source) or blobs.original(document.source)
        told = ((getattr(said, key), getattr(document, key)) for key in KEYS)
        if (
            original is not None
            and original != path
            and all(new in (None, known) for new, known in told)
            and _is_copy(parts, document, original=original, path=path)
        ):
            return document
    return None


def _is_copy(parts: Components, document: Document, *, original: Path, path: Path) -> bool:
    """Return whether a file has the bytes of a document's, which is still as it was added."""
    try:
        same = filecmp.cmp(original, path, shallow=False)
    except OSError:
        return False
    return same and is_current(parts.catalogue, document, path=original)


def is_current(catalogue: Catalogue, document: Document, *, path: Path) -> bool:
    """Return whether a document's file, and what describes it, are as they were when added."""
    sha = DocumentLists.of(catalogue).fingerprint(document.document_id)
    said = [getattr(document, key) for key in KEYS]
    try:
        return sha is not None and is_unchanged(path, known=sha, said=said)
    except OSError:
        return False
