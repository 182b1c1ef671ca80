"""The sentence scorer: multilingual-e5-small, trained further to read a question with a passage.

The trained numbers are low-rank changes of its matrices (Hu et al., 2021,
https://arxiv.org/abs/2106.09685), made by ``scripts/train_sentences.py``. The graph reads the
tokens of a question and of a passage, and gives two numbers for each token: the mean of the first
over a sentence, less the second of the first token, is the log-odds that the sentence answers
rather than that nothing in the passage does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx

from quoth_e5 import TRAINED
from quoth_e5.graph import embeddings
from quoth_e5.weights import EncoderWeights, Floats
from quoth_models.graph import EncoderGraph

SCORES_PRODUCT = "scores.product"
"""The product that is not rounded to 8 bits: it is small, and ends in what is compared."""
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
"""``token_type_ids`` are 0 for the question and 1 for the passage."""

Trained = Mapping[str, Floats]
"""``l4.q.down`` and ``l4.q.up`` of a matrix's change, layer norms, ``mark`` (a row for the question
and one for the passage, added before the first trained layer), ``scores.w`` and ``scores.b``."""


def load_trained(path: Path = TRAINED) -> Trained:
    """Read the trained numbers."""
    with np.load(path) as stored:
        return {name: stored[name].astype(np.float32) for name in stored.files}


def sentence_graph(weights: EncoderWeights, trained: Trained) -> onnx.ModelProto:
    """Build the network with float32 weights; its output has the shape (batch, tokens, 2)."""
    changed = dict(weights.tensors)
    for name, value in trained.items():
        part, _, kind = name.rpartition(".")
        if kind == "up":
            changed[f"{part}.w"] = changed[f"{part}.w"] + value @ trained[f"{part}.down"]
        elif name in changed:
            changed[name] = value
    weights = replace(weights, tensors=changed)
    graph = EncoderGraph(
        changed.__getitem__, hidden=weights.hidden, heads=weights.heads, epsilon=weights.epsilon
    )
    first = min(int(name[1:].partition(".")[0]) for name in trained if name.endswith(".up"))
    state, mask = embeddings(graph, weights), graph.mask()
    for layer in range(weights.layers):
        if layer == first:
            mark = [graph.constant("mark", trained["mark"]), "token_type_ids"]
            state = graph.node(
                "Add", [state, graph.node("Gather", mark, name="marks")], name="marked"
            )
        state = graph.feed_forward(graph.attention(state, mask, layer=layer), layer=layer)
    matrix = graph.constant("scores.w", np.ascontiguousarray(trained["scores.w"].T))
    product = graph.node("MatMul", [state, matrix], name=SCORES_PRODUCT)
    graph.node("Add", [product, graph.constant("scores.b", trained["scores.b"])], name="scores")
    return graph.model(inputs=INPUTS, output="scores", shape=("batch", "tokens", 2))
