"""Convert a transformers folder to ONNX: what `quoth models convert` does.

The folder holds ``config.json``, ``tokenizer.json`` and ``*.safetensors``; ``model.onnx`` and
``model.onnx.data`` with float32 weights are put beside them, in one step each.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import onnx
from tokenizers import Tokenizer

from quoth.backends.onnx.model_folder import MODEL, read_json
from quoth.backends.onnx.session import TokenRow, compute, open_runtime, open_tokenizer
from quoth.core.errors import BackendError, ConfigError, StorageFull
from quoth_models.encoders import MODEL_TYPES, encoder_model
from quoth_models.graph import Store
from quoth_models.qwen3 import decoder_model
from quoth_models.tensors import DataFile, FolderTensors

DATA = f"{MODEL}.data"
QWEN3 = "qwen3"


def convert_folder(folder: Path, *, progress: Callable[[str], None]) -> Path:
    """Write ``model.onnx`` into a transformers folder and return its path.

    ``progress`` receives a sentence for each step. Raises ConfigError for a folder that lacks a
    file, already holds the model or is of another kind, and StorageFull.
    """
    model = folder / MODEL
    if model.exists() or (folder / "onnx" / MODEL).exists():
        raise ConfigError(
            f"The folder {folder} holds an ONNX model already. Remove {MODEL} to convert it again."
        )
    for name in ("config.json", "tokenizer.json"):
        if not (folder / name).is_file():
            raise ConfigError(
                f"The folder {folder} has no {name}. Download all files of the model there, then "
                "convert it."
            )
    config = read_json(folder / "config.json")
    tokenizer = open_tokenizer(folder / "tokenizer.json")
    drafts = folder / f".{MODEL}.draft", folder / f".{DATA}.draft"
    try:
        with drafts[1].open("wb") as file:
            progress(f"Building the network of {folder.name} with 32-bit weights.")
            proto = _build(folder, config, tokenizer, store=DataFile(file, location=DATA).store)
        drafts[1].replace(folder / DATA)
        onnx.save_model(proto, drafts[0])
        _check(drafts[0])
        drafts[0].replace(model)
    except OSError as error:
        reason = f"The model could not be written to {folder}: {error.strerror}."
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StorageFull(f"{reason} Free some space there, then try again.") from error
        raise ConfigError(reason) from error
    finally:
        for draft in drafts:
            draft.unlink(missing_ok=True)
        if not model.exists():
            (folder / DATA).unlink(missing_ok=True)
    progress(f"The model is ready in {folder}.")
    return model


def is_convertible(config: Mapping[str, Any]) -> bool:
    """Return whether the network is one that can be converted."""
    return config.get("model_type") in (*MODEL_TYPES, QWEN3)


def _build(
    folder: Path, config: Mapping[str, Any], tokenizer: Tokenizer, *, store: Store
) -> onnx.ModelProto:
    if not is_convertible(config):
        known = ", ".join((*MODEL_TYPES, QWEN3))
        raise ConfigError(
            f"The model in {folder} is of the type {config.get('model_type')}. The types that can "
            f"be converted are {known}; export others to ONNX with another tool."
        )
    tensors = FolderTensors(folder)
    try:
        if config["model_type"] != QWEN3:
            return encoder_model(config, tensors, store=store)
        embeds = (folder / "1_Pooling" / "config.json").is_file()
        return decoder_model(
            config, tensors, store=store, answers=None if embeds else _answers(folder, tokenizer)
        )
    except KeyError as error:
        raise ConfigError(f"The file {folder / 'config.json'} has no {error}.") from None


def _answers(folder: Path, tokenizer: Tokenizer) -> tuple[int, int]:
    no, yes = (tokenizer.token_to_id(word) for word in ("no", "yes"))
    if no is None or yes is None:
        raise ConfigError(
            f"The model in {folder} has no 1_Pooling/config.json, which an embedder has, and no "
            "single tokens for yes and no, with which a reranker answers. Download all its files."
        )
    return no, yes


def _check(model: Path) -> None:
    """Run the model on two tokens; raises ConfigError where it fails."""
    runtime = open_runtime(model)
    names = [node.name for node in runtime.get_outputs()]
    compute(runtime, [TokenRow([0, 1], [0, 0])], outputs=names, error=_failed)


def _failed(reason: str) -> BackendError:
    return BackendError(f"The converted model does not run: {reason}")
