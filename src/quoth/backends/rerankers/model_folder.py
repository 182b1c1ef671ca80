"""Named rerankers: folders, kinds and aliases.

A name is a folder below the models folder; error messages say how to fetch it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from quoth.backends.onnx.model_folder import ModelFolder, read_json, read_model_folder
from quoth.backends.onnx.session import gpu_provider
from quoth.core.errors import ConfigError
from quoth_models.table import MODELS

Kind = Literal["pair", "answer", "colbert"]
"""Scores a pair; answers yes or no to a prompt; gives token vectors to compare."""

NAMES: Mapping[str, Kind] = {
    "cross-encoder/ms-marco-MiniLM-L-6-v2": "pair",
    "BAAI/bge-reranker-base": "pair",
    "BAAI/bge-reranker-v2-m3": "pair",
    "cross-encoder/ettin-reranker-17m-v1": "pair",
    "cross-encoder/ettin-reranker-32m-v1": "pair",
    "cross-encoder/ettin-reranker-68m-v1": "pair",
    "Qwen/Qwen3-Reranker-0.6B": "answer",
    "answerdotai/answerai-colbert-small-v1": "colbert",
}
"""The canonical names of the rerankers that are known to fit, and what they are."""
ALIASES: Mapping[str, str] = {
    "sentence-transformers/ms-marco-MiniLM-L-6-v2": "cross-encoder/ms-marco-MiniLM-L-6-v2",
    "cross-encoder/ettin-reranker-17m": "cross-encoder/ettin-reranker-17m-v1",
    "cross-encoder/ettin-reranker-32m": "cross-encoder/ettin-reranker-32m-v1",
    "cross-encoder/ettin-reranker-68m": "cross-encoder/ettin-reranker-68m-v1",
}
MAX_TOKENS = 512
"""Query and passage together; longer inputs cost more than they tell."""
HALF = ("model_fp16.onnx", "onnx/model_fp16.onnx")
SPARE_VOCABULARY = 64
"""Rows by which a table may be longer than the vocabulary, besides two in a hundred."""


def canonical(name: str) -> str | None:
    """Return the canonical name of a known reranker, with or without the owner prefix."""
    wanted = name.casefold()
    for known in (*NAMES, *ALIASES):
        if wanted in (known.casefold(), short(known)):
            return ALIASES.get(known, known)
    return None


def short(name: str) -> str:
    """Return a name without its owner, in small letters, as profiles and tables write it."""
    return name.rpartition("/")[2].casefold()


def find_folder(name: str, *, models: Path) -> Path:
    """Return the folder of a reranker: a path as it is, a name below ``models``.

    Raises ConfigError naming the files to put there.
    """
    path = Path(name).expanduser()
    if path.is_dir():
        return path
    known = canonical(name)
    if known is None:
        names = ", ".join(short(name) for name in NAMES)
        raise ConfigError(
            f"There is no folder {path} and no reranker of that name. Name a folder with "
            f"model.onnx, tokenizer.json and config.json, or one of: late, {names}."
        )
    owner, _, last = known.rpartition("/")
    places = [
        models / owner / last,
        models / f"{owner}--{last}",
        models / last,
        models / short(known),
    ]
    for place in places:
        if place.is_dir():
            return place
    fetched = (
        f"Fetch it with: quoth models get {short(known)}, or " if short(known) in MODELS else ""
    )
    raise ConfigError(
        f"The reranker {known} is not installed. {fetched}put its model.onnx (or onnx/model.onnx), "
        f"tokenizer.json and config.json into {places[-1]}, or choose the reranker 'late', which "
        "needs no files."
    )


def describe_reranker(folder: Path, *, gpu: bool = False) -> tuple[ModelFolder, Kind]:
    """Return the files and kind of a reranker folder; raises ConfigError for missing files.

    A graphics processor takes the half precision weights, where there are some.
    """
    found = read_model_folder(folder, part="reranker", otherwise="late", max_tokens=MAX_TOKENS)
    half = next((folder / place for place in HALF if (folder / place).is_file()), None)
    if gpu and half is not None and gpu_provider() is not None:
        found = replace(found, model=half)
    name = canonical(folder.name.replace("--", "/")) or folder.name
    return replace(found, name=name), _kind(folder, found.config)


def check_vocabulary(folder: ModelFolder, *, size: int) -> None:
    """Refuse a tokenizer that is not the model's; raises ConfigError."""
    table = folder.config.get("vocab_size")
    if isinstance(table, int) and not table - table // 50 - SPARE_VOCABULARY <= size <= table:
        raise ConfigError(
            f"The tokenizer {folder.tokenizer} has {size} tokens and the model's config.json says "
            f"{table} (vocab_size), so they do not belong together. Save the tokenizer of the "
            "same model there, or name another folder."
        )


def incompatible_reason(folder: ModelFolder, reason: str) -> ConfigError:
    """Return the error for a model that is not a reranker of the kind its folder says."""
    return ConfigError(
        f"The model file {folder.model} cannot be used as a reranker: {reason}. Export the whole "
        "model with its scoring head to ONNX (task text-classification), or name another folder."
    )


def _kind(folder: Path, config: Mapping[str, Any]) -> Kind:
    built = [str(each) for each in config.get("architectures") or ()]
    if any(each.endswith("ForCausalLM") for each in built):
        return "answer"
    late = read_json(folder / "config_sentence_transformers.json")
    if (
        any("colbert" in each.casefold() for each in built)
        or (folder / "artifact.metadata").is_file()
        or "query_length" in late
    ):
        return "colbert"
    return "pair"
