"""The place at which crash tests end the process."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable


def crash_hook(operation: int) -> Callable[[str], None]:
    """Return a hook that kills this process at its n-th store operation, for crash tests."""
    seen = 0

    def count(_name: str) -> None:
        nonlocal seen
        seen += 1
        if seen == operation:
            os.kill(os.getpid(), signal.SIGKILL)

    return count
