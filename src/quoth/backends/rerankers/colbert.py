"""Reranker with a ColBERT model: late interaction of trained token vectors."""

from __future__ import annotations

import asyncio
import string
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from quoth.backends.late_interaction.token_space import (
    Packed,
    TokenSpace,
    best_matches,
    normalize_rows,
    product,
    quantize_nbits,
    sum_matches,
)
from quoth.backends.late_interaction.token_vectors import open_vectors
from quoth.backends.onnx.model_folder import ModelFolder, read_json, read_tensor
from quoth.backends.onnx.session import (
    BackgroundModel,
    TokenRow,
    compute,
    encode_texts,
    open_runtime,
    open_tokenizer,
    unknown_input,
)
from quoth.backends.rerankers.model_folder import (
    check_vocabulary,
    describe_reranker,
    incompatible_reason,
)
from quoth.core.errors import ConfigError, EmbeddingError, RerankError
from quoth.core.protocols import Matrix, Role
from quoth.core.types import Chunk

QUESTION_TOKENS = 32
MARKERS = (("[unused0]", "[unused1]"), ("[Q]", "[D]"))
MASKS = ("[MASK]", "<mask>")
PROJECTIONS = ("1_Dense/model.safetensors", "model.safetensors")
PROJECTION = "linear.weight"


@dataclass(frozen=True, slots=True)
class ColbertSession:
    """An open ColBERT; ``projection`` is None where the graph has it inside."""

    folder: ModelFolder
    runtime: onnxruntime.InferenceSession
    output: str
    projection: Matrix | None

    def vectors(self, texts: Sequence[TokenRow]) -> list[Matrix]:
        """Return the unit vectors of the selected tokens; raises RerankError."""
        found = []
        for text in texts:
            (output,) = compute(
                self.runtime,
                [text],
                outputs=[self.output],
                error=lambda said: RerankError(f"The reranker {self.folder.name} failed: {said}"),
            )
            rows = np.asarray(output[0], np.float32)[text.marked]
            found.append(
                normalize_rows(
                    rows if self.projection is None else product(rows, self.projection.T)
                )
            )
        return found


class SpecialTokens:
    """Sets the marks of questions and documents; raises ConfigError where they are missing."""

    def __init__(self, folder: ModelFolder) -> None:
        self._tokenizer = open_tokenizer(folder.tokenizer)
        self._tokenizer.encode_special_tokens = True
        self.size: int = self._tokenizer.get_vocab_size(with_added_tokens=True)
        told = _marker_settings(folder.path)
        self._ids = self._marker_ids(folder, told)
        self._mask = _first_id(self._tokenizer, MASKS)
        if self._mask is None:
            raise ConfigError(
                f"The tokenizer {folder.tokenizer} has no mask token, with which ColBERT fills "
                "questions up. Save the tokenizer of the same model there."
            )
        self._attends = bool(
            told.get("attend_to_mask_tokens") or told.get("attend_to_expansion_tokens")
        )
        self._question = int(
            told.get("query_length") or told.get("query_maxlen") or QUESTION_TOKENS
        )
        document = told.get("document_length") or told.get("doc_maxlen") or folder.max_tokens
        self._document = min(int(document), folder.max_tokens)
        skipped = told.get("skiplist_words", list(string.punctuation))
        ids = [self._tokenizer.token_to_id(word) for word in skipped]
        self._skipped = frozenset(id_ for id_ in ids if id_ is not None)

    def question(self, text: str) -> TokenRow:
        """Mark a query and pad it with masks, to a multiple of the query length."""
        ids = self._marked(text, self._ids[0], limit=self._document)
        length = min(self._document, -(-len(ids) // self._question) * self._question)
        filled = ids + [self._mask or 0] * (length - len(ids))
        return _row(filled, length if self._attends else len(ids), list(range(length)))

    def document(self, text: str) -> TokenRow:
        """Mark a document; punctuation is encoded, but its vectors are dropped."""
        ids = self._marked(text, self._ids[1], limit=self._document)
        kept = [at for at, id_ in enumerate(ids) if id_ not in self._skipped]
        return _row(ids, len(ids), kept)

    def _marked(self, text: str, marker: int, *, limit: int) -> list[int]:
        (encoding,) = encode_texts(self._tokenizer, [text], error=RerankError)
        special = self._tokenizer.num_special_tokens_to_add(is_pair=False)
        encoding.truncate(max(0, limit - special - 1))
        first, *rest = self._tokenizer.post_process(encoding).ids
        return [first, marker, *rest]

    def _marker_ids(self, folder: ModelFolder, told: dict[str, Any]) -> tuple[int, int]:
        named = [
            (told.get("query_prefix"), told.get("document_prefix")),
            (told.get("query_token_id"), told.get("doc_token_id")),
            (told.get("query_token"), told.get("doc_token")),
            *MARKERS,
        ]
        for pair in named:
            ids = [self._tokenizer.token_to_id(str(each or "").strip()) for each in pair]
            if ids[0] is not None and ids[1] is not None:
                return ids[0], ids[1]
        raise ConfigError(
            f"The tokenizer {folder.tokenizer} has no tokens that mark questions and documents "
            f"({' or '.join('/'.join(pair) for pair in MARKERS)}). Save the model's "
            "artifact.metadata or config_sentence_transformers.json and its own tokenizer there."
        )


class ColbertModel:
    """A `TokenEmbedder` for queries and documents.

    Opening checks the folder and loads in the background; the first call waits, and raises
    ConfigError where the files do not match. Each of ``threads`` threads computes one text at a
    time.
    """

    def __init__(self, folder: Path, *, threads: int) -> None:
        described, _kind = describe_reranker(folder)
        self.name = described.name
        self.revision = _stamp(described)
        self.dimension = _dimension(described)
        self._model = BackgroundModel[tuple[SpecialTokens, ColbertSession], TokenRow, Matrix](
            lambda: _open(described, dimension=self.dimension),
            lambda opened, texts: opened[1].vectors(texts),
            max_batch=1,
            threads=threads,
            name="colbert",
        )

    async def embed_tokens(
        self, texts: Sequence[str], *, role: Role
    ) -> tuple[Matrix, list[Matrix]]:
        """Return the unit vectors of each text's tokens; the rows for whole texts are empty."""

        def mark(opened: tuple[SpecialTokens, ColbertSession]) -> list[TokenRow]:
            marker = opened[0].question if role == "query" else opened[0].document
            return [marker(text) for text in texts]

        try:
            vectors = await self._model.run(mark)
        except RerankError as error:
            raise EmbeddingError(str(error)) from error
        return np.zeros((len(texts), 0), np.float32), vectors

    def close(self) -> None:
        """Release threads and memory."""
        self._model.close()


def _open(folder: ModelFolder, *, dimension: int) -> tuple[SpecialTokens, ColbertSession]:
    marker = SpecialTokens(folder)
    check_vocabulary(folder, size=marker.size)
    runtime = open_runtime(folder.model)
    if name := unknown_input(runtime):
        raise incompatible_reason(folder, f"it wants the input {name}")
    shapes = {node.name: node.shape for node in runtime.get_outputs()}
    tokens = [name for name, shape in shapes.items() if len(shape or ()) == 3]
    if not tokens:
        raise incompatible_reason(
            folder, f"none of its outputs ({', '.join(shapes)}) has a vector per token"
        )
    model = ColbertSession(folder, runtime, tokens[0], None)
    last = _row([*marker.question("a").ids, marker.size - 1], 1, [0])
    try:
        width = model.vectors([last])[0].shape[1]
    except RerankError as error:
        raise incompatible_reason(
            folder, f"it failed on the last token of {folder.tokenizer} ({error})"
        ) from error
    if width == dimension:
        return marker, model
    matrix = _projection(folder.path)
    if matrix is None or matrix.shape != (dimension, width):
        raise incompatible_reason(
            folder,
            f"its token vectors have {width} components, and no projection from {width} to "
            f"{dimension} ({PROJECTION}) is in {' or '.join(PROJECTIONS)}",
        )
    return marker, ColbertSession(folder, runtime, tokens[0], matrix)


def _row(ids: list[int], attended: int, kept: list[int]) -> TokenRow:
    """Return the row of a text, with the positions ``kept`` of the vectors to return."""
    return TokenRow(ids, [0] * len(ids), attended, kept)


def _projection(folder: Path) -> Matrix | None:
    for place in PROJECTIONS:
        if (matrix := read_tensor(folder / place, PROJECTION)) is not None:
            return matrix
    return None


def _marker_settings(folder: Path) -> dict[str, Any]:
    """Return the marker tokens and lengths of the folder, in either library's format."""
    return {
        **read_json(folder / "artifact.metadata"),
        **read_json(folder / "config_sentence_transformers.json"),
    }


def _dimension(folder: ModelFolder) -> int:
    dense = read_json(folder.path / "1_Dense" / "config.json").get("out_features")
    told = dense or _marker_settings(folder.path).get("dim")
    if not told:
        matrix = _projection(folder.path)
        told = matrix.shape[0] if matrix is not None else folder.config.get("hidden_size")
    if not told:
        raise ConfigError(
            f"The reranker's folder {folder.path} does not say how long its token vectors are. "
            "Add artifact.metadata (dim), 1_Dense/config.json (out_features) or config.json "
            "(hidden_size)."
        )
    return int(told)


def _first_id(tokenizer: Tokenizer, names: Sequence[str]) -> int | None:
    ids = (tokenizer.token_to_id(name) for name in names)
    return next((id_ for id_ in ids if id_ is not None), None)


def _stamp(folder: ModelFolder) -> str:
    """Return the stat signature of the model file: its size and time."""
    facts = folder.model.stat()
    return f"{facts.st_size:x}.{facts.st_mtime_ns:x}"


class ColbertReranker:
    """A `Reranker` that scores passages by the sum of the best matches of the query tokens.

    ``store`` is the folder of the token vectors that adding and `quoth reindex` write, one byte per
    component; others are computed on scoring.
    """

    def __init__(self, folder: Path, *, threads: int, store: Path | None = None) -> None:
        self._model = ColbertModel(folder, threads=threads)
        self.name = self._model.name
        self._space = TokenSpace(self._model, form=quantize_nbits(self._model.dimension))
        self.vectors = open_vectors(self._space, folder=store)

    def over(self, store: Path | None) -> ColbertReranker:
        """Return a reranker with the same model and the token vectors of another store."""
        other = copy(self)
        other.vectors = open_vectors(self._space, folder=store)
        return other

    async def score(
        self, query: str, chunks: Sequence[Chunk], *, tokens: Matrix | None = None
    ) -> list[float]:
        """Return one score per chunk, higher is better; raises RerankError."""
        if not chunks:
            return []
        try:
            question, passages = await asyncio.gather(
                self.vectors.question(query), self.vectors.passages(chunks)
            )
        except EmbeddingError as error:
            raise RerankError(str(error), retryable=error.retryable) from error
        return await asyncio.to_thread(self._summed, question, passages)

    def close(self) -> None:
        """Release threads and memory."""
        self._model.close()

    def _summed(self, question: Matrix, passages: Sequence[Packed]) -> list[float]:
        sizes, unpack = [len(passage) for passage in passages], self.vectors.form.unpack
        return sum_matches(
            best_matches(question, np.concatenate(passages), sizes=sizes, unpack=unpack)
        )
