"""Build the ONNX graph of a transformer encoder: BERT, RoBERTa and XLM-RoBERTa.

Inputs are ``input_ids`` and ``attention_mask``, int64, shape (batch, tokens). BERT after Devlin et
al., 2019, https://arxiv.org/abs/1810.04805; GELU in its exact form.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
HIDDEN_BY_MASK = -1e4
"""Added to the attention of padding; small enough for every float type, large enough to vanish."""

Array = npt.NDArray[Any]
Store = Callable[[Array, str], onnx.TensorProto]
"""Keeps a tensor under a name: in the model itself or in a file beside it."""


class GraphBuilder:
    """Collects the operations and tensors of a graph; ``store`` keeps the tensors."""

    def __init__(self, *, store: Store = numpy_helper.from_array) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self._store = store

    def node(self, kind: str, inputs: Sequence[str], *, name: str, **attributes: Any) -> str:
        """Add one operation; its result bears its name."""
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
        return name

    def constant(self, name: str, value: Array) -> str:
        """Add a tensor."""
        self.constants.append(self._store(value, name))
        return name

    def number(self, name: str, value: float) -> str:
        """Add a float32 scalar."""
        return self.constant(name, np.array(value, np.float32))

    def integers(self, name: str, value: int | list[int]) -> str:
        """Add an int64 tensor."""
        return self.constant(name, np.array(value, np.int64))

    def model(
        self, *, inputs: Sequence[str], output: str, shape: Sequence[str | int]
    ) -> onnx.ModelProto:
        """Return the model with these int64 inputs and one float32 output."""
        ids = [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
            for name in inputs
        ]
        result = helper.make_tensor_value_info(output, TensorProto.FLOAT, list(shape))
        graph = helper.make_graph(self.nodes, "quoth", ids, [result], self.constants)
        opset = [helper.make_opsetid("", OPSET)]
        return helper.make_model(graph, opset_imports=opset, ir_version=8)


class EncoderGraph(GraphBuilder):
    """Builder for encoders: each method adds nodes and returns the name of its result.

    ``tensor`` returns a weight by its name: ``emb.pos``, ``l0.q.w`` (rows are outputs), ``l0.q.b``,
    with q, k, v, ao (attention), fi, fo (feed-forward), aln and oln (layer norms) in each layer.
    """

    def __init__(
        self,
        tensor: Callable[[str], Array],
        *,
        hidden: int,
        heads: int,
        epsilon: float,
        store: Store = numpy_helper.from_array,
    ) -> None:
        super().__init__(store=store)
        self._tensor = tensor
        self._hidden, self._heads_count, self._epsilon = hidden, heads, epsilon
        self._heads = self.integers("heads", [0, 0, heads, hidden // heads])
        self.flat = self.integers("flat", [0, 0, hidden])

    def tensor(self, name: str) -> str:
        """Add a weight under its own name."""
        return self.constant(name, self._tensor(name))

    def linear(self, x: str, part: str) -> str:
        """Multiply by the weights of a part and add its bias."""
        matrix = np.ascontiguousarray(self._tensor(f"{part}.w").T)
        inputs = [x, self.constant(f"{part}.w", matrix)]
        product = self.node("MatMul", inputs, name=f"{part}.product")
        return self.node("Add", [product, self.tensor(f"{part}.b")], name=f"{part}.out")

    def norm(self, x: str, part: str) -> str:
        """Normalize over the last axis."""
        inputs = [x, self.tensor(f"{part}.w"), self.tensor(f"{part}.b")]
        return self.node(
            "LayerNormalization", inputs, name=f"{part}.out", axis=-1, epsilon=self._epsilon
        )

    def positions(self) -> str:
        """Return the places of the tokens, from 0 on, shape (tokens)."""
        self.node("Shape", ["input_ids"], name="shape")
        one = self.integers("one", 1)
        self.node("Gather", ["shape", one], name="length")
        return self.node("Range", [self.integers("zero", 0), "length", one], name="positions")

    def mask(self) -> str:
        """Turn the mask into what is added to the attention, shape (batch, 1, 1, tokens)."""
        self.node("Cast", ["attention_mask"], name="mask.floats", to=TensorProto.FLOAT)
        self.node("Sub", [self.number("one.float", 1), "mask.floats"], name="mask.padding")
        low = self.number("low", HIDDEN_BY_MASK)
        self.node("Mul", ["mask.padding", low], name="mask.low")
        axes = self.integers("mask.axes", [1, 2])
        return self.node("Unsqueeze", ["mask.low", axes], name="mask")

    def layers(self, x: str, *, count: int) -> str:
        """Add all layers."""
        mask = self.mask()
        for layer in range(count):
            x = self.attention(x, mask, layer=layer)
            x = self.feed_forward(x, layer=layer)
        return x

    def attention(self, x: str, mask: str, *, layer: int) -> str:
        """Add self-attention over all heads, and normalize."""
        part = f"l{layer}"
        split = {}
        for name, axes in (("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3])):
            inputs = [self.linear(x, f"{part}.{name}"), self._heads]
            rows = self.node("Reshape", inputs, name=f"{part}.{name}.heads")
            split[name] = self.node("Transpose", [rows], name=f"{part}.{name}.turned", perm=axes)
        raw = self.node("MatMul", [split["q"], split["k"]], name=f"{part}.raw")
        factor = self.number(f"{part}.factor", 1 / math.sqrt(self._hidden // self._heads_count))
        scaled = self.node("Mul", [raw, factor], name=f"{part}.scaled")
        masked = self.node("Add", [scaled, mask], name=f"{part}.masked")
        shares = self.node("Softmax", [masked], name=f"{part}.shares", axis=-1)
        mixed = self.node("MatMul", [shares, split["v"]], name=f"{part}.mixed")
        turned = self.node("Transpose", [mixed], name=f"{part}.turned", perm=[0, 2, 1, 3])
        merged = self.node("Reshape", [turned, self.flat], name=f"{part}.merged")
        inputs = [self.linear(merged, f"{part}.ao"), x]
        return self.norm(self.node("Add", inputs, name=f"{part}.attended"), f"{part}.aln")

    def feed_forward(self, x: str, *, layer: int) -> str:
        """Add the two-layer network, and normalize."""
        part = f"l{layer}"
        inner = self.linear(x, f"{part}.fi")
        root = self.number(f"{part}.root", math.sqrt(2))
        inputs = [self.node("Div", [inner, root], name=f"{part}.divided")]
        inputs = [self.node("Erf", inputs, name=f"{part}.erf"), self.number(f"{part}.one", 1)]
        raised = self.node("Add", inputs, name=f"{part}.raised")
        inputs = [self.node("Mul", [inner, raised], name=f"{part}.gated")]
        half = self.number(f"{part}.half", 0.5)
        gelu = self.node("Mul", [*inputs, half], name=f"{part}.gelu")
        inputs = [self.linear(gelu, f"{part}.fo"), x]
        return self.norm(self.node("Add", inputs, name=f"{part}.fed"), f"{part}.oln")
