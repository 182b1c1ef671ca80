"""Dual encoders of pictures and texts (CLIP, SigLIP) in ONNX form, on the CPU.

A folder holds what transformers and optimum export: ``vision_model.onnx`` and ``text_model.onnx``,
itself or in its folder ``onnx``, ``tokenizer.json``, ``preprocessor_config.json`` and
``config.json``. Pages are drawn in the size that the model wants, so nothing is resampled here.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import onnxruntime

from quoth.backends.embedders.onnx_model import FullTokenizer
from quoth.backends.onnx.model_folder import content_files, read_json
from quoth.backends.onnx.session import (
    SESSION_ERRORS,
    TYPES,
    TokenRow,
    compute,
    open_runtime,
    unknown_input,
)
from quoth.core.errors import ConfigError, EmbeddingError
from quoth.core.page_images import PictureShape
from quoth.core.protocols import Matrix

T = TypeVar("T")
TEXT, VISION = "text_model.onnx", "vision_model.onnx"
OUTPUTS = ("text_embeds", "image_embeds")
"""Vectors in the space of both; SigLIP's towers end in it without a projection."""
PIXELS = "pixel_values"
CLIP_TOKENS = 77
SIGLIP_TOKENS = 64
"""SigLIP was trained on texts that are all filled up to this length."""
MAX_SIDE = 2048
"""Pixels of a picture's side."""


class OnnxPageEmbedder:
    """Embeds pictures and texts with the model of a folder; a `PageEmbedder`.

    The files are opened at the first use. Raises ConfigError where one is missing.
    """

    def __init__(self, folder: Path, *, threads: int) -> None:
        self.name = folder.name
        self._folder = folder
        self._files = {name: _model_file(folder, name) for name in (TEXT, VISION)}
        for name in ("tokenizer.json", "preprocessor_config.json"):
            if not (folder / name).is_file():
                raise _missing(folder, name)
        self._config = read_json(folder / "config.json")
        self._siglip = str(self._config.get("model_type", "")).startswith("siglip")
        self._picture = read_json(folder / "preprocessor_config.json")
        self.shape = picture_shape(self._picture, folder=folder)
        self._mean = _numbers(self._picture, "image_mean", otherwise=0.0)
        self._spread = _numbers(self._picture, "image_std", otherwise=1.0)
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="embed-pages")

    @cached_property
    def revision(self) -> str:
        """Return what identifies the model's files; reads them at first."""
        digest = hashlib.sha256()
        models = (path for file in self._files.values() for path in content_files(file))
        for path in (*models, self._folder / "tokenizer.json"):
            with path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
        digest.update(repr(sorted(self._picture.items())).encode())
        return digest.hexdigest()[:16]

    async def embed_pages(self, pictures: Sequence[bytes]) -> Matrix:
        """Return one unit row per picture, shape (pictures, dimension); raises EmbeddingError."""
        if not pictures:
            return np.zeros((0, 0), np.float32)
        size = await self._run(self._open)  # once, not by every thread
        rows = await asyncio.gather(*(self._run(partial(self._see, each)) for each in pictures))
        if rows[0].size != size:
            raise ConfigError(
                f"The two model files in {self._folder} make vectors of different sizes, "
                f"{rows[0].size} for pages and {size} for texts. Take both from one model."
            )
        return np.stack(rows)

    async def embed_query(self, query: str) -> Matrix:
        """Return the unit vector of a text; raises EmbeddingError."""
        return await self._run(lambda: self._read(query))

    def close(self) -> None:
        """Release threads and memory; running work is finished first."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _open(self) -> int:
        """Open both files, so that adding finds a wrong one; return the size of texts' vectors."""
        _ = self._vision
        return int(self._read("page").size)

    async def _run(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    @cached_property
    def _text(self) -> tuple[onnxruntime.InferenceSession, str]:
        opened = open_runtime(self._files[TEXT])
        if name := unknown_input(opened):
            raise ConfigError(f"The model file {self._files[TEXT]} wants the unknown input {name}.")
        return opened, self._output(opened, TEXT)

    @cached_property
    def _vision(self) -> tuple[onnxruntime.InferenceSession, str]:
        opened = open_runtime(self._files[VISION])
        if [node.name for node in opened.get_inputs()] != [PIXELS]:
            raise ConfigError(
                f"The model file {self._files[VISION]} has another input than {PIXELS} alone. "
                "Export the vision tower of the model by itself, or name another folder."
            )
        return opened, self._output(opened, VISION)

    @cached_property
    def _tokenizer(self) -> FullTokenizer:
        return FullTokenizer(self._folder / "tokenizer.json")

    def _read(self, query: str) -> Matrix:
        runtime, output = self._text
        config = self._config.get("text_config") or {}
        limit = config.get("max_position_embeddings")
        limit = int(limit or (SIGLIP_TOKENS if self._siglip else CLIP_TOKENS))
        (ids,) = self._tokenizer.encode([query], limit=limit)
        # Without a special token an empty text has none at all; the model needs one.
        ids = list(ids) or [0]
        if self._siglip:
            ids += [int(config.get("pad_token_id", 1))] * (limit - len(ids))
        row = TokenRow(ids, [0] * len(ids))
        return self._unit(compute(runtime, [row], outputs=[output], error=_failed)[0])

    def _see(self, pixels: bytes) -> Matrix:
        runtime, output = self._vision
        shape = (self.shape.height, self.shape.width, 3)
        picture = np.frombuffer(pixels, np.uint8).reshape(shape).astype(np.float32)
        if self._picture.get("do_rescale", True):
            picture *= np.float32(self._picture.get("rescale_factor", 1 / 255))
        if self._picture.get("do_normalize", True):
            picture = (picture - self._mean) / self._spread
        kind = TYPES.get(runtime.get_inputs()[0].type, np.float32)
        given = {PIXELS: np.ascontiguousarray(picture.transpose(2, 0, 1)[None].astype(kind))}
        try:
            return self._unit(runtime.run([output], given)[0])
        except SESSION_ERRORS as error:
            raise _failed(str(error)) from error

    def _output(self, runtime: onnxruntime.InferenceSession, name: str) -> str:
        there = [node.name for node in runtime.get_outputs()]
        wanted = (*OUTPUTS, "pooler_output") if self._siglip else OUTPUTS
        found = next((each for each in wanted if each in there), None)
        if found is None:
            raise ConfigError(
                f"The model file {self._files[name]} has none of the outputs {', '.join(wanted)}. "
                "Export it with its projection into the space of both, or name another folder."
            )
        return found

    def _unit(self, output: Any) -> Matrix:
        vector = np.asarray(output, np.float32)[0]
        length = float(np.linalg.norm(vector))
        if vector.ndim != 1 or not 0 < length < np.inf:
            raise EmbeddingError(
                f"The model {self.name} gave no usable vector: shape {vector.shape}, length "
                f"{length}. Check the model folder."
            )
        unit: Matrix = (vector / length).astype(np.float32)
        return unit


def picture_shape(config: Mapping[str, Any], *, folder: Path) -> PictureShape:
    """Return the picture that ``preprocessor_config.json`` describes; raises ConfigError."""
    try:
        size, cut = config["size"], config.get("crop_size")
        if isinstance(size, dict) and "width" in size:
            shape = PictureShape(int(size["width"]), int(size["height"]))
        else:
            shorter = size["shortest_edge"] if isinstance(size, dict) else size
            cut = cut or {}
            width, height = (cut["width"], cut["height"]) if isinstance(cut, dict) else (cut, cut)
            shape = PictureShape(int(width), int(height), int(shorter))
    except (TypeError, ValueError, KeyError):
        shape = PictureShape(0, 0)
    sides = (shape.width, shape.height)
    if not 1 <= min(sides) <= max(sides) <= MAX_SIDE or (shape.shorter or MAX_SIDE) < max(sides):
        raise ConfigError(
            f"The file {folder / 'preprocessor_config.json'} does not say how large a picture is "
            f"(size, crop_size, up to {MAX_SIDE} pixels). Save the one of the model there."
        )
    return shape


def _numbers(config: Mapping[str, Any], name: str, *, otherwise: float) -> Matrix:
    return np.asarray(config.get(name) or [otherwise] * 3, np.float32)


def _model_file(folder: Path, name: str) -> Path:
    for path in (folder / name, folder / "onnx" / name):
        if path.is_file():
            return path
    raise _missing(folder, name)


def _missing(folder: Path, name: str) -> ConfigError:
    return ConfigError(
        f"The folder {folder} of the model for pictures of pages has no {name}. Save the one of a "
        "CLIP or SigLIP model there, exported to ONNX as two files, or name another folder."
    )


def _failed(reason: str) -> EmbeddingError:
    return EmbeddingError(f"The model for pictures of pages failed: {reason}")
