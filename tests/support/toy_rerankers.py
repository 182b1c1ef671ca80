"""Reranking models that are small enough to be trained in a test, and really are.

The task: a question and a passage are about the same topic, in other words. No word stands in
both, so whoever ranks right has learnt which words belong together.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers, processors

from quoth.core.types import Chars, Chunk

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused0]", "[unused1]", "yes", "no"]
SPECIAL += [".", ",", "?"]
TOPICS = {
    "sea": ["boat", "wave", "sail", "harbour", "tide", "fish"],
    "music": ["piano", "melody", "chord", "rhythm", "choir", "violin"],
    "kitchen": ["oven", "flour", "salt", "dough", "butter", "recipe"],
    "law": ["court", "judge", "appeal", "verdict", "statute", "witness"],
    "space": ["orbit", "rocket", "planet", "comet", "lunar", "galaxy"],
}
WORDS = [word for words in TOPICS.values() for word in words]
VOCABULARY = [*SPECIAL, *WORDS]
WIDTH = 16
QUESTION = "boat tide"
PASSAGES = [
    "piano chord. choir, rhythm",
    "harbour wave. sail, fish",
    "court judge. appeal, statute",
    "oven flour. salt, dough",
]
RIGHT = 1


@dataclass(frozen=True)
class Trained:
    """The word vectors that were learnt, and the accuracy on pairs of words never seen together."""

    table: np.ndarray
    accuracy: float


@cache
def trained() -> Trained:
    """Learn by logistic regression on the product of mean word vectors; takes under a second."""
    random = np.random.default_rng(3)
    topic = np.repeat(np.arange(len(TOPICS)), 6)
    table = random.normal(0, 0.3, (len(WORDS), WIDTH))
    bias = 0.0
    # The first three words of a topic are asked with; the last one never meets the third.
    for _ in range(600):
        asked = random.integers(0, len(WORDS), 64)
        asked = asked // 6 * 6 + asked % 3
        same = random.random(64) < 0.5
        other = np.where(same, topic[asked], random.integers(0, len(TOPICS), 64))
        held = other * 6 + 3 + random.integers(0, np.where(asked % 6 == 2, 2, 3))
        target = (topic[held] == topic[asked]).astype(float)
        q, d = table[asked], table[held]
        error = 1 / (1 + np.exp(-(4 * (q * d).sum(1) + bias))) - target
        np.add.at(table, asked, -0.15 * error[:, None] * d)
        np.add.at(table, held, -0.15 * error[:, None] * q)
        bias -= 0.02 * error.mean()
    unseen = table[2::6] @ table[5::6].T
    return Trained(
        np.concatenate([np.zeros((len(SPECIAL), WIDTH)), table]).astype(np.float32),
        float((unseen.argmax(1) == np.arange(len(TOPICS))).mean()),
    )


def chunks(texts: list[str] = PASSAGES) -> list[Chunk]:
    """Chunks of one document, in the order of their texts."""
    return [
        Chunk(f"c{at}", "document", at, 0, len(text), text, Chars(0, len(text)), "text")
        for at, text in enumerate(texts)
    ]


def write_cross_encoder(folder: Path, *, logits: int = 1, place: str = "model.onnx") -> Path:
    """A model that compares the mean vectors of both sides; with two logits, against and for."""
    nodes = [
        *_looked_up(),
        _node("Cast", ["token_type_ids"], "second", to=TensorProto.FLOAT),
        _node("Mul", ["second", "mask"], "right"),
        _node("Sub", ["mask", "right"], "left"),
        *_sum_of("left", "asked"),
        *_sum_of("right", "held"),
        _node("Mul", ["asked", "held"], "product"),
        _node("ReduceSum", ["product", "axis1"], "score", keepdims=1),
        _node("Neg", ["score"], "against"),
        _node("Concat", ["against", "score"], "both", axis=1),
        _node("Identity", ["score" if logits == 1 else "both"], "logits"),
    ]
    _save(folder / place, nodes, ["input_ids", "attention_mask", "token_type_ids"], ["b", logits])
    return _finish(folder, "BertForSequenceClassification", {"num_labels": logits})


def write_answerer(folder: Path) -> Path:
    """A model that reads a prompt word by word; 'yes' is likely where all words go together."""
    yes = np.zeros(len(VOCABULARY), np.float32)
    yes[VOCABULARY.index("yes")] = 1
    nodes = [
        *_looked_up(),
        _node("CumSum", ["rows", "one"], "heard"),
        _node("Mul", ["heard", "heard"], "squares"),
        _node("ReduceSum", ["squares", "axis2"], "agreement", keepdims=1),
        _node("Mul", ["agreement", "yes"], "logits"),
    ]
    inputs = ["input_ids", "attention_mask", "position_ids", "past_key_values.0.key"]
    _save(folder / "onnx" / "model.onnx", nodes, inputs, ["b", "t", len(VOCABULARY)], {"yes": yes})
    return _finish(folder, "Qwen3ForCausalLM", {"model_type": "qwen3"})


def write_colbert(folder: Path, *, projected: bool = False) -> Path:
    """A model that gives each word its vector; with a projection beside it, twice as wide."""
    width = 2 * WIDTH if projected else WIDTH
    nodes = [*_looked_up(wide=projected), _node("Identity", ["rows"], "last_hidden_state")]
    _save(folder / "model.onnx", nodes, ["input_ids", "attention_mask"], ["b", "t", width])
    metadata = {"dim": WIDTH, "query_maxlen": 8, "query_token_id": "[unused0]"}
    _json(folder / "artifact.metadata", {**metadata, "doc_token_id": "[unused1]"})
    if projected:
        matrix = np.concatenate([np.eye(WIDTH), np.zeros((WIDTH, WIDTH))], 1).astype("<f2")
        write_safetensors(folder / "1_Dense" / "model.safetensors", matrix)
        _json(folder / "1_Dense" / "config.json", {"out_features": WIDTH})
    return _finish(folder, "HF_ColBERT", {"hidden_size": width})


def write_safetensors(path: Path, matrix: np.ndarray, *, name: str = "linear.weight") -> None:
    """A file with one half-precision tensor."""
    entry = {"dtype": "F16", "shape": matrix.shape, "data_offsets": [0, matrix.nbytes]}
    header = json.dumps({name: entry}).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(len(header).to_bytes(8, "little") + header + matrix.tobytes())


def write_tokenizer(path: Path, vocabulary: list[str] = VOCABULARY) -> None:
    """A tokenizer of whole words, with the special tokens of BERT."""
    ids = {word: at for at, word in enumerate(vocabulary)}
    tokenizer = Tokenizer(models.WordLevel(ids, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.add_special_tokens(
        [AddedToken(word, special=True) for word in vocabulary if word.startswith("[")]
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(each, ids[each]) for each in ("[CLS]", "[SEP]")],
    )
    tokenizer.enable_truncation(4)
    path.parent.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(path))


def _finish(folder: Path, architecture: str, more: dict[str, object]) -> Path:
    config = {"architectures": [architecture], "vocab_size": len(VOCABULARY), "model_type": "bert"}
    _json(folder / "config.json", {**config, "max_position_embeddings": 512, **more})
    write_tokenizer(folder / "tokenizer.json")
    return folder


def _json(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


def _node(kind: str, inputs: list[str], name: str, **attributes: object) -> onnx.NodeProto:
    return helper.make_node(kind, inputs, [name], **attributes)


def _looked_up(*, wide: bool = False) -> list[onnx.NodeProto]:
    """The vectors of all tokens as ``rows``, the mask as ``mask``."""
    nodes = [
        _node("Gather", ["table", "input_ids"], "found"),
        _node("Cast", ["attention_mask"], "mask", to=TensorProto.FLOAT),
    ]
    if wide:
        return [*nodes, _node("Concat", ["found", "found"], "rows", axis=2)]
    return [*nodes, _node("Identity", ["found"], "rows")]


def _sum_of(mask: str, name: str) -> list[onnx.NodeProto]:
    return [
        _node("Unsqueeze", [mask, "axis2"], f"{name}.mask"),
        _node("Mul", ["rows", f"{name}.mask"], f"{name}.rows"),
        _node("ReduceSum", [f"{name}.rows", "axis1"], name, keepdims=0),
    ]


def _save(
    path: Path,
    nodes: list[onnx.NodeProto],
    inputs: list[str],
    shape: list[str | int],
    constants: dict[str, np.ndarray] | None = None,
) -> None:
    values = {
        "table": trained().table,
        "axis1": np.array([1]),
        "axis2": np.array([2]),
        "one": np.array(1),
        **(constants or {}),
    }
    used = {name for node in nodes for name in node.input}
    output = nodes[-1].output[0]
    graph = helper.make_graph(
        nodes,
        "toy",
        [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, ["b", 2, "p", 4])
            if name.startswith("past")
            else helper.make_tensor_value_info(name, TensorProto.INT64, ["b", "t"])
            for name in inputs
        ],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)],
        [numpy_helper.from_array(value, name) for name, value in values.items() if name in used],
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    opset = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), path)
