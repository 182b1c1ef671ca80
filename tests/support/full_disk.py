"""A full disk, as the process sees one: no file may grow beyond so many bytes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def no_room(*, beyond: int = 1) -> Iterator[None]:
    """Let every write beyond so many bytes of a file fail, in this process."""
    resource = pytest.importorskip("resource", reason="limits on files are a thing of Unix")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (beyond, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
