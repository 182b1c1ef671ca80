"""`quoth eval cache`: rates worked by hand, and files that are wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from quoth.core.errors import InputError
from quoth.core.settings import Settings
from quoth.evaluation.cache import (
    Pair,
    evaluate_cache,
    load_pairs,
    report_on,
)
from quoth.pipeline.answer_cache import have_equal_words

EVAL = Path(__file__).parents[2] / "eval" / "cache"
PAIRS = (
    Pair("1", "one", "uno", True),
    Pair("2", "two", "due", True),
    Pair("3", "page 1", "page 2", False),
    Pair("4", "east", "west", False),
)


def test_rates_of_cosine_and_guard() -> None:
    found = report_on(
        PAIRS,
        cosines=[0.99, 0.97, 0.995, 0.985],
        guard=lambda a, _b: not a.startswith("page"),
        threshold=0.98,
    )
    assert (found.hit_rate, found.false_hits, found.false_hit_rate) == (0.5, 1, 0.5)
    assert [each.a for each in found.wrong] == ["east"]
    assert found.per_question == {
        "hit on the same": {"1": 1.0, "2": 0.0},
        "no hit on others": {"3": 1.0, "4": 0.0},
    }


@pytest.mark.parametrize("folder", [".", "dev", "heldout"])
def test_no_pair_of_the_sets_is_wrong(folder: str) -> None:
    pairs = load_pairs(EVAL / folder)
    found = report_on(pairs, cosines=[1.0] * len(pairs), guard=have_equal_words)
    assert found.false_hits == 0
    assert found.hit_rate >= {".": 0.05, "dev": 0.15, "heldout": 0.2}[folder]


async def test_the_guard_is_that_of_the_engines_cache(tmp_path: Path) -> None:
    write(
        tmp_path,
        '{"a": "What is on page 1?", "b": "Please, what is on page 1?", "same": true}',
        '{"a": "What is on page 1?", "b": "What is on page 2?", "same": false}',
    )
    settings = Settings(home=tmp_path / "home", embedder="fake")
    found = await evaluate_cache(tmp_path, settings=settings, threshold=0.0)
    assert (found.hit_rate, found.false_hits) == (1.0, 0)


def write(folder: Path, *lines: str) -> None:
    (folder / "pairs.jsonl").write_text("\n".join(lines), encoding="utf-8")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"a": "x", "b": "y"}', "line 2 needs true or false under 'same'"),
        ('{"a": "x", "same": true}', "line 2 needs a text under 'b'"),
        ("[1]", "line 2 is not a JSON object"),
        ('{"a": "x"', "line 2 is not JSON"),
        ('{"a": "x", "b": "y", "same": true}', "needs pairs that are the same and pairs"),
    ],
)
def test_wrong_lines_are_named(tmp_path: Path, line: str, said: str) -> None:
    write(tmp_path, '{"a": "x", "b": "y", "same": true}', line)
    with pytest.raises(InputError, match=said):
        load_pairs(tmp_path)
