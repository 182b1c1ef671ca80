"""Judging models small enough to be made in a test; they compare the words of both sides."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from tests.support.toy_rerankers import VOCABULARY, WORDS, write_cross_encoder, write_tokenizer

EVIDENCE, CLAIM, OTHER = "boat tide wave", "harbour sail", "oven flour"
"""A piece of evidence, a claim about the same, and one about something else."""


def write_labels(folder: Path, labels: dict[str, str]) -> Path:
    """A model of two labels, of which the second speaks for the claim; ``labels`` name them."""
    return _named(write_cross_encoder(folder, logits=2), {"id2label": labels})


def write_number(folder: Path) -> Path:
    """A model that gives one number."""
    return _named(write_cross_encoder(folder), {"num_labels": 1})


def write_tokens(folder: Path) -> Path:
    """A model that marks every word that is not the first word of the vocabulary as made up."""
    scores = np.full((len(VOCABULARY), 2), [4.0, -4.0], np.float32)
    scores[VOCABULARY.index(WORDS[-1])] = [-4.0, 4.0]
    names = ["input_ids", "attention_mask"]
    graph = helper.make_graph(
        [helper.make_node("Gather", ["scores", "input_ids"], ["logits"])],
        "toy",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["b", "t"]) for name in names],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["b", "t", 2])],
        [numpy_helper.from_array(scores, "scores")],
    )
    folder.mkdir(parents=True, exist_ok=True)
    opset = [helper.make_opsetid("", 17)]
    model = helper.make_model(graph, opset_imports=opset, ir_version=8)
    onnx.save(model, folder / "model.onnx")
    write_tokenizer(folder / "tokenizer.json")
    return _named(folder, {"architectures": ["ModernBertForTokenClassification"]})


def _named(folder: Path, more: dict[str, object]) -> Path:
    path = folder / "config.json"
    config = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    path.write_text(json.dumps({**config, **more}), encoding="utf-8")
    return folder
