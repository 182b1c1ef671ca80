"""Judges: models in a folder and language models that are asked say how likely support is."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from quoth.backends.entailment.llm import GeneratorJudge
from quoth.backends.entailment.onnx import OnnxEntailment
from quoth.core.errors import ConfigError, GenerationError, JudgeError
from tests.support.replies import RepliesGenerator
from tests.support.toy_judges import (
    CLAIM,
    EVIDENCE,
    OTHER,
    write_labels,
    write_number,
    write_tokens,
)
from tests.support.toy_rerankers import WORDS

PAIRS = [(EVIDENCE, CLAIM), (EVIDENCE, OTHER)]
NAMINGS = [
    {"0": "contradiction", "1": "entailment"},
    {"0": "hallucinated", "1": "consistent"},
    {"0": "NOT_SUPPORTED", "1": "SUPPORTED"},
    {"0": "not_entailment", "1": "entailment"},
    {"0": "unfaithful", "1": "faithful"},
]


async def judged(folder: Path, pairs: Sequence[tuple[str, str]] = PAIRS) -> list[float]:
    judge = OnnxEntailment(folder, threads=1)
    try:
        return await judge.judge(pairs)
    finally:
        await judge.close()


@pytest.mark.parametrize("labels", NAMINGS, ids=lambda labels: str(labels["1"]))
async def test_the_label_for_support_is_found_by_its_name(
    labels: dict[str, str], tmp_path: Path
) -> None:
    same, other = await judged(write_labels(tmp_path, labels))
    assert 0 <= other < 0.5 < same <= 1


async def test_one_number_becomes_a_probability(tmp_path: Path) -> None:
    same, other = await judged(write_number(tmp_path))
    assert 0 <= other < 0.5 < same <= 1


async def test_one_made_up_word_is_enough(tmp_path: Path) -> None:
    made_up = WORDS[-1]
    pairs = [(f"boat {made_up}", "tide wave"), ("boat tide", f"wave {made_up}")]
    clean, dirty = await judged(write_tokens(tmp_path), pairs)
    assert (clean > 0.9, dirty < 0.1) == (True, True)


async def test_long_evidence_is_cut_and_the_claim_is_kept(tmp_path: Path) -> None:
    (folder := write_tokens(tmp_path)).joinpath("tokenizer_config.json").write_text(
        json.dumps({"model_max_length": 16}), encoding="utf-8"
    )
    (found,) = await judged(folder, [("boat " * 500, f"tide {WORDS[-1]}")])
    assert found < 0.1


def test_labels_without_a_meaning_are_refused(tmp_path: Path) -> None:
    folder = write_labels(tmp_path, {"0": "LABEL_0", "1": "LABEL_1"})
    with pytest.raises(ConfigError, match="id2label"):
        OnnxEntailment(folder, threads=1)


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.onnx"])
def test_a_missing_file_is_named(name: str, tmp_path: Path) -> None:
    folder = write_number(tmp_path)
    (folder / name).unlink()
    with pytest.raises(ConfigError, match=name):
        OnnxEntailment(folder, threads=1)


async def test_a_language_model_is_asked_for_each_pair() -> None:
    generator = RepliesGenerator('{"supported": "yes"}', '```json\n{"supported": "No"}\n```')
    yes, no = await GeneratorJudge(generator).judge(PAIRS)
    assert no < 0.5 < yes
    assert [EVIDENCE in text for _instructions, text in generator.asked] == [True, True]


async def test_each_question_has_a_fence_of_its_own() -> None:
    generator = RepliesGenerator(*['{"supported": "partly"}'] * 2)
    await GeneratorJudge(generator).judge(PAIRS)
    fences = {text.splitlines()[0] for _instructions, text in generator.asked}
    assert len(fences) == 2


@pytest.mark.parametrize(
    "answer", ["yes", "", "{}", '{"supported": true}', '{"supported": "maybe"}', "{supported}"]
)
async def test_an_answer_that_is_none_is_an_error(answer: str) -> None:
    with pytest.raises(JudgeError, match="yes, partly or no"):
        await GeneratorJudge(RepliesGenerator(answer)).judge(PAIRS[:1])


async def test_a_failing_language_model_is_a_failing_judge() -> None:
    error = GenerationError("The model is away.", retryable=True)
    with pytest.raises(JudgeError, match="away") as caught:
        await GeneratorJudge(RepliesGenerator(error)).judge(PAIRS[:1])
    assert caught.value.retryable
