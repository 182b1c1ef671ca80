"""Leases: ownership of a task, and when another worker may take it over."""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from functools import cache
from pathlib import Path
from uuid import uuid4

from quoth.store.rows import digest


def new_owner() -> str:
    """Return a new owner name, from which this machine can tell whether its process is dead."""
    return f"{os.getpid()}.{machine()}.{uuid4().hex[:12]}"


def is_over(owner: str | None, until: float | None, *, now: float, seconds: float) -> bool:
    """Return whether a lease is free: it has expired, or its owner's process has ended.

    ``seconds`` is the maximum duration. A lease that extends further was written before the clock
    was set back; a live owner soon renews it by the current clock.
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
    """Return whether the process of an owner (PID.MACHINE.RANDOM) is known to have ended.

    Owners on other machines, which share a server's catalogue, are known by their leases only.
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
