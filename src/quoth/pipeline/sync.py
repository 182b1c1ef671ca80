"""What makes a collection equal to a folder: files that are new, changed, and gone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from quoth.core.command_line import command_line
from quoth.core.errors import InputError
from quoth.core.settings import Settings
from quoth.core.types import Document
from quoth.ingest.sources.files import find_files
from quoth.pipeline.given_metadata import file_uri
from quoth.pipeline.same_file import is_current
from quoth.store.blobs import source_path
from quoth.store.catalogue import Catalogue


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
