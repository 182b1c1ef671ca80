"""The other pages of a site: the HTML files beside a file."""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from quoth.core.errors import DocumentError
from quoth.core.types import ParsedDocument
from quoth.ingest.readers.detect import decode
from quoth.ingest.readers.html import html_blocks, read_html
from quoth.ingest.readers.navigation import block_keys, repeated_keys
from quoth.ingest.readers.source_file import SourceFile

MAX_NEIGHBOURS = 8
MAX_BYTES = 1 << 19
"""Larger neighbours are not read."""


def read_page(file: SourceFile) -> ParsedDocument:
    """Read a page without what the pages beside it have, too."""
    return read_html(file, repeated=_repeated_beside(file.path) if file.path else frozenset())


def _repeated_beside(path: Path) -> frozenset[str]:
    """Return the keys of the blocks that several of the nearest files by name have.

    They are those of the folder, else the files of the same name in the folders beside it.
    """
    suffix = path.suffix.lower()
    with suppress(OSError, ValueError):
        names = sorted(path.parent.iterdir())
        near = [each for each in names if each.suffix.lower() == suffix or each == path]
        if len(near) < 3:
            near = [each / path.name for each in sorted(path.parent.parent.iterdir())]
            near = [each for each in near if each == path or each.is_file()]
        at = near.index(path)
        near.remove(path)
        low = max(0, min(at - MAX_NEIGHBOURS // 2, len(near) - MAX_NEIGHBOURS))
        pages = [_keys(each, each.stat().st_mtime_ns) for each in near[low : low + MAX_NEIGHBOURS]]
        return repeated_keys(pages)
    return frozenset()


@lru_cache(maxsize=4 * MAX_NEIGHBOURS)
def _keys(path: Path, changed: int) -> frozenset[str]:
    """Return the keys of a file's blocks; ``changed`` makes a changed file another one."""
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        return frozenset()
    with suppress(DocumentError):
        blocks = html_blocks(decode(data, name=path.name)[0])
        return frozenset(key for block in blocks for key in block_keys(block))
    return frozenset()
