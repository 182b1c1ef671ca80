"""Whether a file that is added is one that the collection has already, described in another way.

A document's id covers its sidecar's bytes (docs/decisions/054), so the file of a folder that is
uploaded in the browser would be a second document without this look.
"""

from __future__ import annotations

import filecmp
from pathlib import Path

from quoth.core.types import Document
from quoth.ingest.readers.metadata import EMPTY, KEYS, Metadata, read_beside
from quoth.ingest.sources.files import is_unchanged
from quoth.pipeline.components import Components
from quoth.store.blobs import Blobs, source_path
from quoth.store.catalogue import Catalogue
from quoth.store.document_list import DocumentLists
from quoth.store.rows import Collection


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
