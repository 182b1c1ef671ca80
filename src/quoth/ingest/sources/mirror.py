"""A folder of fetched files, one for each host of a collection.

A page of the web, the transcript of a video or an episode of a podcast is kept as a file with its
address in a sidecar, so that adding, updating and removing it is that of any other file. A hidden
file beside them holds what the server said of each address, and what each source listed.
"""

from __future__ import annotations

import errno
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from filelock import FileLock, Timeout

from quoth.core.errors import Busy, DocumentCode, DocumentError, StorageFull
from quoth.core.replace_file import replacing
from quoth.ingest.readers.metadata import SIDECAR
from quoth.text.json_codec import decode_json

STATE = ".fetched.json"
MAX_STEPS = 8
"""Folders that the path of an address makes."""
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)

_NOT_IN_NAMES = re.compile(r"[^\w .()-]+")


@dataclass(frozen=True, slots=True)
class MirroredItem:
    """What is known of an address: its file, its version on the server, or why there is none."""

    file: str = ""
    etag: str = ""
    modified: str = ""
    code: DocumentCode | None = None
    message: str = ""
    canonical: str | None = None


@dataclass(frozen=True, slots=True)
class SourceListing:
    """What a site, a playlist or a feed listed when it was last read to its end."""

    depth: int = 0
    items: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FetchedItem:
    """An item of a remote source: its file, or the reason why it has none."""

    address: str
    path: Path | None = None
    problem: DocumentError | None = None


@dataclass(slots=True)
class Mirror:
    """The fetched files of one host; use it inside `locked`."""

    folder: Path
    items: dict[str, MirroredItem] = field(default_factory=dict)
    listings: dict[str, SourceListing] = field(default_factory=dict)

    def path(self, address: str) -> Path | None:
        """Return the file of an address, None where it has none."""
        item = self.items.get(address)
        path = self.folder / item.file if item and item.file else None
        return path if path and path.is_file() else None

    def write(
        self,
        address: str,
        data: bytes,
        *,
        suffix: str,
        about: Mapping[str, str],
        item: MirroredItem = MirroredItem(),
    ) -> Path:
        """Write the file of an address and what is known of it; raises StorageFull.

        ``about`` goes to the sidecar, where values that are there already stay.
        """
        name = item.file or (self.items[address].file if address in self.items else "")
        path = self.folder / (name or self._free_name(address, suffix))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            beside = path.with_name(path.name + SIDECAR)
            _write_whole(beside, _dump({**about, **_load(beside)}).encode())
            _write_whole(path, data)
        except OSError as error:
            raise _translated(error, path) from error
        file = path.relative_to(self.folder).as_posix()
        self.items[address] = replace(item, file=file)
        self.save()
        return path

    def fail(self, address: str, problem: DocumentError) -> None:
        """Note why an address has no file; one that it has stays."""
        known = self.items.get(address, MirroredItem())
        code: Any = problem.code
        self.items[address] = replace(known, code=code, message=str(problem))
        self.save()

    def finish(self, source: str, listing: SourceListing, *, whole: bool) -> list[Path]:
        """Note what a source lists now; return the files that no source lists any more.

        Where the list is not ``whole``, what the source listed before stays.
        """
        before = self.listings.get(source, SourceListing())
        if not whole:
            items = tuple(dict.fromkeys((*before.items, *listing.items)))
            listing = SourceListing(listing.depth, items)
        self.listings[source] = listing
        listed = {item for each in self.listings.values() for item in each.items}
        gone = [path for item in before.items if item not in listed and (path := self.path(item))]
        self.save()
        return gone

    def drop(self, paths: Sequence[Path]) -> None:
        """Delete files with their sidecars."""
        names = {path.relative_to(self.folder).as_posix() for path in paths}
        for path in paths:
            path.unlink(missing_ok=True)
            path.with_name(path.name + SIDECAR).unlink(missing_ok=True)
        self.items = {key: item for key, item in self.items.items() if item.file not in names}
        self.save()

    def save(self) -> None:
        """Write what is known to the hidden file; raises StorageFull."""
        state = {
            "items": {address: asdict(item) for address, item in self.items.items()},
            "listings": {source: asdict(each) for source, each in self.listings.items()},
        }
        path = self.folder / STATE
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            _write_whole(path, _dump(state).encode())
        except OSError as error:
            raise _translated(error, path) from error

    def _free_name(self, address: str, suffix: str) -> str:
        """Return a name after the address that no other address has."""
        parts = urlsplit(address)
        steps = [_clean(step) for step in unquote(parts.path).split("/") if _clean(step)]
        if parts.path.endswith("/") or not steps:
            steps.append("index")
        steps = steps[-MAX_STEPS:]
        stem = steps[-1].removesuffix(suffix)
        digest = sha256(address.encode()).hexdigest()[:8]
        taken = {item.file for item in self.items.values()}
        names = [] if parts.query else [stem]
        for name in (*names, f"{stem}-{digest}"):
            whole = "/".join([*steps[:-1], name + suffix])
            if whole not in taken:
                return whole
        return "/".join([*steps[:-1], sha256(address.encode()).hexdigest() + suffix])


@contextmanager
def locked(folder: Path) -> Iterator[Mirror]:
    """Open the mirror in a folder for this process alone; raises Busy and StorageFull."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / ".lock", thread_local=False)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise Busy(
            f"Another process is fetching from {folder.name}. Try again when it is done.",
            retryable=True,
        ) from None
    try:
        yield _open(folder)
    finally:
        lock.release()


def _open(folder: Path) -> Mirror:
    try:
        return decode_json(Mirror, {**_load(folder / STATE), "folder": folder})
    except ValueError:  # damaged, or of a later version
        return Mirror(folder)


def _clean(step: str) -> str:
    return _NOT_IN_NAMES.sub(" ", step).strip(" .")[:100].strip(" .")


def _dump(values: Mapping[str, Any]) -> str:
    return json.dumps(values, ensure_ascii=False, indent=1) + "\n"


def _load(path: Path) -> dict[str, Any]:
    """Read a file of this module; one that is missing or damaged is as good as none."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return values if isinstance(values, dict) else {}


def _write_whole(path: Path, data: bytes) -> None:
    """Write a file so that it is never seen half-written; equal content is left alone."""
    if path.is_file() and path.stat().st_size == len(data) and path.read_bytes() == data:
        return
    with replacing(path) as draft:
        draft.write_bytes(data)


def _translated(error: OSError, path: Path) -> Exception:
    if error.errno in NO_ROOM:
        return StorageFull(f"There is no room left on the disk for {path}. Nothing was lost.")
    return error
