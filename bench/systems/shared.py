"""What several systems do alike: plain words of a question, texts kept beside an index."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow

from bench.corpus import Corpus

TEXTS = "texts.json"


def words(query: str) -> str:
    """Take the query syntax out of a question; never empty."""
    return " ".join(re.findall(r"\w+", query)) or "x"


def arrow_table(corpus: Corpus) -> pyarrow.Table:
    """Return the columns id, row (its number), text and vector."""
    flat = pyarrow.array(corpus.vectors.ravel())
    return pyarrow.table(
        {
            "id": list(corpus.ids),
            "row": list(range(len(corpus.ids))),
            "text": list(corpus.texts),
            "vector": pyarrow.FixedSizeListArray.from_arrays(flat, corpus.vectors.shape[1]),
        }
    )


def keep_texts(folder: Path, *, corpus: Corpus) -> None:
    """Write ids and texts beside an index that holds row numbers only."""
    kept = json.dumps([list(corpus.ids), list(corpus.texts)])
    (folder / TEXTS).write_text(kept, encoding="utf-8")


def kept_texts(folder: Path) -> tuple[list[str], list[str]]:
    """Read the ids and the texts, by row number."""
    ids, texts = json.loads((folder / TEXTS).read_text(encoding="utf-8"))
    return ids, texts
