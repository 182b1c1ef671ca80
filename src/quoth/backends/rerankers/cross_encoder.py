"""Reranker with a cross-encoder in ONNX form.

A folder holds ``model.onnx`` or ``onnx/model.onnx``, ``tokenizer.json`` and ``config.json``. The
model returns one logit per pair, or two of which the second is the positive class, or is a language
model that answers yes or no (Qwen3-Reranker).
"""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnxruntime

from quoth.backends.onnx.model_folder import ModelFolder
from quoth.backends.onnx.session import (
    BackgroundModel,
    Numbers,
    TokenRow,
    compute,
    gpu_provider,
    open_runtime,
    unknown_input,
)
from quoth.backends.rerankers.model_folder import (
    Kind,
    check_vocabulary,
    describe_reranker,
    incompatible_reason,
)
from quoth.backends.rerankers.pair_encoding import PairRows, PromptRows, RowEncoder
from quoth.core.errors import ConfigError, RerankError
from quoth.core.protocols import Matrix
from quoth.core.types import Chunk

PAIRS_AT_ONCE, GPU_PAIRS_AT_ONCE = 4, 32
"""Pairs of like length in a batch; one batch of all, padded to the longest, took 1.3 × as long on
a CPU."""
QUANTISED = b"DynamicQuantizeLinear"
"""The operation that rounds by the largest number of a whole batch."""


@dataclass(frozen=True, slots=True)
class CrossEncoderModel:
    """An open cross-encoder; ``columns`` are the logits of yes and no at its last position."""

    folder: ModelFolder
    runtime: onnxruntime.InferenceSession
    rows: RowEncoder
    output: str
    columns: tuple[int, int] | None

    def scores(self, batch: Sequence[TokenRow]) -> list[float]:
        """Score pairs of about the same length; raises RerankError."""
        (found,) = compute(
            self.runtime,
            batch,
            outputs=[self.output],
            error=lambda said: RerankError(f"The reranker {self.folder.name} failed: {said}"),
            padding=self.folder.config.get("pad_token_id") or 0,
        )
        numbers = self._picked(np.asarray(found, np.float32), batch)
        if not np.isfinite(numbers).all():
            raise RerankError(
                f"The reranker {self.folder.name} gave scores that are no numbers. Check the "
                f"model file {self.folder.model}."
            )
        picked: list[float] = numbers.astype(np.float64).tolist()
        return picked

    def _picked(self, found: Numbers, batch: Sequence[TokenRow]) -> Numbers:
        if self.columns is not None and found.ndim == 3:
            lasts = found[np.arange(len(batch)), [len(row.ids) - 1 for row in batch]]
            yes, no = self.columns
            answer: Numbers = lasts[:, yes] - lasts[:, no]
            return answer
        if found.ndim == 2 and found.shape[1] == 2:
            return np.asarray(found[:, 1] - found[:, 0])
        if found.ndim == 1 or (found.ndim == 2 and found.shape[1] == 1):
            return found.reshape(-1)
        raise incompatible_reason(
            self.folder,
            f"its output {self.output} has the shape {found.shape}, not one or two "
            "numbers per pair",
        )


class OnnxReranker:
    """A `Reranker` that scores pairs with the model of a folder.

    Opening checks the folder and loads in the background; the first call waits, and raises
    ConfigError where the files do not match. Pairs of concurrent requests share batches of similar
    length, except with a model whose rounding would make a score depend on its batch. ``block``
    lets the stage stop early (docs/decisions/013-late-interaction-reranking.md).
    """

    block = 8

    def __init__(self, folder: Path, *, threads: int, gpu: bool = False) -> None:
        described, kind = describe_reranker(folder, gpu=gpu)
        if kind == "colbert":
            raise ConfigError(
                f"The folder {folder} holds a ColBERT model, which compares tokens. Open it with "
                "the reranker 'colbert'."
            )
        self.name = described.name
        at_once = GPU_PAIRS_AT_ONCE if gpu and gpu_provider() else PAIRS_AT_ONCE
        self._model = BackgroundModel[CrossEncoderModel, TokenRow, float](
            lambda: open_model(described, kind, gpu=gpu),
            CrossEncoderModel.scores,
            max_batch=1 if _rounds_by_batch(described.model) else at_once,
            threads=threads,
            name="rerank",
        )

    async def score(
        self, query: str, chunks: Sequence[Chunk], *, tokens: Matrix | None = None
    ) -> list[float]:
        """Return one score per chunk, higher is better; raises RerankError."""
        if not chunks:
            return []
        texts = [chunk.indexed for chunk in chunks]
        return await self._model.run(lambda model: model.rows.of(query, texts))

    def close(self) -> None:
        """Release threads and memory; running work is finished first."""
        self._model.close()


def open_model(folder: ModelFolder, kind: Kind, *, gpu: bool = False) -> CrossEncoderModel:
    """Open a cross-encoder and run it on a pair; raises ConfigError for a mismatch."""
    rows: RowEncoder
    columns = None
    if kind == "answer":
        if not str(folder.config.get("model_type", "")).startswith("qwen3"):
            raise incompatible_reason(
                folder, "of the language models only Qwen3-Reranker has a known prompt"
            )
        prompts = PromptRows(folder.tokenizer, limit=folder.max_tokens)
        rows, columns = prompts, (prompts.yes, prompts.no)
    elif str(folder.config.get("model_type", "")).startswith("qwen3"):
        rows = PromptRows(folder.tokenizer, limit=folder.max_tokens)
    else:
        rows = PairRows(folder.tokenizer, limit=folder.max_tokens)
    check_vocabulary(folder, size=rows.size)
    runtime = open_runtime(folder.model, gpu=gpu)
    if name := unknown_input(runtime):
        raise incompatible_reason(folder, f"it wants the input {name}")
    outputs = [node.name for node in runtime.get_outputs()]
    model = CrossEncoderModel(
        folder, runtime, rows, "logits" if "logits" in outputs else outputs[0], columns
    )
    (row,) = rows.of("a", ["b"])
    try:
        model.scores([TokenRow([*row.ids, rows.size - 1], [*row.types, 0])])
    except RerankError as error:
        raise incompatible_reason(
            folder, f"it failed on a pair with the last token of {folder.tokenizer} ({error})"
        ) from error
    return model


def _rounds_by_batch(model: Path) -> bool:
    with model.open("rb") as file:
        if not model.stat().st_size:
            return False
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return content.find(QUANTISED) >= 0
