"""The page about language models names the providers as the code has them."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from quoth.backends.generators.access import PROVIDERS
from quoth.backends.http_access import HTTP_PROVIDERS
from quoth.backends.registry import BACKENDS
from quoth.core.errors import GenerationCode

PAGE = (Path(__file__).parents[2] / "docs" / "language-models.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PROVIDERS)
def test_a_provider_has_its_row(name: str) -> None:
    known, extra = PROVIDERS[name], BACKENDS["generator"][name].extra
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{name}` |"))
    key = HTTP_PROVIDERS[name].key.upper().replace("LLM_", "QUOTH_LLM_")
    parts = [f"`quoth[{extra}]`", f" {known.model} ", f" {known.window:,} ", f"`{key}`"]
    assert all(part in row for part in parts)


@pytest.mark.parametrize("code", [code for code in get_args(GenerationCode) if "llm" in code])
def test_a_failure_has_its_row(code: str) -> None:
    assert f"| `{code}` |" in PAGE


def test_the_table_of_backends_has_every_provider() -> None:
    assert set(BACKENDS["generator"]) - {"fake"} == set(PROVIDERS)
