"""What a folder with a model that judges support says about itself.

A folder holds ``model.onnx`` or ``onnx/model.onnx``, ``tokenizer.json`` and ``config.json``. Three
makes are known: models of natural language inference, whose labels (``id2label``) name the one for
support; models that give one number, whose logistic is the probability (HHEM); and models that
mark each token of the claim that the evidence does not bear out (LettuceDetect).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from quoth.backends.onnx.model_folder import model_file, read_json
from quoth.core.errors import ConfigError

Kind = Literal["labels", "number", "tokens"]
"""Labels for a pair, one number for a pair, or labels for each token of the claim."""

MOST_TOKENS = 1024
"""Evidence and claim together; longer evidence costs more than it tells."""
_FOR = re.compile(r"entail|support|consistent|faithful|factual|true|yes")
_AGAINST = re.compile(
    r"not?[ _-]|non|un(?=support|faith|true)|in(?=consis)|contra|hallucin|false|refut"
)


@dataclass(frozen=True, slots=True)
class JudgeFolder:
    """A judge's files; ``label`` is the column for support, or that of hallucinated tokens.

    ``max_tokens`` counts special tokens as well.
    """

    name: str
    kind: Kind
    label: int
    model: Path
    tokenizer: Path
    config: Mapping[str, Any]
    max_tokens: int


def describe_judge(folder: Path) -> JudgeFolder:
    """Say what is in a folder; raises ConfigError naming what is missing or not understood."""
    if not folder.is_dir():
        raise ConfigError(
            f"The judge's folder {folder} does not exist, and quoth downloads nothing. Name a "
            "folder with model.onnx, tokenizer.json and config.json, or the judge llm."
        )
    for name in ("config.json", "tokenizer.json"):
        if not (folder / name).is_file():
            raise ConfigError(
                f"The judge's folder {folder} has no {name}. Save the one of its model there, or "
                "name another folder."
            )
    config = read_json(folder / "config.json")
    kind, label = _reading(folder, config)
    return JudgeFolder(
        name=folder.name,
        kind=kind,
        label=label,
        model=model_file(folder),
        tokenizer=folder / "tokenizer.json",
        config=config,
        max_tokens=_max_tokens(folder, config),
    )


def _reading(folder: Path, config: Mapping[str, Any]) -> tuple[Kind, int]:
    named = config.get("id2label")
    labels = {int(at): str(name) for at, name in named.items()} if isinstance(named, dict) else {}
    built = [str(each) for each in config.get("architectures") or ()]
    if any(each.endswith("ForTokenClassification") for each in built):
        wrong = [at for at, name in labels.items() if _AGAINST.search(name.casefold())]
        return "tokens", wrong[0] if wrong else 1
    if config.get("num_labels") == 1 or len(labels) == 1:
        return "number", 0
    right = [
        at
        for at, name in labels.items()
        if _FOR.search(name.casefold()) and not _AGAINST.search(name.casefold())
    ]
    if len(right) == 1:
        return "labels", right[0]
    raise ConfigError(
        f"The labels of the judge in {folder} ({', '.join(labels.values()) or 'none'}) do not say "
        'which one means support. Name it in id2label of its config.json, such as "entailment".'
    )


def _max_tokens(folder: Path, config: Mapping[str, Any]) -> int:
    limits = [
        MOST_TOKENS,
        config.get("max_position_embeddings"),
        read_json(folder / "tokenizer_config.json").get("model_max_length"),
    ]
    return int(min(each for each in limits if isinstance(each, int | float) and each > 0))
