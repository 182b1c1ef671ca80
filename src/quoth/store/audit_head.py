"""The latest hash of each audit chain, in a file next to the database.

A chain reveals every change except the removal of its newest rows. The file reveals that, as long
as the attacker cannot change the file as well; otherwise only a hash stored elsewhere, such as in
the service logs, does.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from quoth.core.errors import InputError
from quoth.store.audit import ChainTip
from quoth.store.rows import folder_name


def load_head(home: Path, tenant: str) -> ChainTip | None:
    """Return the stored hash, None where none can be read."""
    try:
        found = json.loads(_path(home, tenant).read_text(encoding="utf-8"))
        return ChainTip(int(found["number"]), str(found["hash"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def store_head(home: Path, tenant: str, *, head: ChainTip) -> bool:
    """Store a newer hash; return False where it cannot be written."""
    before = load_head(home, tenant)
    if before is not None and before.number >= head.number:
        return True
    path = _path(home, tenant)
    draft = path.with_suffix(f".{os.getpid()}.draft")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(json.dumps({"number": head.number, "hash": head.hash}), encoding="utf-8")
        draft.replace(path)
    except OSError:
        return False
    return True


def read_head(text: str) -> ChainTip:
    """Read NUMBER:HASH; raises InputError."""
    number, found, value = text.partition(":")
    if not found or not number.isascii() or not number.isdigit() or not value:
        raise InputError(f"'{text}' is no head. Write NUMBER:HASH, as `quoth audit verify` does.")
    return ChainTip(int(number), value)


def _path(home: Path, tenant: str) -> Path:
    return home / "audit" / f"{folder_name(tenant)}.json"
