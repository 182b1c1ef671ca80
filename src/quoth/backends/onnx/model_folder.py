"""Read a model folder: files, limits, and for embedders pooling and prefixes.

A folder is either built by `quoth_e5` or holds any sentence-transformers model in ONNX form:
``model.onnx`` or ``onnx/model*.onnx``, ``tokenizer.json``, and the usual JSON files next to them.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter

from quoth.core.errors import ConfigError
from quoth.core.replace_file import replacing

CARD = "quoth-model.json"
MODEL = "model.onnx"
Pooling = Literal["mean", "cls", "last"]
OFFSET_POSITIONS = ("roberta", "xlm-roberta", "camembert")
"""Their first two positions are never used."""


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """Files of a reranker or entailment model; ``max_tokens`` includes special tokens."""

    path: Path
    name: str
    model: Path
    tokenizer: Path
    config: Mapping[str, Any]
    max_tokens: int


def read_model_folder(folder: Path, *, part: str, otherwise: str, max_tokens: int) -> ModelFolder:
    """Read a folder with ``model.onnx``, ``tokenizer.json`` and ``config.json``.

    ``part`` is what the model is used as and ``otherwise`` what needs no files. Raises ConfigError
    naming what is missing.
    """
    if not folder.is_dir():
        raise ConfigError(
            f"The {part}'s folder {folder} does not exist, and quoth downloads nothing. Name a "
            f"folder with model.onnx, tokenizer.json and config.json, or the {part} '{otherwise}', "
            "which needs none."
        )
    for name in ("config.json", "tokenizer.json"):
        if not (folder / name).is_file():
            raise ConfigError(
                f"The {part}'s folder {folder} has no {name}. Save the one of its model there, or "
                "name another folder."
            )
    config = read_json(folder / "config.json")
    positions = config.get("max_position_embeddings")
    if isinstance(positions, int) and config.get("model_type") in OFFSET_POSITIONS:
        positions -= 2
    limits = [
        max_tokens,
        positions,
        read_json(folder / "tokenizer_config.json").get("model_max_length"),
        read_json(folder / "sentence_bert_config.json").get("max_seq_length"),
    ]
    return ModelFolder(
        path=folder,
        name=folder.name,
        model=model_file(folder),
        tokenizer=folder / "tokenizer.json",
        config=config,
        max_tokens=int(min(n for n in limits if isinstance(n, int | float) and n > 0)),
    )


@dataclass(frozen=True, slots=True)
class ModelCard:
    """Properties of an embedding model for `OnnxEmbedder`.

    ``revision`` identifies the content: a new one means new vectors. ``max_tokens`` includes the
    special tokens. ``file`` is relative to the folder. ``stamp`` is the size and modification
    time of a third-party model file when it was hashed, empty for a model built by quoth.
    """

    name: str
    revision: str
    dimension: int
    max_tokens: int
    query_prefix: str
    document_prefix: str
    pooling: Pooling
    file: str = MODEL
    stamp: str = ""


def write_card(card: ModelCard, *, folder: Path) -> None:
    """Write ``quoth-model.json`` in one step, so that no reader sees half of it."""
    with replacing(folder / CARD) as draft:
        draft.write_text(json.dumps(asdict(card), indent=2) + "\n", encoding="utf-8")


def stored_card(folder: Path) -> ModelCard | None:
    """Read ``quoth-model.json``; None when it is not there or not readable as a card."""
    try:
        return TypeAdapter(ModelCard).validate_json((folder / CARD).read_bytes())
    except (OSError, ValueError):
        return None


def describe(folder: Path) -> ModelCard:
    """Return the card of an embedding model; raises ConfigError naming the missing file.

    A third-party model file is hashed once: the result is stored in ``quoth-model.json`` where the
    folder is writable, and is valid while the file's size and time are unchanged.
    """
    if not folder.is_dir():
        raise ConfigError(
            f"The model folder {folder} does not exist. Name a folder that holds a "
            "sentence-transformers ONNX model, or leave the embedder unset for the built-in one."
        )
    if not (folder / "tokenizer.json").is_file():
        raise ConfigError(
            f"The model folder {folder} has no tokenizer.json. Save the model's fast tokenizer "
            "there, or name another folder."
        )
    stored = stored_card(folder)
    if stored and not stored.stamp and (folder / stored.file).is_file():
        return stored
    model = model_file(folder)
    stamp = _stamp(model)
    if stored and stored.stamp == stamp and stored.file == str(model.relative_to(folder)):
        return stored
    card = _foreign_card(folder, model=model, stamp=stamp)
    with contextlib.suppress(OSError):  # a read-only folder only costs the hash again next time
        write_card(card, folder=folder)
    return card


def model_file(folder: Path) -> Path:
    """Find the model in a folder; raises ConfigError where there is none."""
    candidates = [folder / MODEL, folder / "onnx" / MODEL]
    candidates += sorted((folder / "onnx").glob("model*.onnx"))
    for path in candidates:
        if path.is_file():
            return path
    raise ConfigError(
        f"The model folder {folder} has no model.onnx, neither itself nor in its folder onnx. "
        "Export the model to ONNX there, or name another folder."
    )


def _stamp(model: Path) -> str:
    return " ".join(
        f"{path.name}:{path.stat().st_size}:{path.stat().st_mtime_ns}"
        for path in content_files(model)
    )


def content_files(model: Path) -> list[Path]:
    """Return the model file, and the files next to it with its external tensors."""
    return [model, *sorted(model.parent.glob(f"{model.name}[._]data*"))]


def _foreign_card(folder: Path, *, model: Path, stamp: str) -> ModelCard:
    digest = hashlib.sha256()
    for path in (*content_files(model), folder / "tokenizer.json"):
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    config = read_json(folder / "config.json")
    pooling = read_json(folder / "1_Pooling" / "config.json")
    limits = [
        read_json(folder / "sentence_bert_config.json").get("max_seq_length"),
        config.get("max_position_embeddings"),
    ]
    dimension = pooling.get("word_embedding_dimension") or config.get("hidden_size")
    if not dimension:
        raise ConfigError(
            f"The model folder {folder} does not say how long its vectors are. Add the model's "
            "config.json (hidden_size) or 1_Pooling/config.json (word_embedding_dimension)."
        )
    prompts = read_json(folder / "config_sentence_transformers.json").get("prompts") or {}
    return ModelCard(
        name=folder.name,
        revision=digest.hexdigest()[:16],
        dimension=int(dimension),
        max_tokens=min(
            int(limit) for limit in (*limits, 512 if not any(limits) else None) if limit
        ),
        query_prefix=prompts.get("query") or "",
        document_prefix=prompts.get("document") or prompts.get("passage") or "",
        pooling=_pooling(pooling, folder=folder),
        file=str(model.relative_to(folder)),
        stamp=stamp,
    )


def _pooling(config: dict[str, Any], *, folder: Path) -> Pooling:
    chosen = [
        name for name, value in config.items() if name.startswith("pooling_mode_") and value is True
    ]
    if config.get("pooling_mode") == "cls" or chosen == ["pooling_mode_cls_token"]:
        return "cls"
    if config.get("pooling_mode") == "lasttoken" or chosen == ["pooling_mode_lasttoken"]:
        return "last"
    if config.get("pooling_mode") in (None, "mean") and chosen in (
        [],
        ["pooling_mode_mean_tokens"],
    ):
        return "mean"
    raise ConfigError(
        f"The model in {folder} pools its token vectors in a way that is not supported "
        f"({', '.join(chosen) or config.get('pooling_mode')}). Those that are: mean, CLS and last "
        "token."
    )


def read_json(path: Path) -> dict[str, Any]:
    """Read an optional JSON file; return an empty value for a missing one."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ConfigError(f"The model's file {path} cannot be read: {error}.") from None
    return content if isinstance(content, dict) else {}
