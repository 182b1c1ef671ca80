"""Opens a model file with onnxruntime, for one thread per call."""

from __future__ import annotations

from pathlib import Path

import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state

from quoth.core.errors import ConfigError

ERRORS_ONLY = 3
SESSION_ERRORS = tuple(
    value
    for value in vars(onnxruntime_pybind11_state).values()
    if isinstance(value, type) and issubclass(value, Exception)
)
"""onnxruntime's errors have no common root."""

SLOWER = ["SkipLayerNormFusion"]
"""Fusions of onnxruntime whose joint form takes longer than its parts (decision 002)."""


def open_runtime(path: Path) -> onnxruntime.InferenceSession:
    """Open a model on the CPU; raises ConfigError naming the file."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    # The arena keeps the memory of the longest text for ever, and saves no time here.
    options.enable_cpu_mem_arena = False
    options.log_severity_level = ERRORS_ONLY
    try:
        return onnxruntime.InferenceSession(
            str(path),
            options,
            providers=["CPUExecutionProvider"],
            disabled_optimizers=SLOWER,
        )
    except SESSION_ERRORS as error:
        raise ConfigError(
            f"The model file {path} cannot be opened ({error}). Delete its folder to have a "
            "built-in model built again, or name another folder."
        ) from error
