"""Registry of backends: one file per SDK, opened only through this table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

from quoth.core.errors import ConfigError, MissingExtra
from quoth.core.extras import is_installed

Part = Literal["embedder", "store", "reranker", "generator", "judge", "transcriber"]


@dataclass(frozen=True, slots=True)
class Backend:
    """A backend: its module and factory, and the extra with its packages.

    ``module`` is None for a backend that profiles name but this version does not have. ``needs``
    are the import names of the extra's packages.
    """

    module: str | None
    name: str = ""
    extra: str | None = None
    needs: tuple[str, ...] = ()


ANTHROPIC = ("pydantic_ai", "anthropic")
GOOGLE = ("pydantic_ai", "google.genai")
OPENAI = ("pydantic_ai", "openai")
SQLITE_VEC = ("apsw", "sqlite_vec")

BACKENDS: Mapping[Part, Mapping[str, Backend]] = {
    "embedder": {
        "multilingual-e5-small-int8": Backend("embedders.onnx", "OnnxEmbedder"),
        "onnx": Backend("embedders.onnx", "OnnxEmbedder"),
        "fake": Backend("testing", "HashEmbedder"),
        "bge-m3": Backend(None, extra="bge"),
        "qwen3-embedding-0.6b": Backend(None, extra="qwen"),
        "voyage": Backend(None, extra="voyage"),
        "text-embedding-3-large": Backend(None, extra="openai"),
    },
    "store": {
        "lancedb": Backend("indexes.lancedb.index", "LanceIndex"),
        "sqlite-vec": Backend("indexes.sqlite_vec", "SqliteVecStore", "sqlite-vec", SQLITE_VEC),
        "pinecone": Backend(None, extra="pinecone"),
        "chroma": Backend(None, extra="chroma"),
    },
    "reranker": {
        "late": Backend("rerankers.late_interaction", "LateReranker"),
        "onnx": Backend("rerankers.cross_encoder", "OnnxReranker"),
        "colbert": Backend("rerankers.colbert", "ColbertReranker"),
        "ms-marco-minilm-l-6-v2": Backend("rerankers.cross_encoder", "OnnxReranker"),
        "bge-reranker-base": Backend("rerankers.cross_encoder", "OnnxReranker"),
        "bge-reranker-v2-m3": Backend("rerankers.cross_encoder", "OnnxReranker"),
        "ettin-reranker-17m-v1": Backend("rerankers.cross_encoder", "OnnxReranker"),
        "ettin-reranker-32m-v1": Backend("rerankers.cross_encoder", "OnnxReranker"),
        "ettin-reranker-68m-v1": Backend("rerankers.cross_encoder", "OnnxReranker"),
        "qwen3-reranker-0.6b": Backend("rerankers.cross_encoder", "OnnxReranker"),
        "answerai-colbert-small-v1": Backend("rerankers.colbert", "ColbertReranker"),
        "fake": Backend("testing", "WordReranker"),
        "cohere": Backend(None, extra="cohere"),
    },
    "judge": {
        "onnx": Backend("entailment.onnx", "OnnxEntailment"),
        "llm": Backend("entailment.llm", "GeneratorJudge"),
    },
    "transcriber": {
        "whisper": Backend(
            "transcribers.whisper", "WhisperTranscriber", "speech", ("faster_whisper",)
        ),
    },
    "generator": {
        "anthropic": Backend("generators.anthropic", "open_anthropic", "anthropic", ANTHROPIC),
        "ollama": Backend("generators.openai", "open_ollama", "openai", OPENAI),
        "openai": Backend("generators.openai", "open_openai", "openai", OPENAI),
        "gemini": Backend("generators.google", "open_gemini", "google", GOOGLE),
        "openrouter": Backend("generators.openai", "open_openrouter", "openai", OPENAI),
        "openai-compatible": Backend("generators.openai", "open_compatible", "openai", OPENAI),
    },
}


def backend(part: Part, name: str) -> type[Any]:
    """Return the class of a backend, or the function that opens it; raises as `require` does.

    An error inside an installed package is raised as it is.
    """
    row = require(part, name)
    where = "quoth.testing" if row.module == "testing" else f"quoth.backends.{row.module}"
    found: type[Any] = getattr(import_module(where), row.name)
    return found


def require(part: Part, name: str) -> Backend:
    """Return a backend whose packages are installed, without importing it.

    Raises ConfigError for a name that is not in the table and MissingExtra for one whose extra
    is not installed.
    """
    rows = BACKENDS[part]
    if name not in rows:
        offered = (name for name, row in rows.items() if row.module and name != "fake")
        names = ", ".join(sorted(offered))
        there = f"This version has: {names}." if names else f"This version has no {part} yet."
        raise ConfigError(f"There is no {part} '{name}'. {there}")
    row = rows[name]
    if row.module is None:
        raise MissingExtra(
            f"The {part} '{name}' comes with the extra 'quoth[{row.extra}]', which this version "
            "does not offer yet. Choose another profile, such as --profile default."
        )
    if not all(is_installed(package) for package in row.needs):
        raise MissingExtra(
            f"The {part} '{name}' needs packages that are not installed. Install them with: "
            f"pip install 'quoth[{row.extra}]'"
        )
    return row
