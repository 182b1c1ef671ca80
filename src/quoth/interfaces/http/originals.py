"""The files of documents on the server's disk, as long as they are what was added."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any

from cachetools import LRUCache
from starlette.requests import Request
from starlette.responses import Response

from quoth.core.errors import Gone, NotFound
from quoth.core.types import Document
from quoth.ingest.readers.metadata import KEYS, sidecar
from quoth.ingest.sources.files import is_unchanged
from quoth.interfaces.http.request_state import Principal
from quoth.interfaces.http.requests import listing_of
from quoth.interfaces.http.schemas import file_content
from quoth.interfaces.links import is_web
from quoth.pipeline.uploads import tenant_blobs
from quoth.store.blobs import stored_name
from quoth.text.recordings import MEDIA_TYPES, is_recording, recording_of

FILE_GONE = "The file of this document no longer exists. Its extracted text does."
FILE_CHANGED = "The file is not the one any more that was added. Add it again."
MAX_REMEMBERED = 10_000
CACHED = {"cache-control": "private, max-age=600", "vary": "authorization, x-api-key, cookie"}
"""Headers of what a browser may keep for its one user; afterwards the ETag is asked for."""

FileState = tuple[int, int, int]
"""The inode, the size and the time of the last change in nanoseconds."""


def file_responses(
    about: str, media_types: Iterable[str], *, part_of: str = ""
) -> dict[int | str, dict[str, Any]]:
    """Describe the responses of a route that sends a file; ``part_of`` which it sends ranges."""
    found: dict[int | str, dict[str, Any]] = {
        200: {"description": about, "content": file_content(media_types)},
        304: {"description": "The client has this version."},
        410: {"description": "The file is gone, or has changed since it was added."},
    }
    if part_of:
        found[206] = {"description": f"A byte range of the {part_of}."}
        found[416] = {"description": "There is no such part."}
    return found


class UnchangedFiles:
    """Files that were read to their end and found unchanged, by the state they had then.

    A file is read again as soon as its state or that of its sidecar is another one.
    """

    def __init__(self) -> None:
        self._known: LRUCache[tuple[object, ...], bool] = LRUCache(MAX_REMEMBERED)
        self._lock = Lock()

    def check(self, path: Path, *, known: str, said: Sequence[str | None]) -> bool:
        """Return whether a file has the fingerprint ``known``, as `is_unchanged` does."""
        beside = sidecar(path)
        state = (str(path), known, *said, _state(path), beside and _state(beside))
        with self._lock:
            if state in self._known:
                return True
        if not is_unchanged(path, known=known, said=said):
            return False
        with self._lock:
            self._known[state] = True
        return True


def original_file(document: Document, caller: Principal, *, unchanged: UnchangedFiles) -> Path:
    """Return the file named in the catalogue; no part of the request is used. Raises Gone."""
    source = document.source
    kept = tenant_blobs(caller.engine.parts).original(source)
    if kept is not None:
        return kept
    # The operator added it from the disk. Paths are stored without symbolic links: a link there
    # now leads to another file.
    path = Path(source)
    named = not source.startswith("file:") and not is_web(source)
    if not (named and path.is_absolute() and path.is_file() and path.resolve() == path):
        raise Gone(FILE_GONE)
    known = listing_of(caller.engine).fingerprint(document.document_id)
    said = [getattr(document, key) for key in KEYS]
    try:
        if known is None or not unchanged.check(path, known=known, said=said):
            raise Gone(FILE_CHANGED)
    except OSError as error:
        raise Gone(FILE_GONE) from error
    return path


def recording_file(document: Document, caller: Principal, *, unchanged: UnchangedFiles) -> Path:
    """Return the recording of a transcript: its own file as `original_file` does, else that beside
    it. Raises NotFound and Gone.
    """
    stored = stored_name(document.source)
    own = Path(stored or document.source)
    if document.kind == "transcript" and is_recording(own) and (stored or own.is_absolute()):
        return original_file(document, caller, unchanged=unchanged)
    file = recording_of(document)
    if file is None:
        raise NotFound("There is no recording beside this document.")
    return file


def recording_type(document: Document, caller: Principal) -> str | None:
    """Return the media type of the recording that `recording_file` returns, None without one."""
    stored = stored_name(document.source) if document.kind == "transcript" else None
    if stored is None or not is_recording(Path(stored)):
        file = recording_of(document)
    else:
        file = Path(stored) if tenant_blobs(caller.engine.parts).exists(stored) else None
    return None if file is None else MEDIA_TYPES.get(file.suffix.lower())


def file_tag(path: Path) -> str:
    """Return the ETag of a file by its state."""
    return f'"{sha256(repr(_state(path)).encode()).hexdigest()[:32]}"'


def entity_tag(document: Document, caller: Principal, *variant: object) -> str | None:
    """Return the ETag of what is made of a document's file, None before it is ready."""
    known = listing_of(caller.engine).fingerprint(document.document_id)
    if known is None:
        return None
    return f'"{sha256(repr((known, *variant)).encode()).hexdigest()[:32]}"'


def not_modified(request: Request, tag: str | None) -> Response | None:
    """Return the response to a client that has this version already."""
    held = request.headers.get("if-none-match", "")
    if tag is None or tag not in {each.strip().removeprefix("W/") for each in held.split(",")}:
        return None
    return Response(status_code=304, headers={**CACHED, "etag": tag})


def _state(path: Path) -> FileState:
    found = os.stat(path)
    return found.st_ino, found.st_size, found.st_mtime_ns
