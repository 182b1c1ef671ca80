"""Uploaded files, stored by the hash of their content.

A file lies at ``HOME/blobs/<tenant>/<xx>/<sha256><.ext>``; the original name is in
the catalogue and never becomes part of a path. It is written as a part file and moved to
its place when it is whole and on the disk.
"""

from __future__ import annotations

import errno
import os
import re
import time
import unicodedata
from collections.abc import Collection as Group
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote, unquote, urldefrag, urlsplit

from quoth.core.errors import StorageFull, TooLarge
from quoth.store.rows import folder_name

MAX_NAME_BYTES = 255
NAMELESS = "file"
BLOCK = 1 << 20
PARTS = "parts"

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_SUFFIX = re.compile(r"\.[a-z0-9]{1,10}")
_STORED = re.compile(r"([0-9a-f]{64})(?:\.[a-z0-9]{1,10})?")
_FULL = "There is no room left on the disk for this file. Nothing was stored; try again later."


def clean_name(name: str) -> str:
    """Return a file's name as it is shown: without folders, control and direction characters.

    At most `LONGEST_NAME` characters; the suffix survives the cut. Never empty, never a path.
    """
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", name))[-1]
    shown = "".join(each for each in last if unicodedata.category(each)[0] != "C")
    shown = " ".join(shown.split())
    suffix = _suffix(shown)
    if len(shown) > MAX_NAME_BYTES:
        shown = shown[: MAX_NAME_BYTES - len(suffix)] + suffix
    return shown if shown.strip(". ") else NAMELESS


def source_of(path: Path, *, name: str) -> str:
    """Return the source of a document that came as this file: its address, with its shown name."""
    return f"{path.as_uri()}#{quote(name)}"


def source_name(source: str) -> str:
    """Return the bare name of a source: what its file is called, without any folder."""
    address, name = urldefrag(source)
    if name and stored_name(address):
        return clean_name(unquote(name))
    path = unquote(urlsplit(source).path) if source.startswith("file:") else source
    return clean_name(path)


def stored_name(source: str) -> str | None:
    """Return the stored name of the file that a source leads to; None where it is none of ours."""
    if not source.startswith("file:"):
        return None
    last = urldefrag(source).url.rpartition("/")[2]
    return last if _STORED.fullmatch(last) else None


class Blobs:
    """The files of one tenant."""

    def __init__(self, home: Path, *, tenant: str) -> None:
        self.folder = home / "blobs" / folder_name(tenant)

    def path(self, sha256: str, *, name: str) -> Path:
        """Where a file of this content lies or will lie; of its name only the suffix counts."""
        return self._place(sha256 + _suffix(name))

    def part(self, key: str) -> Path:
        """Where the file of an upload grows; ``key`` is made by us."""
        return self.folder / PARTS / key

    def original(self, source: str) -> Path | None:
        """Return the file from which a document was made, if it came in here and is still there.

        Only the content's hash is taken from the source, so nothing else can be reached by it.
        """
        name = stored_name(source)
        path = self._place(name) if name else None
        return path if path is not None and path.is_file() else None

    def store(self, part: Path, *, sha256: str, name: str) -> Path:
        """Move a whole file to its place; the same content lies there once. Raises StorageFull."""
        path = self.path(sha256, name=name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            os.replace(part, path)
            _sync_folder(path.parent)
        except OSError as error:
            raise _told(error) from error
        return path

    def clear(self, used: Group[str]) -> int:
        """Delete the files that are not among the ``used`` stored names; gives their number."""
        unused = [path for path in self._files() if path.name not in used]
        for path in unused:
            path.unlink(missing_ok=True)
        return len(unused)

    def clear_parts(self, wanted: Group[str], *, older_s: float) -> None:
        """Delete old part files without an upload, such as those of a killed process."""
        for path in self.folder.glob(f"{PARTS}/*"):
            if path.name not in wanted and _age_s(path) >= older_s:
                path.unlink(missing_ok=True)

    def _files(self) -> Iterator[Path]:
        for path in self.folder.glob("[0-9a-f][0-9a-f]/*"):
            if _STORED.fullmatch(path.name):
                yield path

    def _place(self, stored: str) -> Path:
        return self.folder / stored[:2] / stored


class PartialUpload:
    """The part of a file while it comes in, from an ``offset``; what is beyond that is cut off.

    Raises StorageFull, and TooLarge beyond ``most`` bytes.
    """

    def __init__(self, part: Path, *, offset: int, most: int) -> None:
        self._part = part
        self._most = most
        self._hash = sha256() if offset == 0 else None
        self.received = offset
        try:
            part.parent.mkdir(parents=True, exist_ok=True)
            # Without a buffer: what was written counts, and closing has nothing left to fail at.
            self._file = part.open("r+b" if offset else "wb", buffering=0)
            self._file.truncate(offset)
            self._file.seek(offset)
        except OSError as error:
            raise _told(error) from error

    def write(self, data: bytes) -> None:
        """Add bytes at the end."""
        if self.received + len(data) > self._most:
            raise TooLarge(f"This file has more than the {self._most:,} bytes that it may have.")
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            raise _told(error) from error
        if self._hash is not None:
            self._hash.update(data)
        self.received += len(data)

    def close(self) -> None:
        """Bring what came in to the disk; the part stays where it is."""
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            raise _told(error) from error
        finally:
            self._file.close()

    def sha256(self) -> str:
        """The SHA-256 of the whole file; it is read again if it came in several pieces."""
        if self._hash is None:
            self._hash = sha256()
            with self._part.open("rb") as file:
                while block := file.read(BLOCK):
                    self._hash.update(block)
        return self._hash.hexdigest()

    def release(self) -> None:
        """Let go of the part, as it is."""
        self._file.close()

    def discard(self) -> None:
        """Delete the part, if it was not moved."""
        self._file.close()
        self._part.unlink(missing_ok=True)


def _suffix(name: str) -> str:
    _stem, dot, end = name.lower().rpartition(".")
    return dot + end if _SUFFIX.fullmatch(dot + end) else ""


def _age_s(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _sync_folder(folder: Path) -> None:
    # Windows opens no folders, and brings a move to the disk by itself.
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _told(error: OSError) -> StorageFull | OSError:
    return StorageFull(_FULL) if error.errno in _NO_ROOM else error
