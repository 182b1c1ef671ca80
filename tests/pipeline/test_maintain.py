"""The doctor says who would write answers and which host would get questions and passages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from quoth.bootstrap import open_engine
from quoth.core.errors import BackendError, ConfigError
from quoth.core.settings import Settings
from quoth.pipeline.maintain import Check


async def answers(home: Path, **given: Any) -> Check:
    async with open_engine(Settings(home=home, embedder="fake", **given)) as engine:
        health = await engine.health()
    return next(check for check in health.checks if check.name == "answers")


async def test_without_a_language_model_nothing_leaves(tmp_path: Path) -> None:
    check = await answers(tmp_path, anthropic_api_key="a-stray-key")
    assert check.ok
    assert "nothing leaves this machine" in check.found


async def test_a_far_host_is_named(tmp_path: Path) -> None:
    check = await answers(tmp_path, generator="anthropic:claude", anthropic_api_key="key")
    assert check.found == ("anthropic:claude; questions and passages would go to api.anthropic.com")
    assert "QUOTH_GENERATOR=none" in str(check.advice)


async def test_a_part_that_is_left_alone_is_named(tmp_path: Path) -> None:
    async with open_engine(Settings(home=tmp_path, embedder="fake")) as engine:
        (breaker,) = engine.parts.breakers
        for _ in range(5):
            with pytest.raises(BackendError), breaker.call():
                raise BackendError("It is made to fail.")
        health = await engine.health()
    assert not health.ok
    found = next(check.found for check in health.checks if check.name == "left alone")
    assert found.startswith("The embedder ")


async def test_a_generator_without_its_key_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        await answers(tmp_path, generator="openai")
