"""Read single tensors of a safetensors file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from quoth.core.errors import ConfigError
from quoth.core.protocols import Matrix

KINDS = {"F32": "<f4", "F16": "<f2", "BF16": "<u2"}
MAX_HEADER_BYTES = 100_000_000


def read_tensor(path: Path, name: str) -> Matrix | None:
    """Return a tensor as float32; None where the file or the tensor is not there.

    Raises ConfigError for a file that cannot be read. The format is that of
    https://github.com/huggingface/safetensors.
    """
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if length > MAX_HEADER_BYTES:
                raise ValueError("its header is too long")
            entry = json.loads(file.read(length)).get(name)
            if entry is None:
                return None
            start, end = entry["data_offsets"]
            file.seek(8 + length + start)
            numbers = np.frombuffer(file.read(end - start), KINDS[entry["dtype"]])
            if entry["dtype"] == "BF16":  # the upper half of a float32
                numbers = (numbers.astype(np.uint32) << 16).view(np.float32)
            tensor: Matrix = numbers.astype(np.float32).reshape(entry["shape"])
            return tensor
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(
            f"The weights file {path} cannot be read ({error}). Save the model there again."
        ) from error
