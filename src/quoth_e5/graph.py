"""The encoder of multilingual-e5-small as an ONNX graph.

Inputs: ``input_ids`` and ``attention_mask``, int64, shape (batch, tokens). Output:
``last_hidden_state``, float32, shape (batch, tokens, hidden). The word table keeps the 4-bit
numbers of the weights file, one in a byte, and multiplies them by their scales after the lookup:
nothing is rounded a second time, and 96 MB never become 384 MB of floats.
"""

from __future__ import annotations

import onnx
from onnx import TensorProto

from quoth_e5.weights import BLOCK, EncoderWeights
from quoth_models.graph import EncoderGraph

WORD_NUMBERS = "word.numbers"
WORD_SCALES = "word.scales"


def encoder_graph(weights: EncoderWeights) -> onnx.ModelProto:
    """Build the encoder with float32 weights (the word table excepted, see above)."""
    graph = EncoderGraph(
        weights.tensors.__getitem__,
        hidden=weights.hidden,
        heads=weights.heads,
        epsilon=weights.epsilon,
    )
    state = graph.layers(embeddings(graph, weights), count=weights.layers)
    graph.node("Identity", [state], name="last_hidden_state")
    return graph.model(
        inputs=("input_ids", "attention_mask"),
        output="last_hidden_state",
        shape=("batch", "tokens", weights.hidden),
    )


def embeddings(graph: EncoderGraph, weights: EncoderWeights) -> str:
    """Look up words and positions, and normalize their sum."""
    words, hidden = weights.words, weights.hidden
    numbers = [graph.constant(WORD_NUMBERS, words.numbers), "input_ids"]
    scales = [graph.constant(WORD_SCALES, words.scales), "input_ids"]
    graph.node("Gather", numbers, name="word.bytes")
    graph.node("Cast", ["word.bytes"], name="word.floats", to=TensorProto.FLOAT)
    blocks = graph.integers("blocks", [0, 0, hidden // BLOCK, BLOCK])
    graph.node("Reshape", ["word.floats", blocks], name="word.blocks")
    graph.node("Gather", scales, name="word.scale")
    graph.node("Unsqueeze", ["word.scale", graph.integers("last", [-1])], name="word.scale4")
    graph.node("Mul", ["word.blocks", "word.scale4"], name="word.scaled")
    graph.node("Reshape", ["word.scaled", graph.flat], name="word")
    graph.node("Gather", [graph.tensor("emb.pos"), graph.positions()], name="position")
    graph.node("Add", ["word", "position"], name="placed")
    return graph.norm(graph.node("Add", ["placed", graph.tensor("emb.type")], name="x"), "emb.ln")
