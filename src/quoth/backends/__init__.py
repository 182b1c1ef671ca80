"""The border: one file per engine or SDK, opened through the table below and nowhere else."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

from quoth.errors import ConfigError, MissingExtra
from quoth.extras import is_installed

# onnxruntime brings a reporter of its own, which it starts while it is imported; nothing that
# quoth loads reports to anybody.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

Part = Literal["embedder", "store", "reranker", "generator", "judge"]


@dataclass(frozen=True, slots=True)
class Backend:
    """Where a backend lives: its module and maker, and the extra that brings its packages.

    ``module`` is None for a backend that the profiles name and this version does not have. The
    ``needs`` are the packages of the extra, by the names they are imported by.
    """

    module: str | None
    name: str = ""
    extra: str | None = None
    needs: tuple[str, ...] = ()


ANTHROPIC = ("pydantic_ai", "anthropic")
GOOGLE = ("pydantic_ai", "google.genai")
OPENAI = ("pydantic_ai", "openai")

BACKENDS: Mapping[Part, Mapping[str, Backend]] = {
    "embedder": {
        "multilingual-e5-small-int8": Backend("embed_onnx", "OnnxEmbedder"),
        "onnx": Backend("embed_onnx", "OnnxEmbedder"),
        "fake": Backend("fake", "HashEmbedder"),
        "bge-m3": Backend(None, extra="bge"),
        "qwen3-embedding-0.6b": Backend(None, extra="qwen"),
        "voyage": Backend(None, extra="voyage"),
        "text-embedding-3-large": Backend(None, extra="openai"),
    },
    "store": {
        "lancedb": Backend("index_lance", "LanceIndex"),
        "sqlite-vec": Backend(None, extra="sqlite-vec"),
        "pinecone": Backend(None, extra="pinecone"),
        "chroma": Backend(None, extra="chroma"),
    },
    "reranker": {
        "late": Backend("rerank_late", "LateReranker"),
        "onnx": Backend("rerank_onnx", "OnnxReranker"),
        "colbert": Backend("rerank_colbert", "ColbertReranker"),
        "ms-marco-minilm-l-6-v2": Backend("rerank_onnx", "OnnxReranker"),
        "bge-reranker-base": Backend("rerank_onnx", "OnnxReranker"),
        "bge-reranker-v2-m3": Backend("rerank_onnx", "OnnxReranker"),
        "ettin-reranker-17m-v1": Backend("rerank_onnx", "OnnxReranker"),
        "ettin-reranker-32m-v1": Backend("rerank_onnx", "OnnxReranker"),
        "ettin-reranker-68m-v1": Backend("rerank_onnx", "OnnxReranker"),
        "qwen3-reranker-0.6b": Backend("rerank_onnx", "OnnxReranker"),
        "answerai-colbert-small-v1": Backend("rerank_colbert", "ColbertReranker"),
        "fake": Backend("fake", "WordReranker"),
        "cohere": Backend(None, extra="cohere"),
    },
    "judge": {
        "onnx": Backend("judge_onnx", "OnnxJudge"),
        "llm": Backend("judge_llm", "GeneratorJudge"),
    },
    "generator": {
        "anthropic": Backend("llm_anthropic", "open_anthropic", "anthropic", ANTHROPIC),
        "ollama": Backend("llm_openai", "open_ollama", "openai", OPENAI),
        "openai": Backend("llm_openai", "open_openai", "openai", OPENAI),
        "gemini": Backend("llm_google", "open_gemini", "google", GOOGLE),
        "openrouter": Backend("llm_openai", "open_openrouter", "openai", OPENAI),
        "openai-compatible": Backend("llm_openai", "open_compatible", "openai", OPENAI),
    },
}


def backend(part: Part, name: str) -> type[Any]:
    """Give the class of a backend, or the function that opens it; raises as `require` does.

    An error inside an installed package is raised as it is.
    """
    row = require(part, name)
    found: type[Any] = getattr(import_module(f"quoth.backends.{row.module}"), row.name)
    return found


def require(part: Part, name: str) -> Backend:
    """Give a row of the table whose packages are installed, and load nothing.

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
