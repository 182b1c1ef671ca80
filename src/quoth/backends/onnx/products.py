"""Matrix products by onnxruntime, on the calling thread.

numpy distributes a large product over a pool of spinning threads: with two cores busy that took
8 ms instead of 1.4, and occasionally 800. The models are made by ``scripts/make_products.py``.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnxruntime

from quoth.backends.onnx.session import open_runtime
from quoth.core.protocols import Matrix

FOLDER = Path(__file__).parent / "data"


def multiply(left: Matrix, right: Matrix) -> Matrix:
    """Multiply two matrices of floats."""
    given = {"left": np.ascontiguousarray(left), "right": np.ascontiguousarray(right)}
    product: Matrix = _model("MatMul").run(None, given)[0]
    return product


def multiply_integers(
    left: npt.NDArray[np.uint8], right: npt.NDArray[np.int8]
) -> npt.NDArray[np.int32]:
    """Multiply two matrices of integers, those on the left from 0 to 127.

    Larger ones would overflow the 16 bits in which some processors add two products.
    """
    given = {"left": np.ascontiguousarray(left), "right": np.ascontiguousarray(right)}
    product: npt.NDArray[np.int32] = _model("MatMulInteger").run(None, given)[0]
    return product


@cache
def _model(operator: str) -> onnxruntime.InferenceSession:
    return open_runtime(FOLDER / f"{operator}.onnx")
