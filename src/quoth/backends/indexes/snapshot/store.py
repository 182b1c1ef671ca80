"""Snapshots on disk: a folder of ``.npy`` files for each, and a manifest that names the active one.

A snapshot is valid for one version of its table. It is derived data: one that is missing, damaged
or of another version is not used, and the next build replaces it.
"""

from __future__ import annotations

import asyncio
import json
import mmap
import os
import shutil
import time
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np

from quoth.backends.indexes.checksum import file_checksum
from quoth.backends.indexes.snapshot.search import PACKED, Numbers, Snapshot

FORMAT = 3
SETTLED_S = 2.0

Version = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Manifest:
    """The active snapshot: its folder, the version of the table, size and CRC-32 of each file."""

    folder: str
    version: Version
    files: Mapping[str, tuple[int, int]]
    format: int = FORMAT


class SnapshotReader:
    """Opens the snapshot of a table's present version; does so again when either has changed."""

    def __init__(self, root: Path, table: str) -> None:
        self._root = root
        self._table = table
        self._seen: tuple[Version | None, Version | None] | None = None
        self._loaded: tuple[str, Snapshot | None] = ("", None)
        self._lock = asyncio.Lock()
        self.latest: Snapshot | None = None
        """The snapshot that was searched last, found without looking at the disk."""

    async def current(self) -> Snapshot | None:
        """Return the snapshot of the table's present version, None where there is none."""
        if self._look() != self._seen:
            async with self._lock:
                # Looked at before reading: a write meanwhile makes the next call read again.
                seen = self._look()
                if seen != self._seen:
                    self.latest = await asyncio.to_thread(self._open) if all(seen) else None
                    self._seen = seen
        return self.latest

    def close(self) -> None:
        """Release the snapshot."""
        self._seen, self._loaded, self.latest = None, ("", None), None

    def _look(self) -> tuple[Version | None, Version | None]:
        return _table_signature(self._root, self._table), _manifest_signature(
            self._root, self._table
        )

    def _open(self) -> Snapshot | None:
        manifest = read_manifest(self._root, self._table)
        if manifest is None or manifest.version != table_version(self._root, self._table):
            return None
        if manifest.folder != self._loaded[0]:
            self._loaded = (manifest.folder, _load(self._root, manifest))
        return self._loaded[1]


def write_snapshot(
    root: Path, table: str, *, arrays: Mapping[str, Numbers], version: Version
) -> None:
    """Write the arrays to a new folder and activate it; a failure leaves nothing behind."""
    folder = root / f"{table}.{uuid.uuid4().hex[:12]}.scan"
    try:
        folder.mkdir()
        for name, array in arrays.items():
            np.save(folder / f"{name}.npy", array)
        files = {name: file_checksum(folder / f"{name}.npy") for name in arrays}
        activate(root, table, manifest=Manifest(folder.name, version, files))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def activate(root: Path, table: str, *, manifest: Manifest) -> None:
    """Replace the manifest in one step, and remove the snapshots that were active before."""
    path = manifest_path(root, table)
    draft = path.with_suffix(".tmp")
    draft.write_text(json.dumps(asdict(manifest)), encoding="utf-8")
    draft.replace(path)
    _remove_except(root, table, kept=manifest.folder)


def remove_snapshots(root: Path, table: str) -> None:
    """Remove the manifest and every snapshot of the table."""
    manifest_path(root, table).unlink(missing_ok=True)
    _remove_except(root, table, kept="")


def manifest_path(root: Path, table: str) -> Path:
    """Return the path of the manifest."""
    return root / f"{table}.scan.json"


def read_manifest(root: Path, table: str) -> Manifest | None:
    """Return the manifest, None where there is none that can be read."""
    try:
        found = json.loads(manifest_path(root, table).read_bytes())
        files = {name: (int(size), int(crc)) for name, (size, crc) in found["files"].items()}
        manifest = Manifest(found["folder"], tuple(found["version"]), files, found["format"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return manifest if manifest.format == FORMAT else None


def table_version(root: Path, table: str) -> Version | None:
    """Return the name of a table's present version, which a copy of the folder has, too."""
    versions = root / f"{table}.lance" / "_versions"
    try:
        names = [name for name in os.listdir(versions) if name.endswith(".manifest")]
        # Versions count up, or, in names of twenty digits, down from the greatest number.
        latest = min(names) if len(min(names)) > 20 else max(names, key=lambda n: (len(n), n))
        content = (versions / latest).read_bytes()
    except (OSError, ValueError):
        return None
    return latest, blake2b(content, digest_size=16).hexdigest()


def _table_signature(root: Path, table: str) -> Version | None:
    """Return what changes with every write to a table, in microseconds; None without a table.

    Every write adds a file to ``_versions``, which changes that folder's time. Two writes within
    one clock tick have the same time, so recent ones are distinguished by file names.
    """
    # Called three times per query: building paths would take longer than the stat call.
    versions = os.path.join(root, f"{table}.lance", "_versions")
    try:
        status = os.stat(versions)
        recent = time.time() - status.st_mtime <= SETTLED_S
        names = sorted(os.listdir(versions)) if recent else []
    except OSError:
        return None
    return str(status.st_ino), str(status.st_mtime_ns), *names[:1], *names[-1:]


def _manifest_signature(root: Path, table: str) -> Version | None:
    try:
        status = os.stat(os.path.join(root, f"{table}.scan.json"))
    except OSError:
        return None
    return str(status.st_ino), str(status.st_mtime_ns), str(status.st_size)


def _load(root: Path, manifest: Manifest) -> Snapshot | None:
    """Map a snapshot's files into memory after checking them; None for one that is damaged."""
    mapped: dict[str, Numbers] = {}
    try:
        for name, checksum in manifest.files.items():
            path = root / manifest.folder / f"{name}.npy"
            if path.stat().st_size != checksum[0] or file_checksum(path) != checksum:
                return None
            mapped[name] = np.load(path, mmap_mode="r")
        snapshot = Snapshot({name: array.view(np.ndarray) for name, array in mapped.items()})
    except (OSError, ValueError, KeyError):
        return None
    for name in PACKED:
        pages: object = mapped[name].base
        if isinstance(pages, mmap.mmap) and hasattr(pages, "madvise"):
            # The product has packed these for its own use and hardly reads them any more.
            pages.madvise(mmap.MADV_DONTNEED)
    return snapshot


def _remove_except(root: Path, table: str, *, kept: str) -> None:
    for path in root.glob(f"{table}.*.scan"):
        if path.is_dir() and path.name != kept:
            # Some systems keep files that a search still reads.
            shutil.rmtree(path, ignore_errors=True)
        elif path.is_file():  # of the earlier format
            with suppress(OSError):
                path.unlink()
