from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from quoth.core.errors import InputError
from quoth.evaluation.ingest import FileRead, evaluate_ingest

PDFS = Path(__file__).parents[1] / "fixtures" / "pdf"
SHARED = Path(__file__).parents[2].parent / "shared" / "data" / "pdfs"


def folder_with(tmp_path: Path, *rows: dict[str, object]) -> Path:
    for row in rows:
        shutil.copy(PDFS / str(row["file"]), tmp_path)
    text = "\n".join(json.dumps(row) for row in rows)
    (tmp_path / "manifest.jsonl").write_text(text, encoding="utf-8")
    return tmp_path


async def read_one(tmp_path: Path, row: dict[str, object]) -> FileRead:
    report = await evaluate_ingest(folder_with(tmp_path, row), seconds=20, memory_mb=512)
    (result,) = report.files
    return result


async def test_a_file_that_is_as_the_manifest_says(tmp_path: Path) -> None:
    result = await read_one(
        tmp_path,
        {
            "file": "book.pdf",
            "pages": 5,
            "page_labels": True,
            "outline": 3,
            "pages_without_text": 0,
            "chars": 800,
        },
    )
    assert result.disagreements == ()
    assert (result.status, result.pages, result.labels, result.outline) == ("ready", 5, True, 3)
    assert set(result.compared) == {
        "code",
        "pages",
        "page_labels",
        "outline",
        "pages_without_text",
    }
    assert result.peak_mb is not None
    assert 1 < result.peak_mb < 512


@pytest.mark.parametrize(
    "row",
    [
        {"file": "locked.pdf", "needs_password": True},
        {"file": "scan.pdf", "chars": 0, "images": 2},
        {"file": "blank.pdf", "chars": 0, "images": 0},
        {"file": "blank.pdf", "open_error": "no objects found"},
    ],
)
async def test_a_failure_that_was_expected_is_agreement(
    row: dict[str, object], tmp_path: Path
) -> None:
    result = await read_one(tmp_path, row)
    assert result.status == "failed"
    assert result.disagreements == ()


@pytest.mark.parametrize("line", ["not json", "[1]", '{"name": "book.pdf"}'])
async def test_a_manifest_that_is_none_is_refused(line: str, tmp_path: Path) -> None:
    (tmp_path / "manifest.jsonl").write_text(line, encoding="utf-8")
    with pytest.raises(InputError, match="manifest"):
        await evaluate_ingest(tmp_path, seconds=20, memory_mb=512)


@pytest.mark.soak
async def test_the_sample_files_agree_but_for_two() -> None:
    """Nine places with 27 titles are nine sections; a scan with seven letters needs OCR, if there
    is none."""
    if not SHARED.exists():
        pytest.skip("the larger data sets are not here")
    report = await evaluate_ingest(SHARED, seconds=60, memory_mb=1024)
    expected = {"py-pdf__mistitled_outlines_example.pdf": ("outline: 9, the manifest says 27",)}
    if shutil.which("tesseract") is None:
        expected["pdf.js__scan-bad.pdf"] = ("code: needs_ocr, the manifest says None",)
    assert {f.file: f.disagreements for f in report.files if f.disagreements} == expected
