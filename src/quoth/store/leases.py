"""Leases: who owns a piece of work, and when another worker may take it over."""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from functools import cache
from pathlib import Path
from uuid import uuid4

from quoth.store.rows import digest


def new_owner() -> str:
    """Name a holder of leases, so that others on this machine see when its process is dead."""
    return f"{os.getpid()}.{machine()}.{uuid4().hex[:12]}"


def is_over(owner: str | None, until: float | None, *, now: float, seconds: float) -> bool:
    """Return whether a lease is free: it has expired, or its owner's process has ended.

    ``seconds`` is the longest that one is given for. One that reaches further than that is of a
    clock set back; its holder, if there is one, soon renews it by the clock that holds now.
    """
    ends = until or 0.0
    return ends < now or ends > now + 2 * seconds or is_dead(owner or "")


@cache
def machine() -> str:
    """Name this machine, since when it runs and where processes are counted, in few characters."""
    found = [platform.node()]
    with suppress(OSError):
        found.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii"))
        found.append(str(Path("/proc/self/ns/pid").readlink()))
    return digest(*found)[:8]


def is_dead(owner: str) -> bool:
    """Whether the process of this name (PID.MACHINE.RANDOM) is known to have ended.

    Of other machines, which share a server's catalogue, nothing is known but their leases.
    """
    pid, _, rest = owner.partition(".")
    return rest.startswith(f"{machine()}.") and not _alive(int(pid))


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
