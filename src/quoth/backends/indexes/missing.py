"""The error where a collection has no index in the store that is used."""

from __future__ import annotations

from quoth.core.errors import IndexCorrupt


def missing_index(rebuild: str) -> IndexCorrupt:
    """Return the error with both ways out; ``rebuild`` is the command that builds the index."""
    return IndexCorrupt(
        "The index is not there. If it was built in another store, name that store (--store, or "
        f"QUOTH_STORE); else rebuild it with: {rebuild}"
    )
