"""Import LanceDB without its client for remote catalogues.

That generated REST client builds hundreds of request validators on import: more than a second of
processor time that an embedded table never needs. Its API modules are replaced by lazy modules that
import the real ones on first use.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quoth.backends.indexes.lancedb.bucket import Bucket

CLIENT = "lance_namespace_urllib3_client"


def _defer_client() -> None:
    spec = importlib.util.find_spec(CLIENT)
    if CLIENT in sys.modules or spec is None or spec.origin is None:
        return
    folder = Path(spec.origin).parent / "api"
    names = [f"{CLIENT}.api.{file.stem}" for file in folder.glob("*_api.py")]
    for name in names:
        sys.modules[name] = _LazyModule(name)
    importlib.import_module(CLIENT)
    for name in names:
        del sys.modules[name]


class _LazyModule(ModuleType):
    """A module that is not loaded yet: each name is a class that loads it when it is called."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **named: getattr(importlib.import_module(self.__name__), name)(
            *args, **named
        )


_defer_client()

import lancedb  # noqa: E402
from lancedb.expr import col  # noqa: E402
from lancedb.index import BTree  # noqa: E402

__all__ = ["BTree", "col", "connect", "lancedb"]


async def connect(folder: Path, bucket: Bucket | None) -> Any:
    """Open the database of a folder or a bucket; every read sees the newest version."""
    options = dict(bucket.options) if bucket else None
    return await lancedb.connect_async(
        bucket.address if bucket else folder,
        storage_options=options,
        read_consistency_interval=timedelta(0),
    )
