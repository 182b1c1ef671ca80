"""Cuts the sample collection into the rows of corpus.jsonl; run by hand from the repository root.

Needs no model: a chunk aims at a number of words, and one that is too short joins its neighbour.
The questions and the judgments beside it were written by hand and name the rows by id, so a change
of readers or chunker must not run over them unseen: `--check` only says what would change.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from quoth.core.types import Chunk
from quoth.ingest.chunker import chunk
from quoth.ingest.readers.registry import read

HERE = Path(__file__).resolve().parent
SAMPLES = HERE.parents[2] / "examples" / "hf-course"
TARGET, LEAST, MOST = 140, 60, 200
"""Words of a row."""


def count_words(texts: Sequence[str]) -> list[int]:
    """Count the words of each text."""
    return [len(text.split()) for text in texts]


def sources() -> Iterator[tuple[str, str, Path]]:
    """Give the short name, the language and the file of every sample."""
    for language in ("en", "fr"):
        yield f"book-{language}", language, SAMPLES / "books" / f"course.{language}.pdf"
        for path in sorted((SAMPLES / "talks" / language).glob("*.srt")):
            yield f"talk-{language}-{path.name[:2]}", language, path


def rows(name: str, *, language: str, path: Path) -> Iterator[dict[str, str]]:
    """Cut one file; a row is titled like its first chunk and numbered from 1."""
    chunks = chunk(
        read(path),
        document_id=name,
        chunk_id=lambda number: f"{name}-{number}",
        count_tokens=count_words,
        target_tokens=TARGET,
        language=language,
    )
    for number, group in enumerate(_joined(chunks), start=1):
        text = " ".join("".join(each.text for each in group).split())
        yield {"id": f"{name}-{number:03d}", "title": group[0].prefix, "text": text}


def _joined(chunks: Sequence[Chunk]) -> list[list[Chunk]]:
    groups: list[list[Chunk]] = []
    for each in chunks:
        short = groups and min(_words(groups[-1]), _words([each])) < LEAST
        if groups and short and _words([*groups[-1], each]) <= MOST:
            groups[-1].append(each)
        else:
            groups.append([each])
    return groups


def _words(group: Sequence[Chunk]) -> int:
    return sum(each.tokens for each in group)


def main() -> None:
    """Write the corpus, or compare it with the one that is there."""
    made = [
        json.dumps(row, ensure_ascii=False)
        for name, language, path in sources()
        for row in rows(name, language=language, path=path)
    ]
    target = HERE / "corpus.jsonl"
    if "--check" in sys.argv:
        changed = set(made) ^ set(target.read_text(encoding="utf-8").splitlines())
        sys.exit("\n".join(sorted(changed)) or 0)
    target.write_text("\n".join(made) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
