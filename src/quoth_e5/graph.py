"""The encoder of multilingual-e5-small as an ONNX graph.

Inputs: ``input_ids`` and ``attention_mask``, int64, shape (batch, tokens). Output:
``last_hidden_state``, float32, shape (batch, tokens, hidden). The word table keeps the 4-bit
numbers of the weights file, one in a byte, and multiplies them by their scales after the lookup:
nothing is rounded a second time, and 96 MB never become 384 MB of floats.

BERT after Devlin et al., 2019, https://arxiv.org/abs/1810.04805; GELU in its exact form.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

from quoth_e5.weights import BLOCK, EncoderWeights

OPSET = 17
WORD_NUMBERS = "word.numbers"
WORD_SCALES = "word.scales"
HIDDEN_BY_MASK = -1e4
"""Added to the attention of padding; small enough for every float type, large enough to vanish."""


def encoder_graph(weights: EncoderWeights) -> onnx.ModelProto:
    """Build the encoder with float32 weights (the word table excepted, see above)."""
    graph = _Graph(weights)
    state = graph.embeddings()
    mask = graph.mask()
    for layer in range(weights.layers):
        state = graph.attention(state, mask, layer=layer)
        state = graph.feed_forward(state, layer=layer)
    graph.node("Identity", [state], name="last_hidden_state")
    ids, attention, hidden = (
        helper.make_tensor_value_info(name, kind, ["batch", "tokens", *rest])
        for name, kind, rest in (
            ("input_ids", TensorProto.INT64, []),
            ("attention_mask", TensorProto.INT64, []),
            ("last_hidden_state", TensorProto.FLOAT, [weights.hidden]),
        )
    )
    proto = helper.make_graph(graph.nodes, "e5", [ids, attention], [hidden], graph.constants)
    return helper.make_model(proto, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)


class _Graph:
    """Graph builder: each method adds nodes and returns the name of its result."""

    def __init__(self, weights: EncoderWeights) -> None:
        self._weights = weights
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        heads, hidden = weights.heads, weights.hidden
        self._heads = self.integers("heads", [0, 0, heads, hidden // heads])
        self._flat = self.integers("flat", [0, 0, hidden])

    def node(self, kind: str, inputs: Sequence[str], *, name: str, **attributes: Any) -> str:
        """Add one operation; its result bears its name."""
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
        return name

    def constant(self, name: str, value: npt.NDArray[np.generic]) -> str:
        """Add a tensor."""
        self.constants.append(numpy_helper.from_array(value, name))
        return name

    def number(self, name: str, value: float) -> str:
        """Add a float32 scalar."""
        return self.constant(name, np.array(value, np.float32))

    def integers(self, name: str, value: int | list[int]) -> str:
        """Add an int64 tensor."""
        return self.constant(name, np.array(value, np.int64))

    def tensor(self, name: str) -> str:
        """Add a tensor of the weights file under its own name."""
        return self.constant(name, self._weights.tensors[name])

    def linear(self, x: str, part: str) -> str:
        """Multiply by the weights of a part and add its bias."""
        matrix = np.ascontiguousarray(self._weights.tensors[f"{part}.w"].T)
        inputs = [x, self.constant(f"{part}.w", matrix)]
        product = self.node("MatMul", inputs, name=f"{part}.product")
        return self.node("Add", [product, self.tensor(f"{part}.b")], name=f"{part}.out")

    def norm(self, x: str, part: str) -> str:
        """Normalize over the last axis."""
        inputs = [x, self.tensor(f"{part}.w"), self.tensor(f"{part}.b")]
        epsilon = self._weights.epsilon
        return self.node("LayerNormalization", inputs, name=f"{part}.out", axis=-1, epsilon=epsilon)

    def embeddings(self) -> str:
        """Look up words and positions, and normalize their sum."""
        words, hidden = self._weights.words, self._weights.hidden
        numbers = [self.constant(WORD_NUMBERS, words.numbers), "input_ids"]
        scales = [self.constant(WORD_SCALES, words.scales), "input_ids"]
        self.node("Gather", numbers, name="word.bytes")
        self.node("Cast", ["word.bytes"], name="word.floats", to=TensorProto.FLOAT)
        blocks = self.integers("blocks", [0, 0, hidden // BLOCK, BLOCK])
        self.node("Reshape", ["word.floats", blocks], name="word.blocks")
        self.node("Gather", scales, name="word.scale")
        self.node("Unsqueeze", ["word.scale", self.integers("last", [-1])], name="word.scale4")
        self.node("Mul", ["word.blocks", "word.scale4"], name="word.scaled")
        self.node("Reshape", ["word.scaled", self._flat], name="word")
        self.node("Shape", ["input_ids"], name="shape")
        one = self.integers("one", 1)
        self.node("Gather", ["shape", one], name="length")
        self.node("Range", [self.integers("zero", 0), "length", one], name="positions")
        self.node("Gather", [self.tensor("emb.pos"), "positions"], name="position")
        self.node("Add", ["word", "position"], name="placed")
        return self.norm(self.node("Add", ["placed", self.tensor("emb.type")], name="x"), "emb.ln")

    def mask(self) -> str:
        """Turn the mask into what is added to the attention, shape (batch, 1, 1, tokens)."""
        self.node("Cast", ["attention_mask"], name="mask.floats", to=TensorProto.FLOAT)
        self.node("Sub", [self.number("one.float", 1), "mask.floats"], name="mask.padding")
        low = self.number("low", HIDDEN_BY_MASK)
        self.node("Mul", ["mask.padding", low], name="mask.low")
        axes = self.integers("mask.axes", [1, 2])
        return self.node("Unsqueeze", ["mask.low", axes], name="mask")

    def attention(self, x: str, mask: str, *, layer: int) -> str:
        """Add self-attention over all heads, and normalize."""
        part = f"l{layer}"
        split = {}
        for name, axes in (("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3])):
            inputs = [self.linear(x, f"{part}.{name}"), self._heads]
            rows = self.node("Reshape", inputs, name=f"{part}.{name}.heads")
            split[name] = self.node("Transpose", [rows], name=f"{part}.{name}.turned", perm=axes)
        raw = self.node("MatMul", [split["q"], split["k"]], name=f"{part}.raw")
        width = self._weights.hidden // self._weights.heads
        factor = self.number(f"{part}.factor", 1 / math.sqrt(width))
        scaled = self.node("Mul", [raw, factor], name=f"{part}.scaled")
        masked = self.node("Add", [scaled, mask], name=f"{part}.masked")
        shares = self.node("Softmax", [masked], name=f"{part}.shares", axis=-1)
        mixed = self.node("MatMul", [shares, split["v"]], name=f"{part}.mixed")
        turned = self.node("Transpose", [mixed], name=f"{part}.turned", perm=[0, 2, 1, 3])
        merged = self.node("Reshape", [turned, self._flat], name=f"{part}.merged")
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
