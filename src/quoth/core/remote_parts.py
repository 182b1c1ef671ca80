"""Components that receive texts or vectors outside this process, beside language models."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

RemoteKind = Literal["embedder", "reranker", "store", "files", "moderator"]


@dataclass(frozen=True, slots=True)
class RemotePart:
    """A component on a server: the host that receives ``what``; ``local`` means this machine.

    ``url`` is its whole address, which may hold a password.
    """

    part: RemoteKind
    name: str
    endpoint: str
    local: bool
    what: tuple[str, ...]
    url: str = field(default="", repr=False)
