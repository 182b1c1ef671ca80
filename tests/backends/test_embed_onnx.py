"""Any sentence-transformers ONNX folder can be named, and says clearly when it cannot be used."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from quoth.backends.embedders.onnx import OnnxEmbedder
from quoth.backends.embedders.onnx_model import FullTokenizer
from quoth.backends.onnx.model_folder import CARD, describe
from quoth.core.errors import ConfigError, EmbeddingError
from quoth.core.load_settings import load_settings
from quoth_e5.build import NAME, is_built

WORDS = ["[CLS]", "[SEP]", "[UNK]", "red", "green", "blue"]
TABLE = np.random.default_rng(1).normal(size=(len(WORDS), 8)).astype(np.float32)
BUILT = load_settings().models / NAME


def lookup_graph(path: Path, *, extra_input: str | None = None, two_d: bool = False) -> None:
    """A model that looks its tokens up, and averages them itself when ``two_d``."""
    names = ["input_ids", "attention_mask", *([extra_input] if extra_input else [])]
    inputs = [helper.make_tensor_value_info(n, TensorProto.INT64, ["b", "t"]) for n in names]
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])]
    shapes = {"last_hidden_state": ["b", "t", 8]}
    if two_d:
        nodes.append(
            helper.make_node(
                "ReduceMean", ["last_hidden_state"], ["sentence_embedding"], axes=[1], keepdims=0
            )
        )
        shapes["sentence_embedding"] = ["b", 8]
    outputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in shapes.items()]
    constants = [numpy_helper.from_array(TABLE, "table")]
    graph = helper.make_graph(nodes, "lookup", inputs, outputs, constants)
    opset = [helper.make_opsetid("", 17)]
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), path)


def write_tokenizer(path: Path, *, unknown: str | None = "[UNK]") -> None:
    words = {word: at for at, word in enumerate(WORDS)}
    tokenizer = Tokenizer(models.WordLevel(words, **({"unk_token": unknown} if unknown else {})))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 0), ("[SEP]", 1)]
    )
    tokenizer.enable_truncation(4)
    tokenizer.enable_padding(length=4)
    tokenizer.save(str(path))


def write_json(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lookup_graph(tmp_path / "model.onnx")
    write_tokenizer(tmp_path / "tokenizer.json")
    write_json(tmp_path / "config.json", {"hidden_size": 8, "max_position_embeddings": 64})
    return tmp_path


def embed(folder: Path, text: str) -> np.ndarray:
    embedder = OnnxEmbedder(folder, threads=1)
    try:
        return asyncio.run(embedder.embed([text], role="query"))[0]
    finally:
        embedder.close()


def unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


def test_token_vectors_are_averaged(folder: Path) -> None:
    assert np.allclose(embed(folder, "red blue"), unit(TABLE[[0, 3, 5, 1]].mean(0)), atol=1e-6)


def test_the_first_token_is_taken_where_the_folder_says_so(folder: Path) -> None:
    write_json(folder / "1_Pooling" / "config.json", {"pooling_mode_cls_token": True})
    assert np.allclose(embed(folder, "red blue"), unit(TABLE[0]), atol=1e-6)


def test_the_limits_in_the_tokenizer_file_do_not_count(folder: Path) -> None:
    expected = unit(TABLE[[0, *[3] * 20, 5, 1]].mean(0))
    assert np.allclose(embed(folder, "red " * 20 + "blue"), expected, atol=1e-6)


def test_text_is_cut_at_the_limit_of_the_model(folder: Path) -> None:
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": 5})
    assert np.allclose(embed(folder, "red red red blue"), embed(folder, "red red red"))


def test_prefixes_come_from_the_prompts_of_the_folder(folder: Path) -> None:
    prompts = {"prompts": {"query": "green ", "document": "blue "}}
    write_json(folder / "config_sentence_transformers.json", prompts)
    assert np.allclose(embed(folder, "red"), unit(TABLE[[0, 4, 3, 1]].mean(0)), atol=1e-6)


# --- identity ---------------------------------------------------------------------------------


def revision(folder: Path) -> str:
    embedder = OnnxEmbedder(folder, threads=1)
    embedder.close()
    return embedder.revision


def test_the_revision_follows_the_content(folder: Path) -> None:
    before = revision(folder)
    lookup_graph(folder / "model.onnx", two_d=True)
    assert revision(folder) != before


# --- what is wrong ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("tokenizer.json", r"has no tokenizer\.json"),
        ("model.onnx", r"has no model\.onnx"),
        ("config.json", "does not say how long its vectors are"),
    ],
)
def test_a_missing_file_is_named(folder: Path, name: str, sentence: str) -> None:
    (folder / name).unlink()
    with pytest.raises(ConfigError, match=sentence):
        OnnxEmbedder(folder, threads=1)


def test_unknown_pooling_is_refused(folder: Path) -> None:
    write_json(folder / "1_Pooling" / "config.json", {"pooling_mode_max_tokens": True})
    with pytest.raises(ConfigError, match="pooling_mode_max_tokens"):
        OnnxEmbedder(folder, threads=1)


def test_a_damaged_card_is_made_anew(folder: Path) -> None:
    made = describe(folder)
    card = folder / CARD
    for damage in ('"meen"', "7", "null"):
        card.write_text(card.read_text("utf-8").replace('"mean"', damage), encoding="utf-8")
        assert describe(folder) == made


def test_a_damaged_model_stops_the_first_call(folder: Path) -> None:
    (folder / "model.onnx").write_bytes(b"damaged")
    with pytest.raises(ConfigError, match=r"model\.onnx cannot be opened"):
        embed(folder, "red")


def test_an_input_nobody_can_give_is_refused(folder: Path) -> None:
    lookup_graph(folder / "model.onnx", extra_input="pixels")
    with pytest.raises(ConfigError, match="wants the input pixels"):
        embed(folder, "red")


def test_a_failing_model_is_an_embedding_error(folder: Path) -> None:
    tokenizer = Tokenizer(models.WordLevel({"red": 99, "[UNK]": 2}, unk_token="[UNK]"))
    tokenizer.save(str(folder / "tokenizer.json"))
    with pytest.raises(EmbeddingError, match="failed on a text"):
        embed(folder, "red")


def test_a_failing_tokenizer_is_an_embedding_error(folder: Path) -> None:
    write_tokenizer(folder / "tokenizer.json", unknown=None)
    with pytest.raises(EmbeddingError, match="tokenizer failed"):
        embed(folder, "purple")


def test_a_vector_of_another_length_is_an_embedding_error(folder: Path) -> None:
    write_json(folder / "config.json", {"hidden_size": 16})
    with pytest.raises(EmbeddingError, match="16 finite numbers are expected"):
        embed(folder, "red")


# --- the model that is shipped ----------------------------------------------------------------


@pytest.mark.model
@pytest.mark.skipif(not is_built(BUILT), reason="the embedding model has not been built here")
async def test_the_real_model_finds_meaning_across_languages() -> None:
    embedder = OnnxEmbedder(BUILT, threads=2)
    question = await embedder.embed(["What does a tokenizer do?"], role="query")
    passages = [
        "Un tokenizer traduit le texte en nombres que le modèle peut traiter.",
        "The train to Geneva leaves at eight in the morning.",
        "La recette demande trois œufs et un peu de sucre.",
    ]
    scores = (await embedder.embed(passages, role="document")) @ question[0]
    embedder.close()
    assert scores.argmax() == 0


@pytest.mark.model
@pytest.mark.skipif(not is_built(BUILT), reason="the embedding model has not been built here")
def test_the_real_lean_tokenizer_equals_the_whole_one() -> None:
    texts = [
        "Qu'est-ce qu'un « tokenizer » ? Œuvres complètes, p. 12–14.",
        '  What is C++? "AND" OR *\x00\n\n  naïve ﬁne ½ ™ 漢字かな交じり文 한국어 🧪👩\u200d🔬 ',
        "<s> </s> <mask> ▁▁ \xa0 \x85 e\u0301 https://example.org/?q=1&t=2#f",
    ]
    embedder = OnnxEmbedder(BUILT, threads=1)
    whole = FullTokenizer(BUILT / "tokenizer.json").count(texts)
    assert embedder.count_tokens(texts) == whole
    embedder.close()
