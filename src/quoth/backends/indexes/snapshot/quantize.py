"""Quantize the vectors of a segment to 16 and 4 bits; build the product model."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import helper

from quoth.backends.indexes.snapshot.segment import Arrays, Numbers
from quoth.core.protocols import Matrix

LEVELS = 32767
"""Steps of a 16-bit vector from zero to its greatest value."""
BLOCK = 128
"""Values of a vector that share one scale in its 4-bit form."""
AT_ONCE = 8192
OPSET, IR = 13, 8
EIGHT_BIT = 4
"""The operator's name for "may round the query to 8 bits", in which processors are quickest."""


def quantize_int16(vectors: Matrix) -> Arrays:
    """Return vectors in 16 bits, with a scale each."""
    greatest = np.maximum(np.abs(vectors).max(axis=1), np.finfo(np.float32).tiny)
    return {
        "vectors": np.round(vectors * (LEVELS / greatest)[:, None]).astype(np.int16),
        "scales": (greatest / LEVELS).astype(np.float32),
    }


def product_arrays(vectors: Numbers, scales: Numbers) -> Arrays:
    """Return the arrays for `QuantizedMatrix` from the vectors in 16 bits."""
    rows, dimension = vectors.shape
    blocks = -(-dimension // BLOCK)
    codes = np.empty((rows, blocks, BLOCK // 2), np.uint8)
    code_scales = np.empty((rows, blocks), np.float32)
    # The common mean does not affect the order, but would use up the quantization range.
    some = slice(0, rows, max(1, rows // AT_ONCE))
    mean = (vectors[some] * scales[some, None]).mean(axis=0)
    for first in range(0, rows, AT_ONCE):
        part = slice(first, first + AT_ONCE)
        exact = vectors[part] * scales[part, None]
        codes[part], code_scales[part] = quantize_int4(exact - mean)
    return {
        "codes": codes,
        "code_scales": code_scales.ravel(),
        "model": np.frombuffer(_product(dimension, rows=rows), np.uint8),
    }


def quantize_int4(vectors: Matrix) -> tuple[Numbers, Matrix]:
    """Return pairs of 4-bit values and the scale of each block, as MatMulNBits takes them.

    https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
    """
    rows, dimension = vectors.shape
    blocks = -(-dimension // BLOCK)
    padded = np.zeros((rows, blocks * BLOCK), np.float32)
    padded[:, :dimension] = vectors
    cut = padded.reshape(rows, blocks, BLOCK)
    scales = np.maximum(np.abs(cut).max(axis=2) / 7, np.finfo(np.float32).tiny)
    values = (np.round(cut / scales[:, :, None]) + 8).astype(np.uint8)
    return values[:, :, 0::2] | (values[:, :, 1::2] << 4), scales.astype(np.float32)


def _product(dimension: int, *, rows: int) -> bytes:
    """Build the model that multiplies a query by the codes, which are set on opening."""
    blocks = -(-dimension // BLOCK)
    graph = helper.make_graph(
        [
            helper.make_node(
                "MatMulNBits",
                ["question", "codes", "code_scales"],
                ["scores"],
                domain="com.microsoft",
                K=dimension,
                N=rows,
                bits=4,
                block_size=BLOCK,
                accuracy_level=EIGHT_BIT,
            )
        ],
        "scan",
        [helper.make_tensor_value_info("question", onnx.TensorProto.FLOAT, [1, dimension])],
        [helper.make_tensor_value_info("scores", onnx.TensorProto.FLOAT, [1, rows])],
        [
            _given("codes", onnx.TensorProto.UINT8, [rows, blocks, BLOCK // 2]),
            _given("code_scales", onnx.TensorProto.FLOAT, [rows * blocks]),
        ],
    )
    sets = [helper.make_opsetid("", OPSET), helper.make_opsetid("com.microsoft", 1)]
    made: bytes = helper.make_model(graph, opset_imports=sets, ir_version=IR).SerializeToString()
    return made


def _given(name: str, kind: int, shape: list[int]) -> onnx.TensorProto:
    tensor = onnx.TensorProto(name=name, data_type=kind)
    tensor.dims.extend(shape)
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=name)
    return tensor
