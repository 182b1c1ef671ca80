"""One small file of every format, read and chunked: the chunks are those of the golden file.

Renew the golden files with ``pytest --update-golden`` and read their difference.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from quoth.ingest.chunker import chunk
from quoth.ingest.enrich.chapters import contents_of
from quoth.ingest.readers.metadata import Metadata
from quoth.ingest.readers.registry import read
from quoth.text.json_codec import to_json
from tests.conftest import FIXTURES

GOLDEN = Path(__file__).parents[1] / "golden" / "chunks"
FILES = (
    *(f"documents/{file.name}" for file in sorted((FIXTURES / "documents").iterdir())),
    "pages/guide.html",
    "pages/guide.md",
    "pages/notes.txt",
    "pdf/book.pdf",
    "pdf/columns.pdf",
    "transcripts/events.json3",
    "transcripts/jardin.sbv",
    "transcripts/lecture.srt",
    "transcripts/podcast.md",
    "transcripts/talk.vtt",
    "transcripts/twice.jsonl",
    "transcripts/whisper.json",
)


def count_words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def read_and_chunk(file: Path) -> dict[str, Any]:
    """What the catalogue would hold of a file: its metadata, chunks and headings."""
    document = read(file, Metadata())
    cut = chunk(
        document,
        document_id="d",
        chunk_id=lambda ordinal: f"c{ordinal}",
        count_tokens=count_words,
        target_tokens=60,
        language=document.language or "en",
    )
    assert "".join(each.text for each in cut) == document.text
    chunks, headings = contents_of(document, cut)
    about = to_json(document)
    del about["text"], about["places"]
    found = {
        "document": about,
        "chunks": [asdict(each) for each in chunks],
        "headings": [asdict(heading) for heading in headings],
    }
    plain: dict[str, Any] = json.loads(json.dumps(found, default=str))
    return plain


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_every_format_gives_its_golden_chunks(name: str, update_golden: bool) -> None:
    found = read_and_chunk(FIXTURES / name)
    golden = GOLDEN / f"{Path(name).name}.json"
    if update_golden:
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    assert found == json.loads(golden.read_text(encoding="utf-8"))
