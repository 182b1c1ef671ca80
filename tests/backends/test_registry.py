"""The table of backends names what the profiles want and opens what this version has."""

from __future__ import annotations

from pathlib import Path

import pytest

from quoth.backends.registry import BACKENDS, Part, backend
from quoth.core.errors import ConfigError, MissingExtra
from quoth.core.extras import is_installed
from quoth.core.plan import PROFILES
from tests.support.brought_package import install

WANTED = [
    (name, part, wanted)
    for name, profile in PROFILES.items()
    for part, wanted in (
        ("embedder", profile.embedder),
        ("store", profile.store),
        ("reranker", None if profile.reranker == "none" else profile.reranker),
        ("generator", None if profile.generator == "extractive" else profile.generator),
    )
    if wanted is not None
]
THERE = [(part, name) for part, rows in BACKENDS.items() for name in rows]


@pytest.mark.parametrize(("profile", "part", "name"), WANTED)
def test_what_a_profile_names_is_in_the_table(profile: str, part: Part, name: str) -> None:
    assert name in BACKENDS[part]


@pytest.mark.parametrize(("part", "name"), THERE)
def test_a_row_gives_a_class_or_names_its_extra(part: Part, name: str) -> None:
    row = BACKENDS[part][name]
    if all(map(is_installed, row.needs)):
        assert backend(part, name).__name__ == row.name
        return
    with pytest.raises(MissingExtra) as caught:
        backend(part, name)
    assert f"quoth[{row.extra}]" in str(caught.value)


@pytest.mark.parametrize("part", BACKENDS)
def test_an_unknown_name_is_answered_with_those_there_are(part: Part) -> None:
    with pytest.raises(ConfigError) as caught:
        backend(part, "nonsense")
    there = [name for name in BACKENDS[part] if name != "fake"]
    assert "nonsense" in str(caught.value)
    assert all(name in str(caught.value) for name in there)


def test_those_of_an_installed_package_are_named_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigError, match=r"docs/own-parts\.md"):
        backend("query_transformer", "mien")
    monkeypatch.syspath_prepend(install(tmp_path))
    with pytest.raises(ConfigError, match=r"There are: mine, unfit\."):
        backend("query_transformer", "mien")
