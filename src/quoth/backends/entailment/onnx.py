"""Judges support with a model in ONNX form, on the CPU (docs/decisions/024)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import onnxruntime
from tokenizers import Tokenizer

from quoth.backends.entailment.model_folder import JudgeFolder, describe_judge
from quoth.backends.onnx.batching import Batcher
from quoth.backends.onnx.session import SESSION_ERRORS, open_runtime
from quoth.backends.rerankers.pair_encoding import encoded, open_tokenizer
from quoth.core.errors import ConfigError, JudgeError, RerankError

AT_ONCE = 4
"""Pairs of like length in a batch."""
CLAIM_SHARE = 0.5
"""A claim is cut only when it would take more than this share of the room."""
GIVEN = ("input_ids", "attention_mask", "token_type_ids")

Numbers = npt.NDArray[Any]


class PairRow(NamedTuple):
    """The tokens of evidence and claim together; ``claim`` are the places of the claim's."""

    ids: list[int]
    types: list[int]
    claim: list[int]


@dataclass(frozen=True, slots=True)
class EntailmentSession:
    """An open judge."""

    folder: JudgeFolder
    runtime: onnxruntime.InferenceSession
    tokenizer: Tokenizer
    room: int

    def row(self, evidence: str, claim: str) -> PairRow:
        """Make the row of a pair, the evidence cut to fit; raises JudgeError."""
        try:
            read, said = encoded(self.tokenizer, [evidence, claim])
        except RerankError as error:
            raise JudgeError(f"The judge {self.folder.name} cannot read a text: {error}") from error
        said.truncate(max(1, int(self.room * CLAIM_SHARE)))
        read.truncate(max(0, self.room - len(said.ids)))
        pair = self.tokenizer.post_process(read, said)
        places = [at for at, sequence in enumerate(pair.sequence_ids) if sequence == 1]
        return PairRow(pair.ids, pair.type_ids, places)

    def probabilities(self, batch: Sequence[PairRow]) -> list[float]:
        """Judge pairs of about the same length; raises JudgeError."""
        try:
            found = self.runtime.run(None, self._feed(batch))[0]
        except SESSION_ERRORS as error:
            raise JudgeError(f"The judge {self.folder.name} failed: {error}") from error
        numbers = np.asarray(found, np.float64)
        wanted = 3 if self.folder.kind == "tokens" else 2
        columns = numbers.shape[-1] if numbers.ndim == wanted else 0
        if columns <= self.folder.label or not np.isfinite(numbers).all():
            raise JudgeError(
                f"The judge {self.folder.name} gave {numbers.shape} numbers where its config.json "
                "promises others, or no numbers. Export the model with its head to ONNX again."
            )
        return [self._probability(numbers[at], row) for at, row in enumerate(batch)]

    def _probability(self, numbers: Numbers, row: PairRow) -> float:
        if self.folder.kind == "number":
            return float(_softmax(np.array([0.0, numbers[0]]))[1])
        if self.folder.kind == "labels":
            return float(_softmax(numbers)[self.folder.label])
        # One word that is not borne out is enough.
        made_up = [_softmax(numbers[at])[self.folder.label] for at in row.claim]
        return 1.0 - float(max(made_up, default=0.0))

    def _feed(self, batch: Sequence[PairRow]) -> dict[str, Numbers]:
        longest = max(len(row.ids) for row in batch)
        ids = np.full((len(batch), longest), self.folder.config.get("pad_token_id") or 0, np.int64)
        mask, types = np.zeros_like(ids), np.zeros_like(ids)
        for at, row in enumerate(batch):
            ids[at, : len(row.ids)] = row.ids
            mask[at, : len(row.ids)] = 1
            types[at, : len(row.ids)] = row.types
        given = dict(zip(GIVEN, (ids, mask, types), strict=True))
        return {node.name: given[node.name] for node in self.runtime.get_inputs()}


class OnnxEntailment:
    """Says with the model of a folder whether evidence supports a claim; a `Judge`.

    Opening looks at the folder and loads in the background; the first call waits, and raises
    ConfigError where files do not fit each other.
    """

    def __init__(self, folder: Path, *, threads: int) -> None:
        described = describe_judge(folder)
        self.name = described.name
        self._opening = ThreadPoolExecutor(1, thread_name_prefix="judge-open")
        self._model: Future[EntailmentSession] = self._opening.submit(open_model, described)
        self._batches = Batcher[PairRow, float](
            lambda batch: self._model.result().probabilities(batch),
            most=AT_ONCE,
            threads=threads,
            size=lambda row: len(row.ids),
            name="judge",
        )

    async def judge(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Give for each (evidence, claim) the probability of support; raises JudgeError."""
        if not pairs:
            return []
        model = await asyncio.to_thread(self._model.result)
        rows = await asyncio.to_thread(lambda: [model.row(*pair) for pair in pairs])
        return await self._batches.run(rows)

    async def close(self) -> None:
        """Release threads and memory; work that has begun is finished first."""
        await asyncio.to_thread(self._opening.shutdown, True)
        await asyncio.to_thread(self._batches.close)


def open_model(folder: JudgeFolder) -> EntailmentSession:
    """Open a judge and try it on a pair; raises ConfigError naming what does not fit."""
    runtime = open_runtime(folder.model)
    wanted = [node.name for node in runtime.get_inputs() if node.name not in GIVEN]
    if wanted:
        raise ConfigError(
            f"The model file {folder.model} cannot be used as a judge: it wants the input "
            f"{wanted[0]}. Export it to ONNX for text classification, or name another folder."
        )
    tokenizer = open_tokenizer(folder.tokenizer)
    room = folder.max_tokens - tokenizer.num_special_tokens_to_add(is_pair=True)
    model = EntailmentSession(folder, runtime, tokenizer, room)
    try:
        model.probabilities([model.row("a", "b")])
    except JudgeError as error:
        raise ConfigError(
            f"The model file {folder.model} cannot be used as a judge ({error}) Name another "
            "folder."
        ) from error
    return model


def _softmax(numbers: Numbers) -> Numbers:
    powers = np.exp(numbers - numbers.max())
    shares: Numbers = powers / powers.sum()
    return shares
