"""Opens a reranker by name, folder or chain of names."""

from __future__ import annotations

from pathlib import Path

from quoth.backends import backend
from quoth.backends.rerank_chain import Chain
from quoth.backends.rerank_folder import canonical, describe_reranker, find_folder
from quoth.backends.token_vectors import TokenVectors
from quoth.errors import ConfigError
from quoth.protocols import Reranker


def open_reranker(
    names: str,
    *,
    models: Path,
    threads: int,
    vectors: TokenVectors | None,
    store: Path | None = None,
) -> Reranker:
    """Open the rerankers that are named, set apart by commas, each to stand in for the one before.

    A name is a row of the table or a folder. ``models`` is where named models lie, ``vectors``
    are the embedder's token vectors (for 'late'), ``store`` is where a ColBERT keeps its own.
    Raises ConfigError and MissingExtra.
    """
    wanted = [each.strip() for each in names.split(",") if each.strip()]
    if not wanted:
        raise ConfigError("No reranker is named. Name one, such as late, or say none.")
    opened = [
        _open(each, models=models, threads=threads, vectors=vectors, store=store) for each in wanted
    ]
    return opened[0] if len(opened) == 1 else Chain(*opened)


def _open(
    name: str, *, models: Path, threads: int, vectors: TokenVectors | None, store: Path | None
) -> Reranker:
    if name == "late":
        if vectors is None:
            raise ConfigError(
                "The reranker 'late' compares the embedder's token vectors, and this embedder "
                "shows none. Choose another embedder, or another reranker."
            )
        late: Reranker = backend("reranker", name)(vectors)
        return late
    if name == "fake":
        fake: Reranker = backend("reranker", name)()
        return fake
    known = canonical(name)
    if known is None and not Path(name).expanduser().is_dir() and "/" not in name:
        backend("reranker", name)  # raises for what is not in the table, or not here
    folder = find_folder(name, models=models)
    if describe_reranker(folder).kind == "colbert":
        colbert: Reranker = backend("reranker", "colbert")(folder, threads=threads, store=store)
        return colbert
    pairs: Reranker = backend("reranker", "onnx")(folder, threads=threads)
    return pairs
