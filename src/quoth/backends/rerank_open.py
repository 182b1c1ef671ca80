"""Opens a reranker by name, folder or chain of names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from quoth.backends import backend
from quoth.backends.rerank_chain import Chain
from quoth.backends.rerank_folder import canonical, describe_reranker, find_folder, short
from quoth.backends.token_vectors import TokenVectors
from quoth.errors import ConfigError
from quoth.protocols import Reranker


def open_reranker(
    names: str | Sequence[str],
    *,
    models: Path,
    threads: int,
    vectors: TokenVectors | None,
    store: Path | None = None,
) -> Reranker:
    """Open one reranker, or a chain of several, the preferred one first.

    A name is a row of the table or a folder. ``models`` is where named models lie, ``vectors``
    are the embedder's token vectors (for 'late'), ``store`` is where a ColBERT keeps its own.
    Raises ConfigError and MissingExtra.
    """
    wanted = [names] if isinstance(names, str) else list(names)
    if len(wanted) > 1:
        opened = [
            open_reranker(each, models=models, threads=threads, vectors=vectors, store=store)
            for each in wanted
        ]
        return Chain(*opened)
    (name,) = wanted
    if name in ("late", "fake"):
        made = backend("reranker", name)
        if name == "late" and vectors is None:
            raise ConfigError(
                "The reranker 'late' compares the embedder's token vectors, and this embedder "
                "shows none. Choose another embedder, or another reranker."
            )
        reranker: Reranker = made(vectors) if name == "late" else made()
        return reranker
    known = canonical(name)
    if known is not None:
        backend("reranker", short(known))
    elif not Path(name).expanduser().is_dir() and "/" not in name:
        backend("reranker", name)  # one that is not in the table says what is
    folder = find_folder(name, models=models)
    if describe_reranker(folder).kind == "colbert":
        colbert: Reranker = backend("reranker", "colbert")(folder, threads=threads, store=store)
        return colbert
    pairs: Reranker = backend("reranker", "onnx")(folder, threads=threads)
    return pairs
