"""Damaged files are read or refused with a reason, and the next one is read."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

import pytest

from quoth.core.errors import DocumentCode
from quoth.ingest.readers.formats import SUFFIX_FORMATS
from quoth.ingest.sandbox.parent import ParseResult, ParserPool
from tests.support.mutants import FIXTURES, FORMATS, mutants

SECONDS, MEMORY_MB = 30, 1024
BROKE_DOWN = "the parser broke down over it"


@dataclass
class Tally:
    """What came of many files."""

    read: int = 0
    codes: dict[str, int] = field(default_factory=dict)
    slowest_s: float = 0.0
    largest_mb: float = 0.0
    broken: list[str] = field(default_factory=list)

    def count(self, outcome: ParseResult[Any]) -> None:
        self.slowest_s = max(self.slowest_s, outcome.seconds)
        self.largest_mb = max(self.largest_mb, outcome.peak_mb or 0.0)
        if outcome.problem is None:
            self.read += 1
            return
        self.codes[outcome.problem.code] = self.codes.get(outcome.problem.code, 0) + 1
        if BROKE_DOWN in str(outcome.problem):
            self.broken.append(str(outcome.problem))


async def read_all(*suffixes: str, count: int, folder: Path, workers: int = 1) -> Tally:
    """Read so many damaged files of each format, in children that read a hundred each."""
    tally = Tally()
    async with ParserPool(seconds=SECONDS, memory_mb=MEMORY_MB, workers=workers) as readers:

        async def one(number: int, suffix: str, data: bytes) -> None:
            path = folder / f"{number}{suffix}"
            await asyncio.to_thread(path.write_bytes, data)
            tally.count(await readers.outcome(path))
            path.unlink()

        waiting: set[asyncio.Task[None]] = set()
        damaged = ((each, data) for each in suffixes for data in mutants(each, count=count))
        for number, (suffix, data) in enumerate(damaged):
            waiting.add(asyncio.create_task(one(number, suffix, data)))
            if len(waiting) >= 2 * workers:
                done, waiting = await asyncio.wait(waiting, return_when="FIRST_COMPLETED")
                for each in done:
                    each.result()
        await asyncio.gather(*waiting)
        good = await readers.read(FIXTURES / "pdf" / "book.pdf")
        assert good.pages
    return tally


def test_every_format_is_damaged() -> None:
    families = {SUFFIX_FORMATS[suffix] for suffix in FORMATS}
    assert families == set(SUFFIX_FORMATS.values())
    assert all(FORMATS.values())


@pytest.mark.parametrize(
    ("suffixes", "count", "workers"),
    [
        # In few children, as starting one takes longer than reading the files.
        pytest.param(tuple(FORMATS), 5, 1, id="all"),
        *(pytest.param((each,), 1000, 2, id=each, marks=pytest.mark.soak) for each in FORMATS),
    ],
)
async def test_damaged_files_are_read_or_refused(
    tmp_path: Path, suffixes: tuple[str, ...], count: int, workers: int
) -> None:
    tally = await read_all(*suffixes, count=count, folder=tmp_path, workers=workers)
    assert tally.read + sum(tally.codes.values()) == count * len(suffixes)
    assert set(tally.codes) <= set(get_args(DocumentCode))
    assert tally.broken == []
    assert tally.slowest_s < 30
    assert tally.largest_mb < 1024
