"""Qwen3 from transformers' weights: an embedder, or a reranker that answers yes or no.

Decoder with RMS norm, rotary positions, grouped key and value heads and SwiGLU, after
https://arxiv.org/abs/2505.09388. There is no cache: a text is read once. Padding is on the right,
where no token before it sees it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto

from quoth.core.errors import ConfigError
from quoth_models.graph import GraphBuilder, Store
from quoth_models.tensors import FolderTensors

WORDS = "embed_tokens.weight"
HIDDEN_BY_MASK = -1e9


@dataclass(frozen=True, slots=True)
class Qwen3Sizes:
    """Sizes of the network; ``width`` is that of a head."""

    hidden: int
    layers: int
    heads: int
    groups: int
    width: int
    epsilon: float
    theta: float


def decoder_model(
    config: Mapping[str, Any],
    tensors: FolderTensors,
    *,
    store: Store,
    answers: tuple[int, int] | None = None,
) -> onnx.ModelProto:
    """Build the decoder; with ``answers``, the ids of no and yes, it returns their two logits.

    The logits are those after the last attended token, shape (batch, 2), no before yes; without
    answers the output is ``last_hidden_state``. Raises ConfigError.
    """
    sizes = _sizes(config)
    graph = _Decoder(sizes, tensors, store=store)
    state = graph.states()
    if answers is None:
        graph.node("Identity", [state], name="last_hidden_state")
        return graph.model(
            inputs=("input_ids",),
            output="last_hidden_state",
            shape=("batch", "tokens", sizes.hidden),
        )
    graph.answers(state, answers)
    return graph.model(inputs=("input_ids", "attention_mask"), output="logits", shape=("batch", 2))


class _Decoder(GraphBuilder):
    """Builder for the decoder: each method adds nodes and returns the name of its result."""

    def __init__(self, sizes: Qwen3Sizes, tensors: FolderTensors, *, store: Store) -> None:
        super().__init__(store=store)
        self._sizes = sizes
        self._tensors = tensors
        self._prefix = tensors.prefix(WORDS)
        half = sizes.width // 2
        # A query head belongs to the key head of its group, so the group is an axis of its own.
        self._heads = self.integers("heads", [0, 0, sizes.heads, sizes.width])
        self._groups = self.integers("groups", [0, 0, sizes.groups, sizes.width])
        split = [0, sizes.groups, sizes.heads // sizes.groups, -1, sizes.width]
        self._grouped = self.integers("grouped", split)
        self._merged = self.integers("merged", [0, sizes.heads, -1, sizes.width])
        self._flat = self.integers("flat", [0, 0, sizes.heads * sizes.width])
        self._one = self.integers("one", 1)
        self._last = self.integers("last", [-1])
        self._epsilon = self.number("epsilon", sizes.epsilon)
        self._two = self.number("two", 2)
        self._bounds = [self.integers(f"bound{at}", [at]) for at in (0, half, sizes.width)]

    def states(self) -> str:
        """Add the whole decoder."""
        words = self.constant("words", self._tensors(self._prefix + WORDS))
        x = self.node("Gather", [words, "input_ids"], name="embedded")
        self._positions()
        for layer in range(self._sizes.layers):
            x = self._attention(x, layer=layer)
            x = self._feed_forward(x, layer=layer)
        return self._norm(x, "norm.weight", name="normed")

    def answers(self, state: str, ids: tuple[int, int]) -> None:
        """Add the logits of two words after each row's last attended token."""
        head = "lm_head.weight" if "lm_head.weight" in self._tensors else self._prefix + WORDS
        rows = self.constant("answers", np.ascontiguousarray(self._tensors(head)[list(ids)].T))
        axis = self.integers("axis1", [1])
        self.node("ReduceSum", ["attention_mask", axis], name="attended", keepdims=1)
        self.node("Sub", ["attended", self._one], name="final")
        # One index per row: with a batch dimension it picks a token of each.
        self.node("GatherND", [state, "final"], name="ends", batch_dims=1)
        self.node("MatMul", ["ends", rows], name="logits")

    def _positions(self) -> None:
        """Add the rotation of each position, and the mask that hides later tokens."""
        self.node("Shape", ["input_ids"], name="shape")
        self.node("Gather", ["shape", self._one], name="length")
        places = [self.integers("zero", 0), "length", self._one]
        self.node("Range", places, name="positions")
        self.node("Cast", ["positions"], name="places", to=TensorProto.FLOAT)
        self.node("Unsqueeze", ["places", self.integers("axis.column", [1])], name="column")
        self.node("Unsqueeze", ["places", self.integers("axis.row", [0])], name="row")
        width = self._sizes.width
        speeds = self._sizes.theta ** (-np.arange(0, width, 2, dtype=np.float64) / width)
        both = np.concatenate([speeds, speeds]).astype(np.float32)[None]
        self.node("Mul", ["column", self.constant("speeds", both)], name="angles")
        self.node("Cos", ["angles"], name="cos")
        self.node("Sin", ["angles"], name="sin")
        self.node("Greater", ["row", "column"], name="later")
        self.node("Cast", ["later"], name="later.floats", to=TensorProto.FLOAT)
        low = self.number("low", HIDDEN_BY_MASK)
        self.node("Mul", ["later.floats", low], name="mask")

    def _attention(self, x: str, *, layer: int) -> str:
        part, own = f"l{layer}", f"layers.{layer}.self_attn"
        normed = self._norm(x, f"layers.{layer}.input_layernorm.weight", name=f"{part}.in")
        q = self._head(normed, f"{own}.q", part=f"{part}.q", shape=self._heads)
        k = self._head(normed, f"{own}.k", part=f"{part}.k", shape=self._groups)
        v = self._linear(normed, f"{own}.v_proj", name=f"{part}.v")
        v = self.node("Reshape", [v, self._groups], name=f"{part}.v.heads")
        v = self.node("Transpose", [v], name=f"{part}.v.turned", perm=[0, 2, 1, 3])
        q = self.node("Reshape", [q, self._grouped], name=f"{part}.q.grouped")
        k = self.node("Transpose", [k], name=f"{part}.k.columns", perm=[0, 1, 3, 2])
        two = self.integers(f"{part}.axis", [2])
        k = self.node("Unsqueeze", [k, two], name=f"{part}.k.grouped")
        v = self.node("Unsqueeze", [v, two], name=f"{part}.v.grouped")
        raw = self.node("MatMul", [q, k], name=f"{part}.raw")
        factor = self.number(f"{part}.factor", 1 / math.sqrt(self._sizes.width))
        scaled = self.node("Mul", [raw, factor], name=f"{part}.scaled")
        masked = self.node("Add", [scaled, "mask"], name=f"{part}.masked")
        shares = self.node("Softmax", [masked], name=f"{part}.shares", axis=-1)
        mixed = self.node("MatMul", [shares, v], name=f"{part}.mixed")
        mixed = self.node("Reshape", [mixed, self._merged], name=f"{part}.merged")
        mixed = self.node("Transpose", [mixed], name=f"{part}.back", perm=[0, 2, 1, 3])
        mixed = self.node("Reshape", [mixed, self._flat], name=f"{part}.flat")
        out = self._linear(mixed, f"{own}.o_proj", name=f"{part}.o")
        return self.node("Add", [x, out], name=f"{part}.attended")

    def _head(self, x: str, own: str, *, part: str, shape: str) -> str:
        """Project to heads, normalize each and rotate it by its position."""
        rows = self._linear(x, f"{own}_proj", name=part)
        rows = self.node("Reshape", [rows, shape], name=f"{part}.heads")
        rows = self._norm(rows, f"{own}_norm.weight", name=f"{part}.normed")
        rows = self.node("Transpose", [rows], name=f"{part}.turned", perm=[0, 2, 1, 3])
        start, middle, end = self._bounds
        left = self.node("Slice", [rows, start, middle, self._last], name=f"{part}.left")
        right = self.node("Slice", [rows, middle, end, self._last], name=f"{part}.right")
        minus = self.node("Neg", [right], name=f"{part}.minus")
        turned = self.node("Concat", [minus, left], name=f"{part}.half", axis=-1)
        straight = self.node("Mul", [rows, "cos"], name=f"{part}.cos")
        across = self.node("Mul", [turned, "sin"], name=f"{part}.sin")
        return self.node("Add", [straight, across], name=f"{part}.rotated")

    def _feed_forward(self, x: str, *, layer: int) -> str:
        part, own = f"l{layer}", f"layers.{layer}.mlp"
        name = f"layers.{layer}.post_attention_layernorm.weight"
        normed = self._norm(x, name, name=f"{part}.post")
        gate = self._linear(normed, f"{own}.gate_proj", name=f"{part}.gate")
        share = self.node("Sigmoid", [gate], name=f"{part}.share")
        silu = self.node("Mul", [gate, share], name=f"{part}.silu")
        up = self._linear(normed, f"{own}.up_proj", name=f"{part}.up")
        inner = self.node("Mul", [silu, up], name=f"{part}.inner")
        down = self._linear(inner, f"{own}.down_proj", name=f"{part}.down")
        return self.node("Add", [x, down], name=f"{part}.fed")

    def _linear(self, x: str, own: str, *, name: str) -> str:
        matrix = self._tensors(f"{self._prefix}{own}.weight")
        inputs = [x, self.constant(f"{name}.w", np.ascontiguousarray(matrix.T))]
        return self.node("MatMul", inputs, name=name)

    def _norm(self, x: str, own: str, *, name: str) -> str:
        """Scale to a mean square of one, over the last axis."""
        squares = self.node("Pow", [x, self._two], name=f"{name}.squares")
        mean = self.node("ReduceMean", [squares], name=f"{name}.mean", axes=[-1], keepdims=1)
        raised = self.node("Add", [mean, self._epsilon], name=f"{name}.raised")
        root = self.node("Sqrt", [raised], name=f"{name}.root")
        unit = self.node("Div", [x, root], name=f"{name}.unit")
        weight = self.constant(f"{name}.w", self._tensors(self._prefix + own))
        return self.node("Mul", [unit, weight], name=name)


def _sizes(config: Mapping[str, Any]) -> Qwen3Sizes:
    rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
    wanted = {"hidden_act": "silu", "attention_bias": False, "use_sliding_window": False}
    wrong = [name for name, value in wanted.items() if config.get(name, value) != value]
    if rope.get("rope_type", rope.get("type", "default")) != "default":
        wrong.append("rope_scaling")
    if wrong:
        raise ConfigError(
            f"The model's config.json sets {', '.join(wrong)} in a way that cannot be converted. "
            "Export it to ONNX with another tool."
        )
    hidden, heads = int(config["hidden_size"]), int(config["num_attention_heads"])
    return Qwen3Sizes(
        hidden=hidden,
        layers=int(config["num_hidden_layers"]),
        heads=heads,
        groups=int(config.get("num_key_value_heads") or heads),
        width=int(config.get("head_dim") or hidden // heads),
        epsilon=float(config.get("rms_norm_eps", 1e-6)),
        theta=float(rope.get("rope_theta") or config.get("rope_theta") or 10_000),
    )
