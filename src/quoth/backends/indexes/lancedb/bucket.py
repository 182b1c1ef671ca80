"""Where tables are that several machines share: a bucket of S3-compatible storage."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from quoth.core.object_folder import ObjectFolder

if TYPE_CHECKING:
    from sqlalchemy import Engine


@dataclass(frozen=True, slots=True)
class Bucket:
    """The address of the tables, the options of LanceDB for it, and its other objects.

    ``locks`` opens the PostgreSQL server that all machines take their turns by; None where only
    this machine writes.
    """

    address: str
    options: Mapping[str, str] = field(repr=False)
    objects: ObjectFolder
    locks: Callable[[], Engine] | None = None
