"""Token vectors are stored in few bytes, found again, and computed where they are missing."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.backends.embedders.onnx import OnnxEmbedder
from quoth.backends.late_interaction import encoding
from quoth.backends.late_interaction.encoding import (
    Encoding,
    Packed,
    Starts,
    best_matches,
    binarize,
    multiply,
    multiply_integers,
    normalize_rows,
    quantize_nbits,
    weighted_maxsim,
)
from quoth.backends.late_interaction.token_store import TokenStore
from quoth.backends.late_interaction.token_vectors import TokenSpace, TokenVectors, open_vectors
from quoth.backends.rerankers.late_interaction import LateReranker
from quoth.core.errors import ConfigError, RerankError
from quoth.core.protocols import Matrix, Role
from quoth.core.types import Chars, Chunk
from scripts.make_products import FOLDER, PRODUCTS, product_model
from tests.backends.test_embed_onnx import TABLE, lookup_graph, write_json, write_tokenizer
from tests.support.tiny_e5 import build_tiny

TEXTS = ["the tokenizer", "a page of the text", "le chapter learn", "the model and the text"]


def chunk(at: int, text: str = "", document: str = "d") -> Chunk:
    return Chunk(f"{document}-{at}", document, at, 0, 1, text, Chars(0, 1), "text")


def rows(count: int, *, seed: int = 0, width: int = 6) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (count, width), dtype=np.uint8)


@pytest.fixture
def store(tmp_path: Path) -> TokenStore:
    return TokenStore(tmp_path / "tokens", width=6)


# --- the store --------------------------------------------------------------------------------


@given(st.dictionaries(st.integers(0, 6), st.integers(1, 5), max_size=5))
def test_what_is_put_is_got(sizes: dict[int, int]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = TokenStore(Path(folder), width=6)
        put = {at: rows(size, seed=at) for at, size in sizes.items()}
        store.put("d", put)
        for opened in (store, TokenStore(Path(folder), width=6)):
            got = opened.get([chunk(at) for at in range(8)])
            assert set(got) == {f"d-{at}" for at in sizes}
            assert all(np.array_equal(got[f"d-{at}"], put[at]) for at in sizes)


def test_putting_again_replaces_chunks_and_keeps_the_others(store: TokenStore) -> None:
    store.put("d", {0: rows(2), 2: rows(4)})
    store.get([chunk(0)])
    store.put("d", {0: rows(3, seed=9)})
    found = store.get([chunk(at) for at in range(3)])
    assert set(found) == {"d-0", "d-2"}
    assert np.array_equal(found["d-0"], rows(3, seed=9))
    assert np.array_equal(found["d-2"], rows(4))


def test_a_deleted_document_is_gone(store: TokenStore) -> None:
    store.put("d", {0: rows(2)})
    store.put("e", {0: rows(2)})
    store.delete(["d", "never there"])
    assert set(store.get([chunk(0), chunk(0, document="e")])) == {"e-0"}


def test_strangers_can_be_removed(store: TokenStore) -> None:
    for name in "abc":
        store.put(name, {0: rows(1)})
    assert store.keep_only(["b", "z"]) == 2
    assert set(store.get([chunk(0, document=name) for name in "abc"])) == {"b-0"}


@pytest.mark.parametrize("cut", [0, 3, 12, 17, -1])
def test_a_damaged_file_counts_as_missing(store: TokenStore, tmp_path: Path, cut: int) -> None:
    store.put("d", {0: rows(2), 1: rows(3)})
    (path,) = (tmp_path / "tokens").rglob("*.tokens")
    path.write_bytes(path.read_bytes()[:cut])
    assert store.get([chunk(0), chunk(1)]) == {}


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RerankError, match="could not be written to"):
        TokenStore(tmp_path / "file", width=6).put("d", {0: rows(1)})


def test_odd_names_are_safe(store: TokenStore, tmp_path: Path) -> None:
    name = "../../x\ud800"
    store.put(name, {0: rows(1)})
    assert len(store.get([chunk(0, document=name)])) == 1
    assert len(list((tmp_path / "tokens").rglob("*.tokens"))) == 1


# --- the forms --------------------------------------------------------------------------------


@pytest.mark.parametrize("dimension", [8, 12, 96])
def test_signs_come_back_as_unit_vectors(dimension: int) -> None:
    given_rows = np.random.default_rng(1).normal(size=(5, dimension)).astype(np.float32)
    form = binarize(dimension)
    packed = form.pack(given_rows)
    back = form.unpack(packed)
    assert packed.shape == (5, form.width)
    assert np.array_equal(back > 0, given_rows > 0)
    assert np.allclose(np.linalg.norm(back, axis=1), 1, atol=1e-5)


def test_small_numbers_come_back_within_a_step() -> None:
    given_rows = normalize_rows(np.random.default_rng(1).normal(size=(5, 96)).astype(np.float32))
    form = quantize_nbits(96)
    assert np.abs(form.unpack(form.pack(given_rows)) - given_rows).max() <= 0.5 / 127 + 1e-6


# --- late interaction -------------------------------------------------------------------------


@given(
    st.sampled_from([binarize, quantize_nbits]),
    st.lists(st.integers(0, 4), min_size=1, max_size=5),
    st.integers(1, 3),
)
def test_best_matches_are_those_of_brute_force(
    encoding: Callable[[int], Encoding], sizes: list[int], asked: int
) -> None:
    random, form = np.random.default_rng(sum(sizes)), encoding(20)
    question = normalize_rows(random.normal(size=(asked, 20)).astype(np.float32))
    passages = [form.pack(normalize_rows(random.normal(size=(size, 20)))) for size in sizes]
    found = best_matches(question, passages, form=form)
    for at, passage in enumerate(passages):
        if len(passage):
            brute = (question @ form.unpack(passage).T).max(axis=1)
            assert np.allclose(found[:, at], brute, atol=0.01)


def test_many_passages_are_compared_in_parts_of_about_one_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    random, form = np.random.default_rng(5), binarize(16)
    question = normalize_rows(random.normal(size=(3, 16)).astype(np.float32))
    rows = [normalize_rows(random.normal(size=(size, 16))) for size in (4, 0, 7, 2, 30, 5, 5)]
    passages = [form.pack(each) for each in rows]
    whole = best_matches(question, passages, form=form)
    sizes: list[int] = []

    def nearest(packed: Packed, vectors: Matrix, starts: Starts) -> Matrix:
        sizes.append(len(packed))
        return form.nearest(packed, vectors, starts)

    monkeypatch.setattr(encoding, "AT_ONCE", 10)
    found = best_matches(question, passages, form=replace(form, nearest=nearest))
    assert np.array_equal(found, whole)
    assert sizes == [4, 9, 35, 5]


def test_a_passage_without_tokens_is_last() -> None:
    form = quantize_nbits(2)
    units = np.eye(2, dtype=np.float32)
    packed = form.pack(units)
    matches = best_matches(units, [packed, packed[2:]], form=form)
    assert matches[:, 1].tolist() == matches.min(axis=1).tolist()


def test_the_products_are_those_of_numpy_and_made_by_their_script() -> None:
    random = np.random.default_rng(3)
    left, right = random.normal(size=(2, 7, 7)).astype(np.float32)
    assert np.allclose(multiply(left, right.T), left @ right.T, atol=1e-5)
    bits = random.integers(0, 128, (9, 7), dtype=np.uint8)
    whole = random.integers(-128, 128, (7, 5), dtype=np.int8)
    assert np.array_equal(multiply_integers(bits, whole), bits.astype(int) @ whole.astype(int))
    for operator in PRODUCTS:
        assert onnx.load(FOLDER / f"{operator}.onnx") == onnx.load_from_string(
            product_model(operator)
        )


def test_a_word_that_all_passages_hold_has_no_say() -> None:
    matches = np.array([[0.9, 0.9, 0.9], [0.1, 0.5, 0.3]], np.float32)
    assert weighted_maxsim(matches) == pytest.approx([0.1, 0.5, 0.3], abs=1e-5)


def test_the_weighed_sum_by_hand() -> None:
    matches = np.array([[1.0, 0.0], [0.2, 0.6]], np.float32)  # weights .5 and .2
    assert weighted_maxsim(matches) == pytest.approx([0.54 / 0.7, 0.12 / 0.7], abs=1e-5)


# --- with an embedder -------------------------------------------------------------------------


class Counting(OnnxEmbedder):
    """Counts the texts whose tokens were computed."""

    computed = 0

    async def embed_tokens(self, texts, *, role: Role):  # type: ignore[no-untyped-def]
        self.computed += len(texts) if role == "document" else 0
        return await super().embed_tokens(texts, role=role)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny(tmp_path_factory.mktemp("models"))


@pytest.fixture
def embedder(tiny: Path) -> Iterator[Counting]:
    opened = Counting(tiny, threads=2)
    yield opened
    opened.close()


def test_the_mean_of_the_tokens_is_kept_and_computed_again_where_it_is_damaged(
    embedder: Counting, tmp_path: Path
) -> None:
    def question(folder: Path | None) -> list[list[float]]:
        space = TokenSpace(embedder, folder=folder)
        return asyncio.run(space.question("the page")).tolist()

    wanted = question(None)
    assert question(tmp_path) == wanted
    [file] = tmp_path.iterdir()
    whole = file.read_bytes()
    for content in (whole, b"", whole[:-8], bytes([whole[0] ^ 1]) + whole[1:]):
        file.write_bytes(content)
        before = embedder.computed
        assert question(tmp_path) == wanted
        assert (embedder.computed == before) is (content == whole)
        assert file.read_bytes() == whole


async def test_stored_and_computed_vectors_give_the_same_scores(
    embedder: Counting, tmp_path: Path
) -> None:
    chunks = [chunk(at, text) for at, text in enumerate(TEXTS)]
    vectors = open_vectors(TokenSpace(embedder), folder=tmp_path)
    _, tokens = await vectors.embed(TEXTS)
    await vectors.put(chunks, tokens)
    before = embedder.computed
    stored = await LateReranker(vectors).score("the page", chunks)
    assert embedder.computed == before
    computed = await LateReranker(open_vectors(TokenSpace(embedder), folder=None)).score(
        "the page", chunks
    )
    assert stored == computed


def test_a_model_that_pools_by_itself_may_show_its_tokens_too(tmp_path: Path) -> None:
    lookup_graph(tmp_path / "model.onnx", two_d=True)
    write_tokenizer(tmp_path / "tokenizer.json")
    write_json(tmp_path / "config.json", {"hidden_size": 8, "max_position_embeddings": 64})
    prompts = {"prompts": {"query": "green "}}
    write_json(tmp_path / "config_sentence_transformers.json", prompts)
    opened = OnnxEmbedder(tmp_path, threads=1)
    found, (tokens,) = asyncio.run(opened.embed_tokens(["red blue"], role="query"))
    assert np.array_equal(found, asyncio.run(opened.embed(["red blue"], role="query")))
    assert np.array_equal(tokens, TABLE[[3, 5]])  # neither special tokens nor the prefix
    opened.close()


def test_a_model_that_hides_its_tokens_is_refused(tmp_path: Path) -> None:
    lookup_graph(tmp_path / "model.onnx", two_d=True)
    model = onnx.load(tmp_path / "model.onnx")
    del model.graph.output[0]
    onnx.save(model, tmp_path / "model.onnx")
    write_tokenizer(tmp_path / "tokenizer.json")
    write_json(tmp_path / "config.json", {"hidden_size": 8, "max_position_embeddings": 64})
    opened = OnnxEmbedder(tmp_path, threads=1)
    vectors = TokenVectors(TokenSpace(opened), store=None)
    with pytest.raises(ConfigError, match="no vectors of single tokens"):
        asyncio.run(vectors.space.question("red"))
    opened.close()
