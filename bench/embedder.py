"""The one embedder of every peer: the model that quoth uses by default, in its simplest form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnxruntime
from tokenizers import Tokenizer

Matrix = npt.NDArray[np.float32]
BATCH = 8


class Embedder:
    """multilingual-e5-small in onnxruntime: mean pooling, unit length, e5's prefixes.

    ``model`` is a folder with model.onnx and tokenizer.json. Safe to call from many threads.
    """

    def __init__(self, model: Path, *, threads: int = 2, max_tokens: int = 512) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        # Spinning threads would take the cores from the other clients.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(
            str(model / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )
        self._inputs = {each.name for each in self._session.get_inputs()}
        self._tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
        self._tokenizer.enable_truncation(max_tokens)
        self._tokenizer.enable_padding(pad_id=1, pad_token="<pad>")

    def query(self, text: str) -> Matrix:
        """Return the unit vector of a question."""
        vector: Matrix = self._run(["query: " + text])[0]
        return vector

    def passages(
        self, texts: Sequence[str], *, progress: Callable[[int], None] = lambda done: None
    ) -> Matrix:
        """Return one unit row per text; texts of like length are computed together."""
        order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        rows = np.empty((len(texts), 384), np.float32)
        for begin in range(0, len(order), BATCH):
            batch = order[begin : begin + BATCH]
            rows[batch] = self._run(["passage: " + texts[at] for at in batch])
            progress(begin + len(batch))
        return rows

    def _run(self, texts: list[str]) -> Matrix:
        encoded = self._tokenizer.encode_batch(texts)
        ids = np.array([each.ids for each in encoded], dtype=np.int64)
        mask = np.array([each.attention_mask for each in encoded], dtype=np.int64)
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        (states,) = self._session.run(
            None, {name: feed[name] for name in feed if name in self._inputs}
        )
        weights = mask[..., None].astype(np.float32)
        mean = (states * weights).sum(1) / weights.sum(1)
        unit: Matrix = (mean / np.linalg.norm(mean, axis=1, keepdims=True)).astype(np.float32)
        return unit
