"""Measures how a folder of documents is read, against what its manifest says of them.

``manifest.jsonl`` holds one object per file: ``file``, and, where known, ``pages``, ``chars``,
``pages_without_text``, ``images``, ``outline`` (number of entries), ``page_labels``,
``needs_password`` and ``open_error``. It was made with another library, so a disagreement is a
question, not a verdict.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from quoth.core.errors import InputError
from quoth.core.types import Json, Pages, ParsedDocument
from quoth.ingest.sandbox.parent import ParseResult, ParserPool
from quoth.ingest.sources.files import find_files

MANIFEST = "manifest.jsonl"
_CHARACTERS_APART = 0.15
"""Running heads are left out and white space is folded, so the number of characters is near."""


@dataclass(frozen=True, slots=True)
class FileRead:
    """The result of one file; ``labels`` says whether pages have labels of their own.

    ``peak_mb`` is the highest resident memory of the child that read it, None if it died.
    """

    file: str
    status: str
    code: str | None
    message: str | None
    pages: int | None
    pages_without_text: int | None
    labels: bool
    outline: int
    characters: int
    warnings: tuple[str, ...]
    seconds: float
    peak_mb: float | None
    compared: tuple[str, ...]
    disagreements: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over the files; ``codes`` counts the files that failed by error code."""

    files: int
    ready: int
    failed: int
    codes: Mapping[str, int]
    pages: int
    compared: int
    agreed: int
    seconds: float
    peak_mb: float | None


@dataclass(frozen=True, slots=True)
class IngestReport:
    """The result of `evaluate_ingest`, ready to be turned into JSON with `dataclasses.asdict`."""

    files: tuple[FileRead, ...]
    totals: Totals
    per_question: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """By file, for comparisons: whether it was read, whether it agrees, the seconds it took."""


async def evaluate_ingest(folder: Path, *, seconds: float, memory_mb: int) -> IngestReport:
    """Read every file of the manifest, or of the folder if it has none, each in its own child.

    Raises InputError if the manifest cannot be understood.
    """
    expected = await asyncio.to_thread(_manifest, folder)
    paths = [folder / name for name in expected] or await asyncio.to_thread(find_files, [folder])
    results = []
    async with ParserPool(seconds=seconds, memory_mb=memory_mb, files_per_child=1) as readers:
        for path in paths:
            outcome = await readers.outcome(path)
            results.append(_result(path.name, outcome, expected=expected.get(path.name, {})))
    return IngestReport(tuple(results), _totals(results), _by_file(results))


def _by_file(results: Sequence[FileRead]) -> dict[str, dict[str, float]]:
    compared = [each for each in results if each.compared]
    values = {
        "read": {each.file: float(each.status == "ready") for each in results},
        "agrees": {each.file: float(not each.disagreements) for each in compared},
        "reading seconds": {each.file: each.seconds for each in results},
    }
    return {name: each for name, each in values.items() if each}


def _manifest(folder: Path) -> dict[str, Json]:
    path = folder / MANIFEST
    if not path.is_file():
        return {}
    try:
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
        return {str(row["file"]): row for row in rows}
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{path} is not a manifest: each line must be an object with a 'file' ({error!r})."
        ) from None


def _result(file: str, outcome: ParseResult[ParsedDocument], *, expected: Json) -> FileRead:
    reading, problem = outcome.made, outcome.problem
    bare = _pages_without_text(reading) if reading else None
    outline = len(reading.sections) if reading else 0
    characters = len(reading.text) if reading else 0
    labels = bool(reading and reading.labels)
    code = problem.code if problem else None
    checks: dict[str, tuple[object, object]] = {"code": (code, _expected_code(expected, code))}
    if reading:
        for name, found in (
            ("pages", reading.pages),
            ("page_labels", labels),
            ("pages_without_text", bare),
            ("outline", outline),
        ):
            # Without an outline, sections come from headings, of which a manifest knows nothing.
            if name in expected and not (name == "outline" and not expected[name]):
                checks[name] = (found, expected[name])
        if "chars" in expected and abs(characters - expected["chars"]) > max(
            20, _CHARACTERS_APART * expected["chars"]
        ):
            checks["chars"] = (characters, expected["chars"])
    return FileRead(
        file=file,
        status="ready" if reading else "failed",
        code=code,
        message=str(problem) if problem else None,
        pages=reading.pages if reading else None,
        pages_without_text=bare,
        labels=labels,
        outline=outline,
        characters=characters,
        warnings=reading.warnings if reading else (),
        seconds=round(outcome.seconds, 3),
        peak_mb=None if outcome.peak_mb is None else round(outcome.peak_mb, 1),
        compared=tuple(checks) if expected else (),
        disagreements=tuple(
            f"{name}: {found}, the manifest says {wanted}"
            for name, (found, wanted) in checks.items()
            if expected and found != wanted
        ),
    )


def _expected_code(expected: Json, code: str | None) -> str | None:
    """Return the error code that the manifest leads one to expect, None for a file that reads."""
    if expected.get("open_error"):
        return code if code in ("damaged", "empty", "unsupported") else "damaged"
    if expected.get("needs_password"):
        return "encrypted"
    if expected.get("chars") == 0:
        return "needs_ocr" if expected.get("images") else "empty"
    return None


def _pages_without_text(reading: ParsedDocument) -> int | None:
    if reading.pages is None:
        return None
    with_text: set[int] = set()
    for place in reading.places:
        if isinstance(place.locator, Pages):
            with_text.update(range(place.locator.first, place.locator.last + 1))
    return reading.pages - len(with_text)


def _totals(results: list[FileRead]) -> Totals:
    peaks = [result.peak_mb for result in results if result.peak_mb is not None]
    ready = sum(result.status == "ready" for result in results)
    compared = [result for result in results if result.compared]
    return Totals(
        files=len(results),
        ready=ready,
        failed=len(results) - ready,
        codes=dict(sorted(Counter(result.code for result in results if result.code).items())),
        pages=sum(result.pages or 0 for result in results),
        compared=len(compared),
        agreed=sum(not result.disagreements for result in compared),
        seconds=round(sum(result.seconds for result in results), 3),
        peak_mb=max(peaks, default=None),
    )
