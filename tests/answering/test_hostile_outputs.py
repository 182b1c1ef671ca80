"""Recorded answers of models that lie, leak, break off or attack, and what is read of them.

``tests/data/hostile/NAME.txt`` is what the model wrote when it was asked ``sources.json``;
``expected.json`` holds the sentences with the sources that they name, the blocks of code, and how
many sources and links were taken out (of long ones, how many sentences).
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from quoth.answering.generative.overlong import LONGEST
from quoth.answering.generative.stream_reader import AnswerReader

FOLDER = Path(__file__).parents[1] / "data" / "hostile"
EXPECTED: dict[str, Any] = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
KNOWN = tuple(map(int, json.loads((FOLDER / "sources.json").read_text("utf-8"))["sources"]))
HOSTILE = re.compile(r"thief\.example|javascript:|<script|<img|\x1b|\u202e|<\||</?sources")


def written(name: str) -> str:
    return (FOLDER / f"{name}.txt").read_bytes().decode()


def read(name: str, *, size: int) -> tuple[dict[str, Any], str]:
    reader, text = AnswerReader(KNOWN), written(name)
    parts = [part for at in range(0, len(text), size) for part in reader.feed(text[at : at + size])]
    parts += reader.close()
    closed = [part for part in parts]
    sentences = [[each.text, list(each.numbers)] for each in closed if each.kind == "sentence"]
    found = {
        "sentences": sentences if isinstance(EXPECTED[name]["sentences"], list) else len(sentences),
        "code": [each.text for each in closed if each.kind == "code"],
        "invented": reader.invented,
        "cleaned": reader.cleaned,
    }
    return found, "".join(part.lead + part.text for part in parts)


def test_every_record_has_its_expectation() -> None:
    assert {file.stem for file in FOLDER.glob("*.txt")} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_what_is_read_of_it_is_known_and_harmless(name: str) -> None:
    for size in (1, 7, 100_000):
        found, shown = read(name, size=size)
        assert found == EXPECTED[name]
        assert not HOSTILE.search(shown)
    reader = AnswerReader((2,))
    parts = reader.feed(written(name)) + reader.close()
    assert {n for part in parts for n in part.numbers} <= {2}, "a source that was not shown"


@pytest.mark.parametrize("name", ["endless", "endless_word"])
def test_endless_text_is_closed_in_pieces(name: str) -> None:
    reader = AnswerReader(KNOWN)
    parts = reader.feed(written(name)) + reader.close()
    assert max(len(part.text) for part in parts) <= LONGEST
