"""Makes corpora beyond the scale corpus: halves of its chunks, with mixes of its vectors."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from bench.corpus import write_rows
from bench.data import SEED, mixed_vectors
from bench.home import Home

AT_ONCE = 50_000
QUESTIONS = ("queries.jsonl", "qrels.tsv", "load.jsonl")


def make_larger(home: Home, *, scale: Path, chunks: int, say: Callable[[str], None]) -> Path:
    """Make a corpus of so many chunks that begins with the scale corpus, where it is missing."""
    folder = home.data / f"scale-{chunks}"
    if (folder / "vectors.json").exists():
        return folder
    say(f"making {chunks:,} chunks from halves of the scale corpus")
    folder.mkdir(parents=True, exist_ok=True)
    for name in QUESTIONS:
        shutil.copyfile(scale / name, folder / name)
    write_rows(folder / "corpus.jsonl", _rows(scale, chunks=chunks))
    _write_vectors(scale, folder, chunks=chunks)
    shutil.copyfile(scale / "vectors.json", folder / "vectors.json")
    return folder


def _rows(scale: Path, *, chunks: int) -> Iterator[dict[str, str]]:
    with (scale / "corpus.jsonl").open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    yield from rows
    randomly = random.Random(SEED)
    for at in range(len(rows), chunks):
        one, other = randomly.choice(rows), randomly.choice(rows)
        begin, end = one["text"].split(), other["text"].split()
        text = " ".join(begin[: len(begin) // 2] + end[len(end) // 2 :])
        yield {"id": str(at), "title": one["title"], "text": text}


def _write_vectors(scale: Path, folder: Path, *, chunks: int) -> None:
    """Write the vectors block by block, as all of them would need several times their memory."""
    first = np.load(scale / "vectors.npy", mmap_mode="r")
    real = np.array(first[: json.loads((scale / "vectors.json").read_text())["real"]])
    shape = (chunks, first.shape[1])
    made = np.lib.format.open_memmap(folder / "vectors.npy", "w+", dtype=np.float32, shape=shape)
    made[: len(first)] = first
    for at in range(len(first), chunks, AT_ONCE):
        wanted = min(AT_ONCE, chunks - at)
        mixed = mixed_vectors(real, wanted=len(real) + wanted, seed=at)
        made[at : at + wanted] = mixed[len(real) :]
    made.flush()
