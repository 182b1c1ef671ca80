"""Entailment model in ONNX form, on the CPU (docs/decisions/046).

Three kinds are supported: NLI models, whose labels (``id2label``) include one for entailment;
models with one logit, whose logistic is the probability (HHEM); and models that mark each token of
the claim that the evidence does not support (LettuceDetect).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from quoth.backends.onnx.model_folder import ModelFolder, read_model_folder
from quoth.backends.onnx.session import (
    BackgroundModel,
    Numbers,
    TokenRow,
    compute,
    encode_texts,
    open_runtime,
    open_tokenizer,
    unknown_input,
)
from quoth.core.errors import ConfigError, JudgeError

AT_ONCE = 4
"""Pairs of like length in a batch."""
CLAIM_SHARE = 0.5
"""A claim is cut only when it would take more than this share of the room."""
Kind = Literal["labels", "number", "tokens"]
"""Labels for a pair, one number for a pair, or labels for each token of the claim."""

MAX_TOKENS = 1024
"""Evidence and claim together; longer evidence costs more than it tells."""
_FOR = re.compile(r"entail|support|consistent|faithful|factual|true|yes")
_AGAINST = re.compile(
    r"not?[ _-]|non|un(?=support|faith|true)|in(?=consis)|contra|hallucin|false|refut"
)


@dataclass(frozen=True, slots=True)
class EntailmentSession:
    """An open judge; ``label`` is the column for support, or that of hallucinated tokens."""

    folder: ModelFolder
    kind: Kind
    label: int
    runtime: onnxruntime.InferenceSession
    tokenizer: Tokenizer
    max_tokens: int
    """Of the pair, without special tokens."""

    def row(self, evidence: str, claim: str) -> TokenRow:
        """Return the row of a pair, with truncated evidence; raises JudgeError."""
        first, second = encode_texts(self.tokenizer, [evidence, claim], error=self._error)
        second.truncate(max(1, int(self.max_tokens * CLAIM_SHARE)))
        first.truncate(max(0, self.max_tokens - len(second.ids)))
        pair = self.tokenizer.post_process(first, second)
        places = [at for at, sequence in enumerate(pair.sequence_ids) if sequence == 1]
        return TokenRow(pair.ids, pair.type_ids, None, places)

    def probabilities(self, batch: Sequence[TokenRow]) -> list[float]:
        """Judge pairs of about the same length; raises JudgeError."""
        output = self.runtime.get_outputs()[0].name
        padding = self.folder.config.get("pad_token_id") or 0
        (found,) = compute(
            self.runtime, batch, outputs=[output], error=self._error, padding=padding
        )
        numbers = np.asarray(found, np.float64)
        dimensions = 3 if self.kind == "tokens" else 2
        columns = numbers.shape[-1] if numbers.ndim == dimensions else 0
        if columns <= self.label or not np.isfinite(numbers).all():
            raise JudgeError(
                f"The judge {self.folder.name} gave {numbers.shape} numbers where its config.json "
                "promises others, or no numbers. Export the model with its head to ONNX again."
            )
        return [self._probability(numbers[at], row) for at, row in enumerate(batch)]

    def _probability(self, numbers: Numbers, row: TokenRow) -> float:
        if self.kind == "number":
            return float(_softmax(np.array([0.0, numbers[0]]))[1])
        if self.kind == "labels":
            return float(_softmax(numbers)[self.label])
        # One unsupported word is enough.
        return 1.0 - max((float(_softmax(numbers[at])[self.label]) for at in row.marked), default=0)

    def _error(self, reason: str) -> JudgeError:
        return JudgeError(f"The judge {self.folder.name} failed: {reason}")


class OnnxEntailment:
    """An `EntailmentModel` that runs the model of a folder.

    Opening checks the folder and loads in the background; the first call waits, and raises
    ConfigError where the files do not match.
    """

    def __init__(self, folder: Path, *, threads: int) -> None:
        found = read_model_folder(folder, part="judge", otherwise="llm", max_tokens=MAX_TOKENS)
        kind, label = label_of(found)
        self.name = found.name
        self._model = BackgroundModel[EntailmentSession, TokenRow, float](
            lambda: open_model(found, kind=kind, label=label),
            EntailmentSession.probabilities,
            max_batch=AT_ONCE,
            threads=threads,
            name="judge",
        )

    async def judge(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return for each (evidence, claim) the probability of support; raises JudgeError."""
        if not pairs:
            return []
        return await self._model.run(lambda model: [model.row(*pair) for pair in pairs])

    async def close(self) -> None:
        """Release threads and memory; running work is finished first."""
        await asyncio.to_thread(self._model.close)


def open_model(folder: ModelFolder, *, kind: Kind, label: int) -> EntailmentSession:
    """Open an entailment model and run it on a pair; raises ConfigError for a mismatch."""
    runtime = open_runtime(folder.model)
    if name := unknown_input(runtime):
        raise ConfigError(
            f"The model file {folder.model} cannot be used as a judge: it wants the input {name}. "
            "Export it to ONNX for text classification, or name another folder."
        )
    tokenizer = open_tokenizer(folder.tokenizer)
    tokenizer.encode_special_tokens = True
    max_tokens = folder.max_tokens - tokenizer.num_special_tokens_to_add(is_pair=True)
    model = EntailmentSession(folder, kind, label, runtime, tokenizer, max_tokens)
    try:
        model.probabilities([model.row("a", "b")])
    except JudgeError as error:
        raise ConfigError(
            f"The model file {folder.model} cannot be used as a judge ({error}) Name another "
            "folder."
        ) from error
    return model


def label_of(folder: ModelFolder) -> tuple[Kind, int]:
    """Return the kind of a judge and its column for support; raises ConfigError."""
    named = folder.config.get("id2label")
    labels = {int(at): str(name) for at, name in named.items()} if isinstance(named, dict) else {}
    built = [str(each) for each in folder.config.get("architectures") or ()]
    if any(each.endswith("ForTokenClassification") for each in built):
        wrong = [at for at, name in labels.items() if _AGAINST.search(name.casefold())]
        return "tokens", wrong[0] if wrong else 1
    if folder.config.get("num_labels") == 1 or len(labels) == 1:
        return "number", 0
    right = [
        at
        for at, name in labels.items()
        if _FOR.search(name.casefold()) and not _AGAINST.search(name.casefold())
    ]
    if len(right) == 1:
        return "labels", right[0]
    raise ConfigError(
        f"The labels of the judge in {folder.path} ({', '.join(labels.values()) or 'none'}) do "
        "not say which one means support. Name it in id2label of its config.json, such as "
        '"entailment".'
    )


def _softmax(numbers: Numbers) -> Numbers:
    powers = np.exp(numbers - numbers.max())
    shares: Numbers = powers / powers.sum()
    return shares
