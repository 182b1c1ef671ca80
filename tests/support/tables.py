"""Tables of rules that tests check row by row, kept as data: ``tests/data/rows``.

A line is one row, ``{"rows": "file.test", "values": […]}``: a further language, or a case that
was wrong once, is a further line.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "data" / "rows"


@cache
def _tables(package: str) -> dict[str, list[Any]]:
    tables: dict[str, list[Any]] = {}
    for line in (FOLDER / f"{package}.jsonl").read_text(encoding="utf-8").split("\n"):
        if line:
            row = json.loads(line)
            values = row["values"]
            tables.setdefault(row["rows"], []).append(
                tuple(values) if len(values) > 1 else values[0]
            )
    return tables


def rows(package: str, name: str) -> list[Any]:
    """Return the rows of a table, as `pytest.mark.parametrize` takes them."""
    return _tables(package)[name]
