"""An open ONNX embedding model: its tokenizer and its session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt
import onnxruntime
from tokenizers import Encoding

from quoth.backends.onnx.session import (
    INPUTS,
    TokenRow,
    compute,
    encode_texts,
    open_runtime,
    open_tokenizer,
    unknown_input,
)
from quoth.core.errors import ConfigError, EmbeddingError
from quoth_e5.tokenizer import TABLE, LeanTokenizer

TOKEN_OUTPUTS = ("last_hidden_state", "token_embeddings")
OUTPUTS = ("sentence_embedding", *TOKEN_OUTPUTS)
THREADS_PER_TEXT = 2
"""Threads that compute one text, where there are as many."""


class OnnxTokenizer(Protocol):
    """Turns texts into token ids."""

    @property
    def ends(self) -> tuple[int, int]:
        """Return the number of special tokens before and after a text."""
        ...

    def encode(self, texts: Sequence[str], *, limit: int) -> list[list[int]]:
        """Return the ids of each text with the special tokens, cut to ``limit`` tokens."""
        ...

    def count(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text, without special tokens and however long it is."""
        ...


class FullTokenizer:
    """The tokenizer of any model, read from ``tokenizer.json``; raises ConfigError."""

    def __init__(self, path: Path) -> None:
        self._tokenizer = open_tokenizer(path)

    def encode(self, texts: Sequence[str], *, limit: int) -> list[list[int]]:
        """Return the ids of each text with the special tokens, cut to ``limit`` tokens."""
        room = max(0, limit - self._tokenizer.num_special_tokens_to_add(is_pair=False))
        found = []
        for encoding in self._batch(texts):
            encoding.truncate(room)
            found.append(self._tokenizer.post_process(encoding).ids)
        return found

    def count(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text, without special tokens and however long it is."""
        return [len(encoding.ids) for encoding in self._batch(texts)]

    @property
    def ends(self) -> tuple[int, int]:
        """Return the number of special tokens before and after a text; raises EmbeddingError."""
        encoding = self._tokenizer.post_process(self._batch(["a"])[0])
        content = [at for at, mask in enumerate(encoding.special_tokens_mask) if not mask] or [0]
        return content[0], len(encoding.ids) - 1 - content[-1]

    def _batch(self, texts: Sequence[str]) -> list[Encoding]:
        return encode_texts(self._tokenizer, texts, error=EmbeddingError)


@dataclass(frozen=True, slots=True)
class EmbedderSession:
    """An open model: what it wants, which of its outputs is pooled, and which has the tokens."""

    runtime: onnxruntime.InferenceSession
    output: str
    tokens: str | None

    def run(self, ids: Sequence[int], *, outputs: Sequence[str]) -> list[npt.NDArray[np.float32]]:
        """Compute some outputs for one text; raises EmbeddingError."""
        # Without special tokens an empty text has no token at all; the model needs one.
        row = TokenRow(list(ids) or [0], [0] * max(1, len(ids)))
        found = compute(self.runtime, [row], outputs=outputs, error=_failed)
        return [output[0] for output in found]


def _failed(reason: str) -> EmbeddingError:
    return EmbeddingError(f"The model failed on a text: {reason}")


def open_session(path: Path, *, threads: int) -> EmbedderSession:
    """Open a model file; raises ConfigError for one with an input that is not known."""
    runtime = open_runtime(path, threads=min(threads, THREADS_PER_TEXT))
    if name := unknown_input(runtime):
        raise ConfigError(
            f"The model file {path} wants the input {name}, which is not one of "
            f"{', '.join(INPUTS)}. Export the model without it, or name another folder."
        )
    outputs = [node.name for node in runtime.get_outputs()]
    known = [name for name in OUTPUTS if name in outputs]
    shown = [name for name in TOKEN_OUTPUTS if name in outputs]
    return EmbedderSession(runtime, (known or outputs)[0], shown[0] if shown else None)


def open_tokens(folder: Path) -> OnnxTokenizer:
    """Open the tokenizer of a model folder; raises ConfigError."""
    if (folder / TABLE).is_dir():
        return LeanTokenizer(folder / TABLE)
    return FullTokenizer(folder / "tokenizer.json")
