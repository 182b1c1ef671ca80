"""Reranker with a ColBERT model: late interaction of trained token vectors."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnxruntime

from quoth.backends.late_interaction.encoding import (
    Packed,
    best_matches,
    multiply,
    normalize_rows,
    quantize_nbits,
    sum_matches,
)
from quoth.backends.late_interaction.token_vectors import TokenSpace, open_vectors
from quoth.backends.onnx.model_folder import ModelFolder, read_json
from quoth.backends.onnx.session import (
    BackgroundModel,
    TokenRow,
    compute,
    open_runtime,
    unknown_input,
)
from quoth.backends.onnx.tensors import read_tensor
from quoth.backends.rerankers.colbert_tokens import SpecialTokens, marker_settings, token_row
from quoth.backends.rerankers.model_folder import (
    check_vocabulary,
    describe_reranker,
    incompatible_reason,
)
from quoth.core.errors import ConfigError, EmbeddingError, RerankError
from quoth.core.protocols import Matrix, Role
from quoth.core.types import Chunk

PROJECTIONS = ("1_Dense/model.safetensors", "model.safetensors")
PROJECTION = "linear.weight"


@dataclass(frozen=True, slots=True)
class ColbertSession:
    """An open ColBERT; ``projection`` is None where the graph has it inside."""

    folder: ModelFolder
    runtime: onnxruntime.InferenceSession
    output: str
    projection: Matrix | None

    def vectors(self, texts: Sequence[TokenRow]) -> list[Matrix]:
        """Return the unit vectors of the selected tokens; raises RerankError."""
        found = []
        for text in texts:
            (output,) = compute(
                self.runtime,
                [text],
                outputs=[self.output],
                error=lambda said: RerankError(f"The reranker {self.folder.name} failed: {said}"),
            )
            rows = np.asarray(output[0], np.float32)[text.marked]
            found.append(
                normalize_rows(
                    rows if self.projection is None else multiply(rows, self.projection.T)
                )
            )
        return found


class ColbertModel:
    """A `TokenEmbedder` for queries and documents.

    Opening checks the folder and loads in the background; the first call waits, and raises
    ConfigError where the files do not match. Each of ``threads`` threads computes one text at a
    time.
    """

    def __init__(self, folder: Path, *, threads: int, gpu: bool = False) -> None:
        described, _kind = describe_reranker(folder, gpu=gpu)
        self.name = described.name
        self.revision = _stamp(described)
        self.dimension = _dimension(described)
        self._model = BackgroundModel[tuple[SpecialTokens, ColbertSession], TokenRow, Matrix](
            lambda: _open(described, dimension=self.dimension, gpu=gpu),
            lambda opened, texts: opened[1].vectors(texts),
            max_batch=1,
            threads=threads,
            name="colbert",
        )

    async def embed_tokens(
        self, texts: Sequence[str], *, role: Role
    ) -> tuple[Matrix, list[Matrix]]:
        """Return the unit vectors of each text's tokens; the rows for whole texts are empty."""

        def mark(opened: tuple[SpecialTokens, ColbertSession]) -> list[TokenRow]:
            marker = opened[0].question if role == "query" else opened[0].document
            return [marker(text) for text in texts]

        try:
            vectors = await self._model.run(mark)
        except RerankError as error:
            raise EmbeddingError(str(error)) from error
        return np.zeros((len(texts), 0), np.float32), vectors

    def close(self) -> None:
        """Release threads and memory."""
        self._model.close()


def _open(
    folder: ModelFolder, *, dimension: int, gpu: bool
) -> tuple[SpecialTokens, ColbertSession]:
    marker = SpecialTokens(folder)
    check_vocabulary(folder, size=marker.size)
    runtime = open_runtime(folder.model, gpu=gpu)
    if name := unknown_input(runtime):
        raise incompatible_reason(folder, f"it wants the input {name}")
    shapes = {node.name: node.shape for node in runtime.get_outputs()}
    tokens = [name for name, shape in shapes.items() if len(shape or ()) == 3]
    if not tokens:
        raise incompatible_reason(
            folder, f"none of its outputs ({', '.join(shapes)}) has a vector per token"
        )
    model = ColbertSession(folder, runtime, tokens[0], None)
    last = token_row([*marker.question("a").ids, marker.size - 1], 1, [0])
    try:
        width = model.vectors([last])[0].shape[1]
    except RerankError as error:
        raise incompatible_reason(
            folder, f"it failed on the last token of {folder.tokenizer} ({error})"
        ) from error
    if width == dimension:
        return marker, model
    matrix = _projection(folder.path)
    if matrix is None or matrix.shape != (dimension, width):
        raise incompatible_reason(
            folder,
            f"its token vectors have {width} components, and no projection from {width} to "
            f"{dimension} ({PROJECTION}) is in {' or '.join(PROJECTIONS)}",
        )
    return marker, ColbertSession(folder, runtime, tokens[0], matrix)


def _projection(folder: Path) -> Matrix | None:
    for place in PROJECTIONS:
        if (matrix := read_tensor(folder / place, PROJECTION)) is not None:
            return matrix
    return None


def _dimension(folder: ModelFolder) -> int:
    dense = read_json(folder.path / "1_Dense" / "config.json").get("out_features")
    told = dense or marker_settings(folder.path).get("dim")
    if not told:
        matrix = _projection(folder.path)
        told = matrix.shape[0] if matrix is not None else folder.config.get("hidden_size")
    if not told:
        raise ConfigError(
            f"The reranker's folder {folder.path} does not say how long its token vectors are. "
            "Add artifact.metadata (dim), 1_Dense/config.json (out_features) or config.json "
            "(hidden_size)."
        )
    return int(told)


def _stamp(folder: ModelFolder) -> str:
    """Return the stat signature of the model file: its size and time."""
    facts = folder.model.stat()
    return f"{facts.st_size:x}.{facts.st_mtime_ns:x}"


class ColbertReranker:
    """A `Reranker` that scores passages by the sum of the best matches of the query tokens.

    ``store`` is the folder of the token vectors that adding and `quoth reindex` write, one byte per
    component; others are computed on scoring.
    """

    def __init__(
        self, folder: Path, *, threads: int, gpu: bool = False, store: Path | None = None
    ) -> None:
        self._model = ColbertModel(folder, threads=threads, gpu=gpu)
        self.name = self._model.name
        self._space = TokenSpace(self._model, form=quantize_nbits(self._model.dimension))
        self.vectors = open_vectors(self._space, folder=store)

    def over(self, store: Path | None) -> ColbertReranker:
        """Return a reranker with the same model and the token vectors of another store."""
        other = copy(self)
        other.vectors = open_vectors(self._space, folder=store)
        return other

    async def score(
        self, query: str, chunks: Sequence[Chunk], *, tokens: Matrix | None = None
    ) -> list[float]:
        """Return one score per chunk, higher is better; raises RerankError."""
        if not chunks:
            return []
        try:
            question, passages = await asyncio.gather(
                self.vectors.space.question(query), self.vectors.passages(chunks)
            )
        except EmbeddingError as error:
            raise RerankError(str(error), retryable=error.retryable) from error
        return await asyncio.to_thread(self._summed, question, passages)

    def close(self) -> None:
        """Release threads and memory."""
        self._model.close()

    def _summed(self, question: Matrix, passages: Sequence[Packed]) -> list[float]:
        return sum_matches(best_matches(question, passages, form=self.vectors.space.form))
