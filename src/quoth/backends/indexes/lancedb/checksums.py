"""Checksums of a table's files, stored next to it: LanceDB has none.

A table's files are immutable, so each is recorded when it appears, under the writer lock, and all
are verified when the table is opened. A damaged checksum file, or a file without checksum, is
ignored; the next write records it.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from quoth.backends.indexes.snapshot.files import file_checksum
from quoth.core.errors import IndexCorrupt
from quoth.core.replace_file import replacing

CHANGING = ("latest_version_hint.json",)
"""Files that are rewritten in place; they only say where to begin to look."""

Sums = dict[str, tuple[int, int]]
"""Bytes and CRC-32 of each file, by its path within the table."""


class TableChecksums:
    """The checksums of one table of a folder; ``rebuild`` is the command for a damaged one."""

    def __init__(self, folder: Path, table: str, *, rebuild: Callable[[], str]) -> None:
        self._rebuild = rebuild
        self._root = folder / f"{table}.lance"
        self._file = folder / f"{table}.sums"
        self._latest: tuple[str, Sums] = ("", {})
        """The first line of the file and its content when it was last read or written."""

    def check(self) -> None:
        """Read every file of the table that was noted; raises IndexCorrupt."""
        for name, noted in self._read().items():
            with suppress(FileNotFoundError):  # cleared away by a writer
                if file_checksum(self._root / name) != noted:
                    raise IndexCorrupt(
                        f"The index is damaged: its file {name.rpartition('/')[2]} is not as it "
                        f"was written. Rebuild it with: {self._rebuild()}"
                    )

    def note(self) -> None:
        """Record new files and drop deleted ones; requires the writer lock."""
        known = self._read()
        now: Sums = {}
        for name in self._there():
            with suppress(FileNotFoundError):
                now[name] = known.get(name) or file_checksum(self._root / name)
        if now == known:
            return
        text = json.dumps(now, separators=(",", ":"))
        check = str(zlib.crc32(text.encode()))
        with replacing(self._file) as draft:
            draft.write_text(f"{check}\n{text}", encoding="utf-8")
        self._latest = check, now

    def forget(self) -> None:
        """Remove the checksums, as the table is removed."""
        self._file.unlink(missing_ok=True)

    def _there(self) -> Iterator[str]:
        begin = len(str(self._root)) + 1
        for folder, _folders, names in os.walk(self._root):
            inside = folder[begin:].replace(os.sep, "/")
            for name in names:
                if name not in CHANGING:
                    yield f"{inside}/{name}" if inside else name

    def _read(self) -> Sums:
        try:
            with self._file.open(encoding="utf-8") as file:
                check = file.readline().rstrip("\n")
                if check == self._latest[0]:
                    return self._latest[1]
                text = file.read()
            if zlib.crc32(text.encode()) != int(check):
                return {}
            found = {name: (size, crc) for name, (size, crc) in json.loads(text).items()}
            self._latest = check, found
            return found
        except (OSError, ValueError, TypeError, AttributeError):
            return {}
