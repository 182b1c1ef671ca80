"""Registry of backends: one file per SDK, opened only through this table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, Literal, cast

from quoth.core.errors import ConfigError, MissingExtra, QuothError
from quoth.core.extras import is_installed
from quoth.core.protocols import QueryTransformer

if TYPE_CHECKING:
    from quoth.core.settings import Settings

Part = Literal[
    "embedder",
    "store",
    "reranker",
    "generator",
    "judge",
    "transcriber",
    "moderator",
    "page_embedder",
    "query_transformer",
]


@dataclass(frozen=True, slots=True)
class Backend:
    """A backend: its module and factory, and the extra with its packages.

    ``needs`` are the import names of the extra's packages.
    """

    module: str
    name: str
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
        "multilingual-e5-small": Backend("embedders.onnx", "OnnxEmbedder"),
        "bge-m3": Backend("embedders.onnx", "OnnxEmbedder"),
        "qwen3-embedding-0.6b": Backend("embedders.onnx", "OnnxEmbedder"),
        **dict.fromkeys(
            (
                *("text-embedding-3-large", "text-embedding-3-small", "openai", "openrouter"),
                *("voyage", "cohere", "gemini", "ollama", "openai-compatible"),
            ),
            Backend("embedders.remote", "RemoteEmbedder", "remote", ("httpx2",)),
        ),
    },
    "store": {
        "lancedb": Backend("indexes.lancedb.index", "LanceIndex"),
        "sqlite-vec": Backend("indexes.sqlite_vec", "SqliteVecStore", "sqlite-vec", SQLITE_VEC),
        "chroma": Backend("indexes.chroma", "ChromaStore", "chroma", ("chromadb",)),
        "pgvector": Backend("indexes.pgvector", "PgvectorStore", "postgres", ("psycopg",)),
        "qdrant": Backend("indexes.qdrant", "QdrantStore", "qdrant", ("qdrant_client",)),
        "milvus": Backend("indexes.milvus", "MilvusStore", "milvus", ("pymilvus",)),
        "pinecone": Backend("indexes.pinecone", "PineconeStore", "pinecone", ("pinecone",)),
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
        "cohere": Backend("rerankers.remote", "RemoteReranker", "remote", ("httpx2",)),
        "voyage": Backend("rerankers.remote", "RemoteReranker", "remote", ("httpx2",)),
    },
    "judge": {
        "onnx": Backend("entailment.onnx", "OnnxEntailment"),
        "llm": Backend("entailment.llm", "GeneratorJudge"),
    },
    "moderator": {
        "rules": Backend("moderation.words", "WordModerator"),
        "openai": Backend("moderation.openai", "OpenAIModerator", "remote", ("httpx2",)),
    },
    "query_transformer": {},  # Only other packages bring one.
    "page_embedder": {"onnx": Backend("page_embedders.onnx", "OnnxPageEmbedder")},
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
    if (offered := plugin(part, name)) is not None:
        brought: type[Any] = offered.load()
        return brought
    row = require(part, name)
    where = "quoth.testing" if row.module == "testing" else f"quoth.backends.{row.module}"
    found: type[Any] = getattr(import_module(where), row.name)
    return found


def plugin(part: Part, name: str) -> EntryPoint | None:
    """Return what another package offers under a name in the group ``quoth.PARTs``."""
    if name in BACKENDS[part]:
        return None
    return next(iter(entry_points(group=f"quoth.{part}s", name=name)), None)


def open_plugin(part: Part, name: str, *given: Any, protocol: type[Any]) -> Any:
    """Open a component of another package; raises ConfigError where it is not as ``protocol``."""
    point = plugin(part, name)
    what = f"The {part} '{name}' of another package" + (f" ({point.value})" if point else "")
    try:
        opened = backend(part, name)(*given)
    except Exception as problem:
        if isinstance(problem, QuothError):
            raise
        message = f"{what} cannot be opened: {type(problem).__name__}: {problem}"
        raise ConfigError(message) from problem
    offered = {*protocol.__annotations__, *vars(protocol)}
    absent = [each for each in sorted(offered) if each[0] != "_" and not hasattr(opened, each)]
    if absent:
        kind = "None" if opened is None else f"an object of {type(opened).__name__}"
        raise ConfigError(
            f"{what} is {kind}, which lacks: {', '.join(absent)}. The page docs/own-parts.md has "
            "what it must offer."
        )
    return opened


def require(part: Part, name: str) -> Backend:
    """Return a backend whose packages are installed, without importing it.

    Raises ConfigError for a name that is not in the table and MissingExtra for one whose extra
    is not installed.
    """
    rows = BACKENDS[part]
    if (brought := plugin(part, name)) is not None:
        return Backend(brought.module, brought.attr)
    if name not in rows:
        offered = {name for name in rows if name != "fake"}
        offered |= {each.name for each in entry_points(group=f"quoth.{part}s")}
        names = ", ".join(sorted(offered))
        there = f"There are: {names}." if names else "No package here has one (docs/own-parts.md)."
        raise ConfigError(f"There is no {part} '{name}'. {there}")
    row = rows[name]
    if not all(is_installed(package) for package in row.needs):
        raise MissingExtra(
            f"The {part} '{name}' needs packages that are not installed. Install them with: "
            f"pip install 'quoth[{row.extra}]'"
        )
    return row


def transformer_name(settings: Settings) -> str:
    """Return the name in the setting, empty where there is none."""
    name = settings.query_transformer.strip()
    return "" if name == "none" else name


def open_transformer(settings: Settings) -> QueryTransformer | None:
    """Open the query transformer, None where none is named; raises ConfigError."""
    if not (name := transformer_name(settings)):
        return None
    require("query_transformer", name)
    opened = open_plugin("query_transformer", name, settings, protocol=QueryTransformer)
    return cast(QueryTransformer, opened)
