"""`quoth eval verify` reads claims about a source and counts what "strict" would show."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from quoth.core.errors import InputError
from quoth.evaluation.claims import evaluate_claims, has_claims

SOURCE = (
    "The bakery of Anna Berg was opened in 1987 in Lyon, and it has 12 ovens. It was sold to Marc "
    "Roche in 2004. Bread is baked at 4 in the morning."
)
ROWS = [
    {"claim": "Bread is baked at 4 in the morning.", "supported": True, "change": "verbatim"},
    {"claim": "The bakery of Anna Berg was opened in 1987.", "supported": True, "change": "short"},
    {"claim": "The bakery of Anna Berg was opened in 1988.", "supported": False, "change": "date"},
    {"claim": "Bread is not baked at 4 in the morning.", "supported": False, "change": "negation"},
]  # fmt: skip


def write(folder: Path, rows: list[dict[str, object]]) -> Path:
    lines = [
        {"id": str(at), "source": SOURCE, "language": "en"} | row for at, row in enumerate(rows)
    ]
    (folder / "claims.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return folder


async def test_true_and_false_claims_are_counted_by_change(tmp_path: Path) -> None:
    found = await evaluate_claims(write(tmp_path, ROWS))
    assert (found.claims, found.true_supported, found.true_unsupported) == (4, 1.0, 0.0)
    assert found.false_supported == 0.0
    assert {name: (each.n, each.supported) for name, each in found.by_change.items()} == {
        "verbatim": (1, 1.0),
        "short": (1, 1.0),
        "date": (1, 0.0),
        "negation": (1, 0.0),
    }
    assert found.misses == ()


async def test_a_claim_without_its_source_is_an_input_error(tmp_path: Path) -> None:
    (tmp_path / "claims.jsonl").write_text('{"id": "1", "claim": "A"}', encoding="utf-8")
    assert has_claims(tmp_path)
    with pytest.raises(InputError, match="source"):
        await evaluate_claims(tmp_path)
