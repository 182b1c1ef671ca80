"""`quoth eval verify` reads claims with their evidence and says how the check does on them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from quoth.core.errors import InputError
from quoth.evaluation.verify import evaluate_verify
from quoth.evaluation.verify_cases import (
    load_evidence,
)

DATA = Path(__file__).parents[2].parent / "shared" / "data" / "scifact"

DOCUMENTS = {
    "d1": [
        "The bakery of Anna Berg was opened in 1987 in Lyon, and it has 12 ovens.",
        "It was sold to Marc Roche in 2004, and 30 people work there.",
        "Bread is baked at 4 in the morning.",
    ],
    "d2": [
        "The Rhone bridge was closed in 2011 because the piers were weak.",
        "Engineers of Vinci have rebuilt 8 piers since then.",
        "Cyclists are allowed on the bridge again.",
    ],
}
ROWS = [
    {"query_id": "1", "claim": "Anna Berg opened a bakery in Lyon in 1987.", "corpus_id": "d1",
     "label": "SUPPORT", "sentences": [0]},
    {"query_id": "2", "claim": "The bridge was closed because of weak piers.", "corpus_id": "d2",
     "label": "SUPPORT", "sentences": [0]},
    {"query_id": "3", "claim": "The bakery was never sold.", "corpus_id": "d1",
     "label": "CONTRADICT", "sentences": [1]},
]  # fmt: skip


def write(folder: Path, rows: list[dict[str, object]]) -> Path:
    folder.joinpath("evidence.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    with gzip.open(folder / "corpus.jsonl.gz", "wt", encoding="utf-8") as file:
        for name, sentences in DOCUMENTS.items():
            row = {"id": name, "title": "", "text": " ".join(sentences), "sentences": sentences}
            file.write(json.dumps(row) + "\n")
    return folder


async def test_every_kind_of_statement_is_judged(tmp_path: Path) -> None:
    found = await evaluate_verify(write(tmp_path, ROWS))
    assert {"claim support", "claim contradict", "quote whole"} <= set(found.groups)
    assert found.auc["claims, other document"] == 1.0
    assert min(found.caught.values()) == 1.0
    assert found.false_alarms == 0.0
    assert found.misses == ()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sentences": [7]}, "line 1 names sentences"),
        ({"sentences": "0"}, "line 1 needs a list"),
        ({"sentences": []}, "line 1 needs a list"),
        ({"label": 1}, "line 1 needs a text under 'label'"),
        ({"claim": " "}, "line 1 needs a text under 'claim'"),
    ],
)
def test_a_bad_row_is_named(change: dict[str, object], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        load_evidence(write(tmp_path, [{**ROWS[0], **change}]))


needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the development data is not here")


@pytest.mark.soak
@needs_data
async def test_the_bars_hold_on_claims_never_looked_at() -> None:
    found = await evaluate_verify(DATA, split="heldout")
    assert found.auc["claims, other document"] >= 0.90
    assert found.caught["swap number out of source"] == 1.0
    assert min(found.caught.values()) >= 0.95
    assert found.false_alarms <= 0.01
