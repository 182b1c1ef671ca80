"""A judge is opened by the name of its folder, or is the language model itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from quoth.backends.entailment.llm import GeneratorJudge
from quoth.backends.entailment.onnx import OnnxEntailment
from quoth.backends.entailment.registry import open_judge
from quoth.core.errors import ConfigError
from quoth.core.settings import Settings
from tests.support.replies import RepliesGenerator
from tests.support.toy_judges import write_number


def test_the_language_model_judges_by_name(tmp_path: Path) -> None:
    judge = open_judge(Settings(home=tmp_path, judge="llm"), RepliesGenerator())
    assert isinstance(judge, GeneratorJudge)


def test_without_a_language_model_there_is_none_to_ask(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--llm"):
        open_judge(Settings(home=tmp_path, judge="llm"), None)


@pytest.mark.parametrize("by_name", [True, False])
async def test_a_folder_is_found_by_name_and_by_path(by_name: bool, tmp_path: Path) -> None:
    folder = write_number(tmp_path / "hhem")
    name = "hhem" if by_name else str(folder)
    judge = open_judge(Settings(home=tmp_path, models=tmp_path, judge=name), None)
    assert isinstance(judge, OnnxEntailment)
    await judge.close()
