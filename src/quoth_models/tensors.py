"""Tensors of a transformers folder, read one at a time, and written beside an ONNX model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import IO

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from quoth.backends.onnx.tensors import MAX_HEADER_BYTES, read_tensor
from quoth.core.errors import ConfigError
from quoth_models.graph import Array

INLINE_BYTES = 1024
"""Smaller tensors stay in the model file."""
ALIGNMENT = 64


class FolderTensors:
    """The tensors of a folder's ``*.safetensors`` files by their names, without a common prefix.

    Raises ConfigError where there is none, or one cannot be read.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: Mapping[str, Path] = {
            name: path for path in sorted(folder.glob("*.safetensors")) for name in _names(path)
        }
        if not self._files:
            raise ConfigError(
                f"The folder {folder} has no model.safetensors. Download the model's weights in "
                "that format there: the .bin files of torch are not read."
            )

    def __contains__(self, name: str) -> bool:
        return name in self._files

    def prefix(self, name: str) -> str:
        """Return what stands before a name, as in ``bert.``; raises ConfigError."""
        found = [each for each in self._files if f".{each}".endswith(f".{name}")]
        if not found:
            raise self._missing(name)
        return min(found, key=len).removesuffix(name)

    def __call__(self, name: str) -> Array:
        """Return a tensor as float32; raises ConfigError."""
        if name not in self._files:
            raise self._missing(name)
        tensor = read_tensor(self._files[name], name)
        if tensor is None:
            raise self._missing(name)
        return tensor

    def _missing(self, name: str) -> ConfigError:
        return ConfigError(
            f"The weights in {self._folder} have no tensor {name}, so the model is not of the kind "
            "that its config.json says. Download it again, or export it to ONNX with another tool."
        )


class DataFile:
    """Keeps large tensors in a file beside the model, as ONNX's external data."""

    def __init__(self, file: IO[bytes], *, location: str) -> None:
        self._file = file
        self._location = location

    def store(self, value: Array, name: str) -> onnx.TensorProto:
        """Write a tensor and return its entry; small ones stay in the model."""
        if value.nbytes < INLINE_BYTES:
            return numpy_helper.from_array(value, name)
        self._file.write(b"\0" * (-self._file.tell() % ALIGNMENT))
        offset = self._file.tell()
        self._file.write(np.ascontiguousarray(value).data)
        entry = TensorProto()
        entry.name = name
        entry.dims.extend(value.shape)
        entry.data_type = helper.np_dtype_to_tensor_dtype(value.dtype)
        entry.data_location = TensorProto.EXTERNAL
        told = {"location": self._location, "offset": offset, "length": value.nbytes}
        for key, said in told.items():
            entry.external_data.add(key=key, value=str(said))
        return entry


def _names(path: Path) -> list[str]:
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if length > MAX_HEADER_BYTES:
                raise ValueError("its header is too long")
            return [name for name in json.loads(file.read(length)) if name != "__metadata__"]
    except (OSError, ValueError, TypeError) as error:
        raise ConfigError(
            f"The weights file {path} cannot be read ({error}). Download it again."
        ) from error
