"""Checksums of the files of a home that are not part of the catalogue: indexes, settings, keys.

A file whose content changed while its size and time did not was damaged by the disk; one with
another time was written anew, and its checksum is noted again. Uploaded files need no note, since
their name is the hash of their content, nor do token vectors, which hold their own checksums.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from quoth.core.replace_file import replacing

LEDGER = "checksums.json"
FOLDERS = ("audit", "index", "mirrors", "transcripts")
FILES = ("quoth.toml", "quoth.yaml", "links.key")
UNFINISHED = (".draft", ".lock", ".tmp")
BLOCK = 1 << 20

Note = list[int]
"""The size, the time of the last change in nanoseconds and the CRC-32 of a file."""


def damaged_files(home: Path) -> list[str]:
    """Return the files that are not as they were noted; note those that are new or rewritten."""
    try:
        known = _read(home / LEDGER)
        damaged = []
    except ValueError:
        known, damaged = {}, [LEDGER]
    noted: dict[str, Note] = {}
    for path in _files(home):
        name = path.relative_to(home).as_posix()
        with suppress(FileNotFoundError):  # replaced or removed meanwhile
            note = _note(path)
            before = known.get(name, note)
            if before[:2] == note[:2] and before != note:
                damaged.append(name)
                note = before
            noted[name] = note
    if noted != known:
        _write(home / LEDGER, noted)
    return damaged


def _files(home: Path) -> Iterator[Path]:
    yield from (path for path in map(home.joinpath, FILES) if path.is_file())
    for folder in FOLDERS:
        for path in sorted((home / folder).rglob("*")):
            if path.suffix not in UNFINISHED and path.is_file():
                yield path


def _note(path: Path) -> Note:
    checksum = 0
    with path.open("rb") as file:
        state = os.fstat(file.fileno())
        while block := file.read(BLOCK):
            checksum = zlib.crc32(block, checksum)
    return [state.st_size, state.st_mtime_ns, checksum]


def _read(path: Path) -> dict[str, Note]:
    """Return the notes, none before the first; raises ValueError where they are damaged."""
    if not path.is_file():
        return {}
    checksum, _newline, text = path.read_text(encoding="utf-8").partition("\n")
    if int(checksum) != zlib.crc32(text.encode()):
        raise ValueError("the notes are damaged")
    notes: dict[str, Note] = json.loads(text)
    return notes


def _write(path: Path, notes: dict[str, Note]) -> None:
    text = json.dumps(notes, indent=0)
    # Without room, or in a folder that cannot be written, the notes before stay.
    with suppress(OSError), replacing(path) as draft:
        draft.write_text(f"{zlib.crc32(text.encode())}\n{text}", encoding="utf-8")
