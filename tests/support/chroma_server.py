"""A real Chroma server on this machine, in a process of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

STARTS_S = 60


@contextmanager
def chroma_server(folder: Path) -> Iterator[str]:
    """Serve from a folder until the end of the block; gives the address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = Path(sys.executable).with_name("chroma")
    process = subprocess.Popen(
        [str(program), "run", "--path", str(folder), "--host", "127.0.0.1", "--port", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "ANONYMIZED_TELEMETRY": "False"},
    )
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_for(f"{address}/api/v2/heartbeat", process)
        yield address
    finally:
        process.terminate()
        process.wait(STARTS_S)


def _wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + STARTS_S
    while True:
        try:
            urlopen(url, timeout=2).close()
            return
        except OSError:
            if process.poll() is not None or time.monotonic() > until:
                raise
            time.sleep(0.1)
