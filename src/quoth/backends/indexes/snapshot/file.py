"""The file of a table's arrays, kept beside it: written whole, checked whole, mapped into memory.

``<table>.scan.json`` names the file in charge and the state of the table that it was made from;
it is replaced in one step. A file that is missing, cut off or altered counts as none.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import struct
import time
import uuid
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, astuple, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO

import numpy as np

from quoth.backends.indexes.snapshot.search import PRODUCT, Numbers, Segment

MAGIC = b"quothsc1"
MANIFEST = ".scan.json"
FORMAT = 1
ALIGNED = mmap.ALLOCATIONGRANULARITY
HEAD = struct.Struct("<8sQI")
PIECE = 1 << 20
SETTLED_S = 2.0
DAMAGED = (OSError, ValueError, KeyError, TypeError, struct.error)
"""What reading a file raises that is not as it was written."""

State = tuple[str, ...]
"""Names one state of a table or a file: another state has another one."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """The file in charge, and the state of the table when nothing was lacking in it."""

    file: str
    state: State
    format: int = FORMAT


def stat_signature(folder: Path, table: str) -> State | None:
    """Give what changes with every write to a table, in some microseconds; None without a table.

    Every write adds a file to ``_versions``, which changes that folder's time. Two writes within
    one tick of the clock leave the same time, so a fresh one is told with the files' names.
    """
    # Asked three times a question: building paths would take longer than looking.
    versions = os.path.join(folder, f"{table}.lance", "_versions")
    try:
        about = os.stat(versions)
        age_s = time.time() - about.st_mtime
        names = [] if age_s > SETTLED_S else sorted(os.listdir(versions))
    except OSError:
        return None
    return str(about.st_ino), str(about.st_mtime_ns), *names[:1], *names[-1:]


def state(folder: Path, table: str) -> State | None:
    """Give the name of a table's present state that a copy of the folder has, too."""
    versions = folder / f"{table}.lance" / "_versions"
    try:
        names = [name for name in os.listdir(versions) if name.endswith(".manifest")]
        # Versions count up, or, in names of twenty digits, down from the greatest number.
        latest = min(names) if len(min(names)) > 20 else max(names, key=lambda n: (len(n), n))
        content = (versions / latest).read_bytes()
    except (OSError, ValueError):
        return None
    return latest, blake2b(content, digest_size=16).hexdigest()


def manifest_path(folder: Path, table: str) -> Path:
    """Where the name of the file in charge is kept."""
    return folder / f"{table}{MANIFEST}"


def glance_at_manifest(folder: Path, table: str) -> State | None:
    """Give what changes whenever another file is put in charge; None where there is none."""
    try:
        about = os.stat(os.path.join(folder, f"{table}{MANIFEST}"))
    except OSError:
        return None
    return str(about.st_ino), str(about.st_mtime_ns), str(about.st_size)


def read_manifest(folder: Path, table: str) -> Manifest | None:
    """Give the manifest, None where there is none that can be read."""
    try:
        found = json.loads(manifest_path(folder, table).read_bytes())
        manifest = Manifest(str(found["file"]), tuple(found["state"]), int(found["format"]))
    except DAMAGED:
        return None
    return manifest if manifest.format == FORMAT else None


def activate(folder: Path, table: str, *, manifest: Manifest) -> None:
    """Let a file serve the table, and remove those that served before."""
    path = manifest_path(folder, table)
    temporary = path.with_suffix(".tmp")
    with temporary.open("wb") as file:
        file.write(json.dumps(asdict(manifest)).encode())
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    _remove_stale(folder, table, kept=manifest.file)


def remove(folder: Path, table: str) -> None:
    """Remove the manifest and every file of the table."""
    with suppress(FileNotFoundError):
        manifest_path(folder, table).unlink()
    _remove_stale(folder, table, kept="")


def write(folder: Path, table: str, *, arrays: Mapping[str, Numbers]) -> str:
    """Write arrays to a new file; gives its name. Nothing is left of one that fails."""
    name = f"{table}.{uuid.uuid4().hex[:12]}.scan"
    path = folder / name
    places: dict[str, _Place] = {}
    at = 0
    for key, array in arrays.items():
        place = _Place(array.dtype.str, array.shape, at, zlib.crc32(_bytes(array)))
        places[key], at = place, at + _aligned(place.bytes)
    head = json.dumps({key: astuple(place) for key, place in places.items()}).encode()
    begin = _begin(len(head))
    try:
        with path.open("xb") as file:
            file.write(HEAD.pack(MAGIC, len(head), zlib.crc32(head)) + head)
            for key, array in arrays.items():
                file.seek(begin + places[key].at)
                file.write(_bytes(array))
            file.truncate(begin + at)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        with suppress(OSError):
            path.unlink()
        raise
    return name


def open_segment(path: Path) -> Segment:
    """Map a file's arrays into memory, having checked every byte; raises one of `DAMAGED`."""
    with path.open("rb") as file:
        magic, length, check = HEAD.unpack(file.read(HEAD.size))
        if length > os.fstat(file.fileno()).st_size:
            raise ValueError(f"{path} is cut off.")
        head = file.read(length) if magic == MAGIC else b""
        if magic != MAGIC or zlib.crc32(head) != check:
            raise ValueError(f"{path} is not a file of arrays.")
        begin = _begin(length)
        places = {key: _Place(*place) for key, place in json.loads(head).items()}
        for place in places.values():
            _check(file, begin, place=place)
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    arrays = {
        key: np.frombuffer(
            mapped, place.dtype, count=math.prod(place.shape), offset=begin + place.at
        ).reshape(place.shape)
        for key, place in places.items()
    }
    segment = Segment(arrays)
    if hasattr(mapped, "madvise"):
        # The product has packed these for its own use and hardly reads them any more.
        for place in (places[key] for key in PRODUCT):
            mapped.madvise(mmap.MADV_DONTNEED, begin + place.at, place.bytes)
    return segment


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an array stands behind the head, what it is and what its bytes add up to."""

    dtype: str
    shape: Sequence[int]
    at: int
    check: int

    @property
    def bytes(self) -> int:
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize


def _bytes(array: Numbers) -> memoryview:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def _begin(head: int) -> int:
    return _aligned(HEAD.size + head)


def _aligned(size: int) -> int:
    return -(-size // ALIGNED) * ALIGNED


def _check(file: BinaryIO, begin: int, *, place: _Place) -> None:
    file.seek(begin + place.at)
    left, check = place.bytes, 0
    while left:
        piece = file.read(min(left, PIECE))
        if not piece:
            raise ValueError(f"{file.name} is cut off.")
        check, left = zlib.crc32(piece, check), left - len(piece)
    if check != place.check:
        raise ValueError(f"{file.name} is not as it was written.")


def _remove_stale(folder: Path, table: str, *, kept: str) -> None:
    for path in folder.glob(f"{table}.*.scan"):
        if path.name != kept:
            with suppress(OSError):  # some systems keep a file that a search still reads
                path.unlink()
