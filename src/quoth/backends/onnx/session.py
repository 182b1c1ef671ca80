"""Model files opened with onnxruntime: rows of tokens in, numbers out."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state
from tokenizers import Encoding, Tokenizer

from quoth.backends.onnx.batching import Batcher
from quoth.core.errors import BackendError, ConfigError

log = logging.getLogger("quoth.onnx")
SURROGATES = re.compile("[\ud800-\udfff]")


def open_tokenizer(path: Path) -> Tokenizer:
    """Open a tokenizer without limits of its own; raises ConfigError."""
    try:
        tokenizer = Tokenizer.from_buffer(path.read_bytes())
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"The tokenizer {path} cannot be read ({error}). Save the model's fast tokenizer "
            "there, or name another folder."
        ) from error
    # The file may contain the limits of a training run; the caller's limit applies.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def encode_texts(
    tokenizer: Tokenizer, texts: Sequence[str], *, error: Callable[[str], BackendError]
) -> list[Encoding]:
    """Encode texts without special tokens; ``error`` makes what is raised."""
    try:
        return tokenizer.encode_batch_fast(replace_surrogates(texts), add_special_tokens=False)
    except Exception as problem:
        # The library raises plain `Exception`; subclasses come from elsewhere.
        if type(problem) is not Exception:
            raise
        raise error(f"The tokenizer failed on a text: {problem}") from problem


def replace_surrogates(texts: Sequence[str]) -> list[str]:
    """Replace lone surrogates, which cannot be encoded as UTF-8."""
    return [SURROGATES.sub("\ufffd", text) for text in texts]


Numbers = npt.NDArray[Any]
Model = TypeVar("Model")
Row = TypeVar("Row", bound="TokenRow")
Result = TypeVar("Result")

ERRORS_ONLY = 3
SESSION_ERRORS: tuple[type[Exception], ...] = (
    *(
        value
        for value in vars(onnxruntime_pybind11_state).values()
        if isinstance(value, type) and issubclass(value, Exception)
    ),
    UnicodeDecodeError,
)
"""onnxruntime's errors have no common root; it also fails to decode its own messages on damage."""
GPU_ERRORS: tuple[type[Exception], ...] = (*SESSION_ERRORS, RuntimeError)
SLOWER = ["SkipLayerNormFusion"]
"""Fusions of onnxruntime whose joint form takes longer than its parts (decision 002)."""
INPUTS = ("input_ids", "attention_mask", "token_type_ids", "position_ids")
PAST = "past_key_values."
CPU = "CPUExecutionProvider"
GPUS = ("CUDAExecutionProvider", "MIGraphXExecutionProvider", "ROCMExecutionProvider")
"""Providers of graphics processors, the preferred one first."""
TYPES = {"tensor(float)": np.float32, "tensor(float16)": np.float16}


class TokenRow(NamedTuple):
    """Tokens of one input, their segment ids, and the number of attended tokens."""

    ids: list[int]
    types: list[int]
    attended: int | None = None
    """None for all of them."""
    marked: Sequence[int] = ()
    """Places that the caller wants to know again."""


def gpu_provider() -> str | None:
    """Return the provider of a graphics processor that this onnxruntime has, None without one."""
    there = onnxruntime.get_available_providers()
    return next((name for name in GPUS if name in there), None)


def open_runtime(
    path: Path, *, threads: int = 1, gpu: bool = False
) -> onnxruntime.InferenceSession:
    """Open a model, with the threads of one call; raises ConfigError naming the file.

    ``gpu`` takes a graphics processor where there is one; where that fails, the CPU computes.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # A thread that waits in a loop for its part takes the processor from other texts.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # The arena never releases the memory of the longest text, and saves no time here.
    options.enable_cpu_mem_arena = False
    options.log_severity_level = ERRORS_ONLY
    provider = gpu_provider() if gpu else None
    if provider is not None:
        try:
            return _session(path, options, provider, CPU)
        except GPU_ERRORS:
            log.warning("gpu_failed", extra={"provider": provider}, exc_info=True)
    try:
        return _session(path, options, CPU)
    except SESSION_ERRORS as error:
        raise ConfigError(
            f"The model file {path} cannot be opened ({error}). Delete its folder to have a "
            "built-in model built again, or name another folder."
        ) from error


def _session(
    path: Path, options: onnxruntime.SessionOptions, *providers: str
) -> onnxruntime.InferenceSession:
    # Its own way back to the CPU prints to stdout.
    return onnxruntime.InferenceSession(
        str(path),
        options,
        providers=list(providers),
        disabled_optimizers=SLOWER,
        enable_fallback=0,
    )


def unknown_input(runtime: onnxruntime.InferenceSession) -> str | None:
    """Return the name of an input that `feed` cannot fill, None where there is none."""
    names = (node.name for node in runtime.get_inputs())
    return next((name for name in names if name not in INPUTS and not name.startswith(PAST)), None)


def compute(
    runtime: onnxruntime.InferenceSession,
    rows: Sequence[TokenRow],
    *,
    outputs: Sequence[str],
    error: Callable[[str], BackendError],
    padding: int = 0,
) -> list[Numbers]:
    """Run a model on rows of about the same length; ``error`` makes what is raised."""
    try:
        return list(runtime.run(list(outputs), feed(runtime, rows, padding=padding)))
    except SESSION_ERRORS as problem:
        raise error(str(problem)) from problem


def feed(
    runtime: onnxruntime.InferenceSession, rows: Sequence[TokenRow], *, padding: int = 0
) -> dict[str, Numbers]:
    """Return the model's inputs for rows, padded to the longest."""
    longest = max(len(row.ids) for row in rows)
    ids = np.full((len(rows), longest), padding, np.int64)
    mask, types = np.zeros_like(ids), np.zeros_like(ids)
    for at, row in enumerate(rows):
        ids[at, : len(row.ids)] = row.ids
        mask[at, : len(row.ids) if row.attended is None else row.attended] = 1
        types[at, : len(row.ids)] = row.types
    places = np.broadcast_to(np.arange(longest), ids.shape)
    given: dict[str, Numbers] = dict(zip(INPUTS, (ids, mask, types, places), strict=True))
    return {
        node.name: given[node.name] if node.name in given else _no_past(node, len(rows))
        for node in runtime.get_inputs()
    }


class BackgroundModel(Generic[Model, Row, Result]):
    """A model that is opened in the background and computes batches of several requests' rows.

    The first call waits for the opening and raises what it raised.
    """

    def __init__(
        self,
        open_model: Callable[[], Model],
        work: Callable[[Model, Sequence[Row]], Sequence[Result]],
        *,
        max_batch: int,
        threads: int,
        name: str,
    ) -> None:
        self._opening = ThreadPoolExecutor(1, thread_name_prefix=f"{name}-open")
        self._model: Future[Model] = self._opening.submit(open_model)
        self._batches = Batcher[Row, Result](
            lambda rows: work(self._model.result(), rows),
            most=max_batch,
            threads=threads,
            size=lambda row: len(row.ids),
            name=name,
        )

    async def run(self, make_rows: Callable[[Model], Sequence[Row]]) -> list[Result]:
        """Encode rows and run the model in a thread."""
        rows = await asyncio.to_thread(lambda: make_rows(self._model.result()))
        return await self._batches.run(rows)

    def close(self) -> None:
        """Release threads and memory; running work is finished first."""
        self._opening.shutdown(wait=True)
        self._batches.close()


def _no_past(node: onnxruntime.NodeArg, rows: int) -> Numbers:
    """Return an empty cache: rows, heads, no earlier token, width."""
    _, heads, _, width = node.shape
    return np.zeros((rows, heads, 0, width), TYPES.get(node.type, np.float32))
