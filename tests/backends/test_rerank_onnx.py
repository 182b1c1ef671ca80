"""Reranking models by folder and name: what fits is used, what does not is named with a way out."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from quoth.backends.onnx.session import CPU
from quoth.backends.onnx.tensors import read_tensor
from quoth.backends.rerankers.colbert import ColbertReranker
from quoth.backends.rerankers.cross_encoder import OnnxReranker
from quoth.backends.rerankers.model_folder import (
    NAMES,
    find_folder,
    short,
)
from quoth.backends.rerankers.pair_encoding import PairRows, PromptRows
from quoth.backends.rerankers.registry import GuardedReranker, Rerankers
from quoth.core.errors import ConfigError, RerankError
from quoth.core.protocols import Reranker
from quoth.core.settings import Settings
from quoth.testing import WordReranker
from tests.support.failing_backends import FailingReranker
from tests.support.toy_rerankers import (
    PASSAGES,
    QUESTION,
    RIGHT,
    VOCABULARY,
    chunks,
    trained,
    write_answerer,
    write_colbert,
    write_cross_encoder,
    write_safetensors,
    write_tokenizer,
)


def store_tokens(reranker: ColbertReranker) -> None:
    async def store() -> None:
        _, tokens = await reranker.vectors.embed([chunk.indexed for chunk in chunks()])
        await reranker.vectors.put(chunks(), tokens)

    asyncio.run(store())


def score(reranker: Reranker, question: str = QUESTION) -> list[float]:
    try:
        return asyncio.run(reranker.score(question, chunks()))
    finally:
        reranker.close()


def change(folder: Path, name: str, **values: object) -> None:
    path = folder / name
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def pairs(folder: Path) -> OnnxReranker:
    return OnnxReranker(folder, threads=2)


def colbert(folder: Path) -> ColbertReranker:
    return ColbertReranker(folder, threads=2)


def open_named(names: str, *, models: Path) -> Reranker:
    return Rerankers(names, Settings(models=models, threads=1)).over(None).rerankers[0]


Maker = tuple[Callable[[Path], Path], Callable[[Path], Reranker]]
ALL: list[Maker] = [
    (write_cross_encoder, pairs),
    (write_answerer, pairs),
    (write_colbert, colbert),
]


# --- scores -----------------------------------------------------------------------------------


def test_a_cross_encoder_computes_what_the_formula_says(tmp_path: Path) -> None:
    table = dict(zip(VOCABULARY, trained().table, strict=True))
    asked = sum(table[word] for word in QUESTION.split())
    held = sum(table[word] for word in ("harbour", "wave", "sail", "fish"))
    assert score(pairs(write_cross_encoder(tmp_path)))[RIGHT] == pytest.approx(
        float(asked @ held), rel=1e-4
    )


def test_batches_of_other_company_change_no_score(tmp_path: Path) -> None:
    reranker = pairs(write_cross_encoder(tmp_path))
    texts = [f"{PASSAGES[at % 4]} {'salt ' * at}" for at in range(30)]

    async def both() -> tuple[list[float], list[float]]:
        together = await reranker.score(QUESTION, chunks(texts))
        alone = [(await reranker.score(QUESTION, chunks([text])))[0] for text in texts]
        return together, alone

    together, alone = asyncio.run(both())
    reranker.close()
    assert together == pytest.approx(alone, rel=1e-4, abs=1e-4)


def test_colbert_adds_the_best_matches_up(tmp_path: Path) -> None:
    plain = score(colbert(write_colbert(tmp_path / "plain")))
    projected = score(colbert(write_colbert(tmp_path / "projected", projected=True)))
    assert projected == pytest.approx(plain, abs=1e-2)


def test_colbert_finds_its_stored_vectors(tmp_path: Path) -> None:
    folder = write_colbert(tmp_path / "model")
    reranker = ColbertReranker(folder, threads=1, store=tmp_path / "store")

    store_tokens(reranker)
    assert list((tmp_path / "store").rglob("*.tokens"))
    assert score(reranker) == pytest.approx(score(colbert(folder)), abs=1e-6)


# --- rows -------------------------------------------------------------------------------------


def words(ids: list[int]) -> str:
    return " ".join(VOCABULARY[at] for at in ids)


def test_the_passage_is_cut_and_not_the_question(tmp_path: Path) -> None:
    write_tokenizer(tmp_path / "tokenizer.json")
    (row,) = PairRows(tmp_path / "tokenizer.json", limit=9).of("boat tide fish", ["salt " * 9])
    assert words(row.ids) == "[CLS] boat tide fish [SEP] salt salt salt [SEP]"
    assert row.types == [0, 0, 0, 0, 0, 1, 1, 1, 1]


def test_a_question_longer_than_the_room_leaves_half_of_it(tmp_path: Path) -> None:
    write_tokenizer(tmp_path / "tokenizer.json")
    (row,) = PairRows(tmp_path / "tokenizer.json", limit=9).of("boat " * 99, ["salt " * 9])
    assert words(row.ids) == "[CLS] boat boat boat [SEP] salt salt salt [SEP]"


def test_a_text_that_spells_a_special_token_stays_a_text(tmp_path: Path) -> None:
    write_tokenizer(tmp_path / "tokenizer.json")
    (row,) = PairRows(tmp_path / "tokenizer.json", limit=30).of("boat", ["[SEP] salt"])
    assert row.ids.count(VOCABULARY.index("[SEP]")) == 2


def test_a_prompt_keeps_its_end_when_the_document_is_cut(tmp_path: Path) -> None:
    write_tokenizer(tmp_path / "tokenizer.json")
    rows = PromptRows(tmp_path / "tokenizer.json", limit=220)
    short_row, long_row = rows.of("boat", ["salt", "salt " * 999])
    assert len(long_row.ids) == 220
    assert long_row.ids[-12:] == short_row.ids[-12:]


# --- folders ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("write", "make"), ALL)
def test_a_missing_file_is_named(
    tmp_path: Path, write: Callable[[Path], Path], make: Callable[[Path], Reranker]
) -> None:
    for name in ("config.json", "tokenizer.json"):
        (write(tmp_path / name) / name).unlink()
        with pytest.raises(ConfigError, match=f"has no {name}"):
            make(tmp_path / name)


def test_a_missing_model_or_folder_is_named(tmp_path: Path) -> None:
    (write_cross_encoder(tmp_path) / "model.onnx").unlink()
    with pytest.raises(ConfigError, match=r"has no model\.onnx"):
        pairs(tmp_path)
    with pytest.raises(ConfigError, match="absent does not exist"):
        pairs(tmp_path / "absent")


@pytest.mark.parametrize(("write", "make"), ALL)
def test_a_tokenizer_of_another_model_is_refused(
    tmp_path: Path, write: Callable[[Path], Path], make: Callable[[Path], Reranker]
) -> None:
    write(tmp_path)
    write_tokenizer(tmp_path / "tokenizer.json", [*VOCABULARY, "more"])
    with pytest.raises(ConfigError, match="do not belong together"):
        score(make(tmp_path))


@pytest.mark.parametrize(("write", "make"), ALL)
def test_a_tokenizer_larger_than_the_table_is_refused(
    tmp_path: Path, write: Callable[[Path], Path], make: Callable[[Path], Reranker]
) -> None:
    write(tmp_path)
    write_tokenizer(tmp_path / "tokenizer.json", [*VOCABULARY, "more"])
    change(tmp_path, "config.json", vocab_size=None)
    with pytest.raises(ConfigError, match="last token of"):
        score(make(tmp_path))


@pytest.mark.parametrize(("write", "make"), ALL)
def test_a_damaged_model_is_named(
    tmp_path: Path, write: Callable[[Path], Path], make: Callable[[Path], Reranker]
) -> None:
    write(tmp_path)
    path = next(tmp_path.rglob("model.onnx"))
    path.write_bytes(b"damaged")
    with pytest.raises(ConfigError, match=r"model\.onnx cannot be opened"):
        score(make(tmp_path))


def test_an_encoder_without_a_head_is_refused(tmp_path: Path) -> None:
    folder = write_colbert(tmp_path)
    (folder / "artifact.metadata").unlink()
    change(folder, "config.json", architectures=["BertModel"])
    with pytest.raises(ConfigError, match="not one or two numbers per pair"):
        score(pairs(folder))


def test_an_input_nobody_can_give_is_refused(tmp_path: Path) -> None:
    folder = write_cross_encoder(tmp_path)
    model = onnx.load(folder / "model.onnx")
    extra = helper.make_tensor_value_info("pixels", TensorProto.INT64, ["b", "t"])
    model.graph.input.append(extra)
    onnx.save(model, folder / "model.onnx")
    with pytest.raises(ConfigError, match="wants the input pixels"):
        score(pairs(folder))


def test_a_colbert_without_its_projection_is_refused(tmp_path: Path) -> None:
    folder = write_colbert(tmp_path, projected=True)
    (folder / "1_Dense" / "model.safetensors").unlink()
    with pytest.raises(ConfigError, match="no projection from 32 to 16"):
        score(colbert(folder))


def test_a_colbert_without_marks_is_refused(tmp_path: Path) -> None:
    folder = write_colbert(tmp_path)
    (folder / "artifact.metadata").write_text('{"dim": 16}')
    plain = [f"{word}x" if word.startswith("[unused") else word for word in VOCABULARY]
    write_tokenizer(folder / "tokenizer.json", plain)
    with pytest.raises(ConfigError, match="no tokens that mark"):
        score(colbert(folder))


def test_scores_that_are_no_numbers_are_an_error(tmp_path: Path) -> None:
    folder = write_cross_encoder(tmp_path)
    model = onnx.load(folder / "model.onnx")
    table = next(each for each in model.graph.initializer if each.name == "table")
    broken = onnx.numpy_helper.to_array(table).copy()
    broken[VOCABULARY.index("oven")] = np.nan
    table.CopyFrom(onnx.numpy_helper.from_array(broken, "table"))
    onnx.save(model, folder / "model.onnx")
    with pytest.raises(RerankError, match="no numbers"):
        score(pairs(folder))


# --- names ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_name_without_its_files_says_what_to_put_where(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError) as caught:
        open_named(short(name), models=tmp_path)
    for part in (name, str(tmp_path / short(name)), "model.onnx", "tokenizer.json", "config.json"):
        assert part in str(caught.value)


@pytest.mark.parametrize("place", ["BAAI/bge-reranker-base", "BAAI--bge-reranker-base"])
def test_a_name_is_found_below_the_models_folder(tmp_path: Path, place: str) -> None:
    folder = write_cross_encoder(tmp_path / place)
    assert find_folder("bge-reranker-base", models=tmp_path) == folder
    opened = open_named("BAAI/bge-reranker-base", models=tmp_path)
    scores = score(opened)
    assert scores.index(max(scores)) == RIGHT


def test_a_folder_opens_what_it_holds(tmp_path: Path) -> None:
    for write, kind in ((write_cross_encoder, OnnxReranker), (write_colbert, ColbertReranker)):
        folder = write(tmp_path / kind.__name__)
        opened = open_named(str(folder), models=tmp_path)
        assert isinstance(opened, kind)
        opened.close()


def test_tenants_share_a_cross_encoder(tmp_path: Path) -> None:
    folder = write_cross_encoder(tmp_path / "model")
    rerankers = Rerankers(str(folder), Settings(models=tmp_path, threads=1))
    assert rerankers.over(None).rerankers == rerankers.over(None).rerankers
    asyncio.run(rerankers.aclose())


def test_tenants_share_a_colbert_and_keep_their_token_vectors_apart(tmp_path: Path) -> None:
    folder = write_colbert(tmp_path / "model")
    rerankers = Rerankers(str(folder), Settings(models=tmp_path, threads=1))
    one, other = (rerankers.over(None, store=tmp_path / each).rerankers[0] for each in "ab")
    assert isinstance(one, ColbertReranker)
    store_tokens(one)
    shutil.rmtree(folder)  # it is open, and not opened again
    assert list((tmp_path / "a").rglob("*.tokens"))
    assert not list((tmp_path / "b").rglob("*.tokens"))
    assert asyncio.run(other.score(QUESTION, chunks()))
    asyncio.run(rerankers.aclose())


# --- chain ------------------------------------------------------------------------------------


async def test_the_next_reranker_takes_over() -> None:
    chain = GuardedReranker(FailingReranker(), WordReranker())
    scores = await chain.score("boat wave", chunks())
    assert scores == await WordReranker().score("boat wave", chunks())


async def test_when_all_fail_the_chain_fails() -> None:
    with pytest.raises(RerankError, match="made to fail"):
        await GuardedReranker(FailingReranker(), FailingReranker()).score(QUESTION, chunks())


# --- weights ----------------------------------------------------------------------------------


def test_a_tensor_is_read_as_it_was_written(tmp_path: Path) -> None:
    matrix = np.arange(6, dtype="<f2").reshape(2, 3)
    write_safetensors(tmp_path / "w.safetensors", matrix)
    found = read_tensor(tmp_path / "w.safetensors", "linear.weight")
    assert found is not None
    assert np.array_equal(found, matrix.astype(np.float32))
    assert read_tensor(tmp_path / "w.safetensors", "other") is None
    assert read_tensor(tmp_path / "absent.safetensors", "other") is None


@pytest.mark.parametrize(
    "content", [b"", b"\xff" * 9, b"\x02\0\0\0\0\0\0\0[]", b"\x09\0\0\0\0\0\0\0{"]
)
def test_a_damaged_weights_file_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "w.safetensors").write_bytes(content)
    with pytest.raises(ConfigError, match=r"w\.safetensors cannot be read"):
        read_tensor(tmp_path / "w.safetensors", "linear.weight")


# --- graphics processors ----------------------------------------------------------------------


def halved(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with 16-bit numbers."""
    for each in model.graph.initializer:
        if each.data_type == TensorProto.FLOAT:
            array = numpy_helper.to_array(each).astype(np.float16)
            each.CopyFrom(numpy_helper.from_array(array, each.name))
    for node in model.graph.node:
        for attribute in node.attribute:
            if node.op_type == "Cast" and attribute.i == TensorProto.FLOAT:
                attribute.i = TensorProto.FLOAT16
    for output in model.graph.output:
        output.type.tensor_type.elem_type = TensorProto.FLOAT16
    return model


class Opened:
    """Opens sessions, those of a graphics processor on the CPU; keeps file and providers."""

    def __init__(self, *, fails: bool) -> None:
        self.asked: list[tuple[str, str]] = []
        self._fails, self._open = fails, onnxruntime.InferenceSession

    def __call__(self, path: str, *given: Any, providers: list[str], **more: Any) -> Any:
        self.asked.append((Path(path).name, providers[0]))
        if self._fails and providers != [CPU]:
            raise RuntimeError("CUDA failure 2: out of memory")
        return self._open(path, *given, providers=[CPU], **more)


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize(
    ("write", "opened"), [(write_cross_encoder, OnnxReranker), (write_colbert, ColbertReranker)]
)
def test_a_graphics_processor_computes_with_half_precision_where_there_is_one(
    write: Callable[..., Path],
    opened: Any,
    fails: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = write(tmp_path / "model")
    right = score(opened(folder, threads=1))
    onnx.save(halved(onnx.load(folder / "model.onnx")), folder / "model_fp16.onnx")
    sessions = Opened(fails=fails)
    monkeypatch.setattr(onnxruntime, "InferenceSession", sessions)
    assert score(opened(folder, threads=1, gpu=True)) == right  # there is none
    monkeypatch.setattr(
        onnxruntime, "get_available_providers", lambda: ["CUDAExecutionProvider", CPU]
    )
    assert score(opened(folder, threads=1, gpu=False)) == right
    assert {each for each in sessions.asked} == {("model.onnx", CPU)}
    sessions.asked.clear()
    assert score(opened(folder, threads=1, gpu=True)) == pytest.approx(right, rel=0.01)
    first = ("model_fp16.onnx", "CUDAExecutionProvider")
    assert sessions.asked == ([first, ("model_fp16.onnx", CPU)] if fails else [first])
