"""A real Milvus server on this machine, from the wheel ``milvus`` (2.3.5); started for a block."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

START_S = 120.0


@contextmanager
def milvus_server(folder: Path) -> Iterator[str]:
    """Yield the address of a server with its data in a folder; skips where the wheel is missing."""
    milvus = pytest.importorskip("milvus", reason="the wheel milvus==2.3.5 is not installed")
    client = pytest.importorskip("pymilvus")
    server = milvus.MilvusServer()
    server.set_base_dir(str(folder))
    with socket.create_server(("127.0.0.1", 0)) as free:
        server.listen_port = free.getsockname()[1]
    server.start()
    try:
        address = f"http://127.0.0.1:{server.listen_port}"
        began = time.monotonic()
        while True:
            try:
                client.MilvusClient(uri=address, timeout=5).close()
                break
            except client.MilvusException:
                if time.monotonic() - began > START_S:
                    raise
                time.sleep(1)
        yield address
    finally:
        server.stop()
