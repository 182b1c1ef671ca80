"""The segments of a table and the manifest that names those of the active snapshot.

Segments are derived data: where one is missing or damaged, the next write or search builds it from
the table. Where several machines share a table, manifest and segments are on their
storage, and the folder holds copies of the segments, which never change.
"""

from __future__ import annotations

import asyncio
import math
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from quoth.backends.indexes.snapshot.files import (
    SIGNED,
    Manifest,
    Stored,
    Version,
    file_checksum,
    map_segment,
    read_manifest,
    remove_file,
    unpack_mask,
    write_arrays,
    write_manifest,
)
from quoth.backends.indexes.snapshot.search import Part, Snapshot
from quoth.backends.indexes.snapshot.segment import Numbers, Segment, encode_key
from quoth.core.errors import BackendError
from quoth.core.object_folder import ObjectFolder
from quoth.core.replace_file import replacing

SEGMENT_ROWS = 250_000
"""Rows of a full segment: it is not merged any more."""
TRIES = 3
REFRESH_S = 1.0
"""Seconds after which shared storage is asked again whether there is a newer manifest."""
PATIENCE_S = 1.0
KEEP_COPIES_S = 600.0


class SegmentStore:
    """The segments of one table in a folder; a writer holds the writer lock of the table.

    ``shared`` is the storage of all machines, if there is one.
    """

    def __init__(self, root: Path, table: str, *, shared: ObjectFolder | None = None) -> None:
        self._root = root
        self._table = table
        self.manifest_path = root / f"{table}.scan.json"
        self._shared = None if shared is None else shared.below(table)
        self._looked = -math.inf
        self._refreshing: asyncio.Task[None] | None = None
        self._writes = 0
        self._seen: bytes | None = None
        self._loaded: dict[str, Segment] = {}
        self._lock = asyncio.Lock()
        self.latest: Snapshot | None = None
        """The snapshot that was searched last, found without looking at the disk."""

    # --- reading ------------------------------------------------------------------------------

    async def current(self) -> Snapshot | None:
        """Return the active snapshot, None where there is none; read again when it has changed.

        Shared storage is looked at every `REFRESH_S`; while it fails, what is here answers.
        """
        if self._shared is not None:
            await self._refresh()
        elif self._signature() != self._seen:
            async with self._lock:
                # Looked at before reading: a write meanwhile makes the next call read again.
                seen = self._signature()
                if seen != self._seen:
                    self.latest = await asyncio.to_thread(self._open) if seen else None
                    self._seen = seen
        return self.latest

    async def _refresh(self) -> None:
        """Look for a newer manifest; wait for it at most `PATIENCE_S` if there is an older one."""
        if self._refreshing is None or self._refreshing.done():
            if time.monotonic() - self._looked < REFRESH_S:
                return
            self._looked = time.monotonic()
            self._refreshing = asyncio.create_task(self._reload(self._writes))
        if self.latest is None:
            await asyncio.shield(self._refreshing)
        else:
            left_s = self._looked + PATIENCE_S - time.monotonic()
            await asyncio.wait({self._refreshing}, timeout=max(0.0, left_s))

    async def _reload(self, writes: int) -> None:
        found, content = self.latest, self._seen
        try:
            content = await asyncio.to_thread(self._read)
            if content != self._seen:
                found = await asyncio.to_thread(self._open) if content else None
        except BackendError:
            if self.latest is None:
                raise
        if writes == self._writes:  # else this machine has written something newer
            self.latest, self._seen = found, content

    def _reread(self) -> None:
        """Make the next search look at the storage."""
        self._writes += 1
        self._looked, self._refreshing = -math.inf, None

    def manifest(self) -> Manifest | None:
        """Return the manifest, None where there is none that can be read."""
        content = self._read()
        return None if content is None else read_manifest(content)

    def parts_of(self, version: Version) -> list[Part] | None:
        """Return all segments, None unless they are whole and of this version of the table."""
        manifest = self.manifest()
        if manifest is None or manifest.version != version:
            return None
        parts = self.parts(manifest)
        return parts if len(parts) == len(manifest.segments) else None

    def may_hold(self, chunk_ids: Sequence[str], version: Version) -> bool:
        """Return whether a row of these ids may be there already or twice; False is certain."""
        if len(set(chunk_ids)) < len(chunk_ids):
            return True
        parts = self.parts_of(version)
        keys = np.array([encode_key("id", chunk_id) for chunk_id in chunk_ids], np.uint64)
        return parts is None or any(len(part.segment.find(keys)[0]) for part in parts)

    def parts(self, manifest: Manifest) -> list[Part]:
        """Return those segments of a manifest that are whole."""
        loaded = [(self._segment(each), each.alive) for each in manifest.segments]
        self._loaded = {segment.name: segment for segment, _ in loaded if segment}
        return [
            Part(each, unpack_mask(alive, each.rows) if alive else None)
            for each, alive in loaded
            if each
        ]

    def close(self) -> None:
        """Release the segments."""
        self._seen, self._loaded, self.latest = None, {}, None

    # --- writing ------------------------------------------------------------------------------

    def write(self, arrays: Mapping[str, Numbers]) -> Segment:
        """Write a segment to a new file; it is active once a manifest names it."""
        name = f"{self._table}.{uuid.uuid4().hex[:12]}.scan"
        try:
            write_arrays(self._root / name, arrays)
            checksum = file_checksum(self._root / name)
            segment = map_segment(self._root / name, checksum=checksum)
        except BaseException:
            (self._root / name).unlink(missing_ok=True)
            raise
        self._loaded = {**self._loaded, name: segment}
        if self._shared is not None:
            self._shared.upload(name, self._root / name)
        return segment

    def activate(self, parts: Sequence[Part], *, version: Version) -> None:
        """Replace the manifest in one step, and remove the files that it does not name."""
        content = write_manifest(parts, version=version)
        if self._shared is not None:
            self._shared.put(self.manifest_path.name, content)
            self._reread()
        else:
            with replacing(self.manifest_path) as draft:
                draft.write_bytes(content)
        self._remove_except({part.segment.name for part in parts})

    def remove(self) -> None:
        """Remove the manifest and every segment of the table."""
        self.manifest_path.unlink(missing_ok=True)
        if self._shared is not None:
            self._shared.delete([self.manifest_path.name])
            self._reread()
        self._remove_except(set())

    # --- files --------------------------------------------------------------------------------

    def _signature(self) -> bytes | None:
        """Return the digest of the manifest, which changes with every write."""
        try:
            with open(self.manifest_path, "rb", buffering=0) as file:
                return file.read(SIGNED)
        except OSError:
            return None

    def _read(self) -> bytes | None:
        """Return the content of the manifest, None where there is none."""
        if self._shared is not None:
            return self._shared.get(self.manifest_path.name)
        try:
            return self.manifest_path.read_bytes()
        except OSError:
            return None

    def _open(self) -> Snapshot | None:
        """Read the snapshot; a segment that a writer has just removed has a newer manifest."""
        for _ in range(TRIES):
            manifest = self.manifest()
            if manifest is None:
                break
            parts = self.parts(manifest)
            if len(parts) == len(manifest.segments):
                if self._shared is not None:
                    self._remove_copies({each.name for each in manifest.segments})
                return Snapshot(parts)
        return None

    def _segment(self, stored: Stored) -> Segment | None:
        """Map a segment's file into memory after checking it; None for one that is damaged."""
        if stored.name in self._loaded:
            return self._loaded[stored.name]
        path, checksum = self._root / stored.name, (stored.size, stored.crc)
        if self._shared is not None and not path.is_file():
            self._shared.download(stored.name, path)
        try:
            if path.stat().st_size != stored.size or file_checksum(path) != checksum:
                return None
            return map_segment(path, checksum=checksum)
        except (OSError, ValueError, KeyError):
            return None

    def _remove_except(self, kept: set[str]) -> None:
        for path in self._root.glob(f"{self._table}.*.scan"):
            if path.name not in kept:
                remove_file(path)
        if self._shared is not None:
            left = set(self._shared.names()) - kept - {self.manifest_path.name}
            self._shared.delete(left)

    def _remove_copies(self, kept: set[str]) -> None:
        """Remove copies of segments that another machine has replaced some time ago."""
        for path in self._root.glob(f"{self._table}.*.scan"):
            with suppress(OSError):
                if path.name not in kept and time.time() - path.stat().st_mtime > KEEP_COPIES_S:
                    remove_file(path)
