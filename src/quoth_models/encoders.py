"""BERT, RoBERTa and XLM-RoBERTa from transformers' weights: encoders, classifiers, ColBERT."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx

from quoth.backends.onnx.model_folder import OFFSET_POSITIONS
from quoth.core.errors import ConfigError
from quoth_models.graph import Array, EncoderGraph, Store
from quoth_models.tensors import FolderTensors

MODEL_TYPES = ("bert", *OFFSET_POSITIONS)
PARTS: Mapping[str, str] = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
KINDS = {"w": "weight", "b": "bias"}
WORDS = "embeddings.word_embeddings.weight"
POSITIONS = "embeddings.position_embeddings.weight"
PROJECTION = "linear.weight"


def encoder_model(
    config: Mapping[str, Any], tensors: FolderTensors, *, store: Store
) -> onnx.ModelProto:
    """Build the encoder with the head that the configuration names; raises ConfigError."""
    _check(config)
    prefix = tensors.prefix(WORDS)

    def tensor(name: str) -> Array:
        return tensors(_weight_name(name, prefix=prefix))

    hidden = int(config["hidden_size"])
    graph = EncoderGraph(
        tensor,
        hidden=hidden,
        heads=int(config["num_attention_heads"]),
        epsilon=float(config.get("layer_norm_eps", 1e-12)),
        store=store,
    )
    x = _embeddings(graph, tensors, config, prefix=prefix)
    state = graph.layers(x, count=int(config["num_hidden_layers"]))
    inputs = ["input_ids", "attention_mask"]
    if _types(config) > 1:
        inputs.append("token_type_ids")
    architecture = str((config.get("architectures") or [""])[0])
    if architecture.endswith("ForSequenceClassification"):
        width = _classifier(graph, tensors, state, bert=config["model_type"] == "bert")
        return graph.model(inputs=inputs, output="logits", shape=("batch", width))
    width = hidden
    if "colbert" in architecture.casefold() and PROJECTION in tensors:
        matrix = tensors(PROJECTION)
        width = len(matrix)
        name = graph.constant("projection", np.ascontiguousarray(matrix.T))
        state = graph.node("MatMul", [state, name], name="projected")
    graph.node("Identity", [state], name="last_hidden_state")
    return graph.model(inputs=inputs, output="last_hidden_state", shape=("batch", "tokens", width))


def _embeddings(
    graph: EncoderGraph, tensors: FolderTensors, config: Mapping[str, Any], *, prefix: str
) -> str:
    """Look up words, positions and segments, and normalize their sum."""
    words = graph.constant("emb.word", tensors(prefix + WORDS))
    graph.node("Gather", [words, "input_ids"], name="word")
    # The first positions of RoBERTa belong to padding, which is on the right here.
    first = 0 if config["model_type"] == "bert" else int(config.get("pad_token_id", 1)) + 1
    places = graph.constant("emb.pos", tensors(prefix + POSITIONS)[first:])
    graph.node("Gather", [places, graph.positions()], name="position")
    graph.node("Add", ["word", "position"], name="placed")
    segments = tensors(f"{prefix}embeddings.token_type_embeddings.weight")
    if _types(config) > 1:
        kinds = graph.constant("emb.type", segments)
        added = graph.node("Gather", [kinds, "token_type_ids"], name="segment")
    else:
        added = graph.constant("emb.type", segments[0])
    return graph.norm(graph.node("Add", ["placed", added], name="x"), "emb.ln")


def _classifier(graph: EncoderGraph, tensors: FolderTensors, state: str, *, bert: bool) -> int:
    """Score the first token; return the number of logits."""
    parts = ("bert.pooler.dense", "classifier")
    if not bert:
        parts = ("classifier.dense", "classifier.out_proj")
    x = graph.node("Gather", [state, graph.integers("first", 0)], name="head", axis=1)
    for at, part in enumerate(parts):
        matrix, bias = tensors(f"{part}.weight"), tensors(f"{part}.bias")
        product = [x, graph.constant(f"head{at}.w", np.ascontiguousarray(matrix.T))]
        graph.node("MatMul", product, name=f"head{at}.product")
        added = [f"head{at}.product", graph.constant(f"head{at}.b", bias)]
        x = graph.node("Add", added, name="logits" if at else f"head{at}.sum")
        if not at:
            x = graph.node("Tanh", [x], name="pooled")
    return len(matrix)


def _weight_name(name: str, *, prefix: str) -> str:
    """Return transformers' name of a weight of `EncoderGraph`."""
    part, _, kind = name.rpartition(".")
    layer, _, inner = part.partition(".")
    if part == "emb.ln":
        return f"{prefix}embeddings.LayerNorm.{KINDS[kind]}"
    return f"{prefix}encoder.layer.{layer.removeprefix('l')}.{PARTS[inner]}.{KINDS[kind]}"


def _types(config: Mapping[str, Any]) -> int:
    return int(config.get("type_vocab_size", 1))


def _check(config: Mapping[str, Any]) -> None:
    wanted = {"hidden_act": "gelu", "position_embedding_type": "absolute", "is_decoder": False}
    for name, value in wanted.items():
        if config.get(name, value) != value:
            raise ConfigError(
                f"The model's config.json says {name} = {config[name]}, and only {value} can be "
                "converted. Export it to ONNX with another tool."
            )
