"""Checks the log of an SQLite file (``-wal``) before the database is opened.

SQLite takes a damaged frame of the log for its end: everything that was committed after it would be
gone without a word, and so would the log, which is removed when the database is closed. The format
is that of https://www.sqlite.org/fileformat2.html#the_write_ahead_log.
"""

from __future__ import annotations

import logging
import shutil
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import numpy.typing as npt

HEADER, FRAME_HEADER = 32, 24
MAGIC = 0x377F0682
"""Of a log whose checksums are over little-endian words; one more is of big-endian ones."""
KEPT = ".damaged"
LOOKS, BETWEEN_S = 3, 0.05
"""A frame that another process is writing is whole at one of the looks."""

Words = npt.NDArray[np.uint32]

log = logging.getLogger("quoth.store")


def keep_damaged_log(file: Path) -> None:
    """Copy the log of a catalogue file where it is damaged; `damaged_logs` names the copy."""
    wal = file.with_name(f"{file.name}-wal")
    found = damaged_frame(wal)
    for _ in range(1, LOOKS):
        if found is None:
            return
        time.sleep(BETWEEN_S)
        found = found if damaged_frame(wal) == found else None
    if found is not None:
        log.error("damaged_log", extra={"file": wal.name, "frame": found})
        with suppress(OSError):
            shutil.copy2(wal, wal.with_name(f"{wal.name}{KEPT}"))


def damaged_logs(file: Path) -> list[str]:
    """Return the names of the damaged logs that were kept beside a catalogue file."""
    return sorted(path.name for path in file.parent.glob(f"{file.name}-wal{KEPT}*"))


def damaged_frame(wal: Path) -> int | None:
    """Return the number of the first damaged frame of a log, 0 for its header, None if whole.

    A write that was cut off after a frame's header looks the same as a damaged last frame.
    """
    try:
        content = wal.read_bytes()
    except OSError:
        return None
    if len(content) < HEADER:
        return None
    header = np.frombuffer(content, ">u4", HEADER // 4)
    order = ">u4" if header[0] == MAGIC + 1 else "<u4"
    first = _checksums(np.frombuffer(content, order, 6)[None], np.zeros((1, 2), np.uint32))
    page = int(header[2])
    size = FRAME_HEADER + page
    if int(header[0]) - MAGIC not in (0, 1) or (first[0] != header[6:]).any() or page % 8:
        return 0
    count = (len(content) - HEADER) // size
    body = np.frombuffer(content, np.uint8, count * size, offset=HEADER).reshape(count, size)
    about = body[:, :FRAME_HEADER].copy().view(">u4").astype(np.uint32)
    salts = (about[:, 2:4] == header[4:6].astype(np.uint32)).sum(axis=1)
    older = np.flatnonzero(salts == 0)  # frames of the time before the log began anew
    end = int(older[0]) if len(older) else count
    if not end:  # the log has just begun anew
        return None
    about, body, salts = about[:end], body[:end], salts[:end]
    covered = np.concatenate([body[:, :8], body[:, FRAME_HEADER:]], axis=1).copy().view(order)
    before = np.concatenate([header[None, 6:].astype(np.uint32), about[:-1, 4:]])
    whole = (_checksums(covered, before) == about[:, 4:]).all(axis=1) & (salts == 2)
    wrong = np.flatnonzero(~whole)
    return int(wrong[0]) + 1 if len(wrong) else None


def _checksums(words: npt.NDArray[np.unsignedinteger], before: Words) -> Words:
    """Return SQLite's checksum of each row of words, continued from the one ``before``.

    For every pair of words x: s0 += x0 + s1, s1 += x1 + s0, modulo 2^32. That is linear, so each
    word is weighted by the matrix that the later steps apply to it.
    """
    pairs = words.astype(np.uint32).reshape(len(words), -1, 2)
    step, enters = np.array([[1, 1], [1, 2]], np.uint32), np.array([[1, 0], [1, 1]], np.uint32)
    later = np.eye(2, dtype=np.uint32)
    weights = np.empty((pairs.shape[1], 2, 2), np.uint32)
    for at in reversed(range(pairs.shape[1])):
        weights[at] = later @ enters
        later = later @ step
    found = before @ later.T
    for side in (0, 1):
        found[:, side] += (pairs * weights[:, side]).sum(axis=(1, 2), dtype=np.uint32)
    return found
