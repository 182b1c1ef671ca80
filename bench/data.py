"""Makes the corpora once: the scale corpus from documentation, Cranfield where it is at hand."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bench import documentation
from bench.chunking import Piece, mix, pieces, span
from bench.corpus import write_rows
from bench.embedder import Embedder
from bench.home import ROOT, Home

Matrix = npt.NDArray[np.float32]
Say = Callable[[str], None]

SCALE_CHUNKS = 100_000
JUDGED, LOAD = 300, 4000
KNOWN_ITEMS = 20_000
"""Questions are lifted from the first chunks only, so that every size of the corpus has them."""
PASSAGE_TOKENS, WHOLE = 64, 512
CRANFIELD = ROOT.parent / "shared" / "data" / "cranfield"
SEED = 7


def make_scale(home: Home, *, model: Path, real: int, say: Say) -> Path:
    """Make the scale corpus, its questions and its vectors where they are missing.

    The first `real` chunks are embedded (64 tokens of each); the others get unit mixes of two
    of those vectors with a little noise, which serves latency and says nothing about quality.
    """
    folder = home.data / "scale"
    if not (folder / "load.jsonl").exists():
        folder.mkdir(parents=True, exist_ok=True)
        chunks = _scale_pieces(home, say=say)
        write_rows(
            folder / "corpus.jsonl",
            (
                {"id": str(at), "title": piece.title, "text": piece.text}
                for at, piece in enumerate(chunks)
            ),
        )
        _write_questions(folder, chunks=chunks)
    texts = _texts(folder)
    key = _key(folder, model=model, tokens=PASSAGE_TOKENS)
    if _embedded(folder, key=key) < real:
        vectors = _embed(texts[:real], model=model, tokens=PASSAGE_TOKENS, say=say)
        _keep(folder, vectors=mixed_vectors(vectors, wanted=len(texts)), key=key, real=real)
    return folder


def make_cranfield(home: Home, *, model: Path, say: Say) -> Path | None:
    """Make the Cranfield corpus with real vectors; None where the collection is not at hand."""
    if not CRANFIELD.is_dir():
        return None
    folder = home.data / "cranfield"
    folder.mkdir(parents=True, exist_ok=True)
    with gzip.open(CRANFIELD / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    chunks = (
        {
            "id": row["id"],
            "title": row["title"],
            "text": f"{row['title']}. {row['text']}" if row["text"] else f"(empty {row['id']})",
        }
        for row in rows
    )
    write_rows(folder / "corpus.jsonl", chunks)
    for name in ("queries.jsonl", "qrels.tsv"):
        shutil.copyfile(CRANFIELD / name, folder / name)
    texts = _texts(folder)
    key = _key(folder, model=model, tokens=WHOLE)
    if _embedded(folder, key=key) < len(texts):
        vectors = _embed(texts, model=model, tokens=WHOLE, say=say)
        _keep(folder, vectors=vectors, key=key, real=len(texts))
    return folder


def mixed_vectors(real: Matrix, *, wanted: int, seed: int = SEED) -> Matrix:
    """Follow the real unit rows with unit mixes of two of them and noise, up to `wanted` rows."""
    randomly = np.random.default_rng(seed)
    rest = max(0, wanted - len(real))
    weight = randomly.uniform(0.5, 0.9, (rest, 1)).astype(np.float32)
    first = real[randomly.integers(0, len(real), rest)]
    second = real[randomly.integers(0, len(real), rest)]
    noise = randomly.normal(0, 0.01, (rest, real.shape[1])).astype(np.float32)
    rows = weight * first + (1 - weight) * second + noise
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return np.concatenate([real, rows])[:wanted].astype(np.float32)


def _scale_pieces(home: Home, *, say: Say) -> list[Piece]:
    say("fetching documentation packages for the scale corpus")
    tree = home.data / "packages"
    packages = documentation.fetch_packages(tree)
    randomly = random.Random(SEED)
    if packages:
        files = documentation.documentation(tree)
        randomly.shuffle(files)
        found = pieces(documentation.texts(files), enough=int(SCALE_CHUNKS * 1.3))
        source = f"Debian packages {', '.join(packages)}"
    else:
        found = pieces(documentation.docstrings(), enough=int(SCALE_CHUNKS * 1.3))
        source = "docstrings of this machine's Python (no apt here to fetch documentation with)"
    shutil.rmtree(tree, ignore_errors=True)
    randomly.shuffle(found)
    if len(found) < SCALE_CHUNKS:
        source += f"; {len(found):,} real chunks, the rest made of their halves"
    chunks = mix(found, wanted=SCALE_CHUNKS, randomly=randomly)[:SCALE_CHUNKS]
    (home.data / "scale" / "source.txt").write_text(source + "\n", encoding="utf-8")
    say(f"{len(chunks):,} chunks from {source}")
    return chunks


def _write_questions(folder: Path, *, chunks: list[Piece]) -> None:
    randomly = random.Random(SEED + 1)
    targets = [randomly.randrange(min(KNOWN_ITEMS, len(chunks))) for _ in range(JUDGED + LOAD)]
    rows = [
        {"id": f"q{at}", "text": span(chunks[target].text, randomly=randomly)}
        for at, target in enumerate(targets)
    ]
    write_rows(folder / "queries.jsonl", rows[:JUDGED])
    judged = [f"q{at}\t{target}\t1" for at, target in enumerate(targets[:JUDGED])]
    lines = ["query-id\tcorpus-id\tscore", *judged]
    (folder / "qrels.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    write_rows(folder / "load.jsonl", rows[JUDGED:])


def _texts(folder: Path) -> list[str]:
    with (folder / "corpus.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines]


def _embed(texts: list[str], *, model: Path, tokens: int, say: Say) -> Matrix:
    say(f"embedding {len(texts):,} chunks (once; some minutes)")

    def progress(done: int) -> None:
        if done % 800 == 0:
            say(f"  {done:,} of {len(texts):,}")

    return Embedder(model, max_tokens=tokens).passages(texts, progress=progress)


def _key(folder: Path, *, model: Path, tokens: int) -> str:
    digest = hashlib.sha256(f"{tokens} tokens".encode())
    for file in [folder / "corpus.jsonl", *sorted(model.glob("model.onnx*"))]:
        with file.open("rb") as content:
            digest.update(hashlib.file_digest(content, "sha256").digest())
    return digest.hexdigest()


def _embedded(folder: Path, *, key: str) -> int:
    """Say how many rows are real vectors of this text by this model."""
    file = folder / "vectors.json"
    made = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return int(made["real"]) if made.get("key") == key else 0


def _keep(folder: Path, *, vectors: Matrix, key: str, real: int) -> None:
    np.save(folder / "vectors.npy", vectors)
    made = json.dumps({"key": key, "real": real})
    (folder / "vectors.json").write_text(made, encoding="utf-8")
