"""The table of backends names what the profiles want and opens what this version has."""

from __future__ import annotations

import pytest

from quoth.backends.registry import BACKENDS, Part, backend
from quoth.core.errors import ConfigError, MissingExtra
from quoth.core.plan import PROFILES

WANTED = [
    (name, part, wanted)
    for name, profile in PROFILES.items()
    for part, wanted in (
        ("embedder", profile.embedder),
        ("store", profile.store),
        ("reranker", profile.reranker),
        ("generator", None if profile.generator == "extractive" else profile.generator),
    )
    if wanted is not None
]
THERE = [
    (part, name) for part, rows in BACKENDS.items() for name, row in rows.items() if row.module
]
MISSING = [
    (part, name) for part, rows in BACKENDS.items() for name, row in rows.items() if not row.module
]


@pytest.mark.parametrize(("profile", "part", "name"), WANTED)
def test_what_a_profile_names_is_in_the_table(profile: str, part: Part, name: str) -> None:
    assert name in BACKENDS[part]


@pytest.mark.parametrize(("part", "name"), THERE)
def test_a_row_with_a_module_gives_a_class(part: Part, name: str) -> None:
    assert backend(part, name).__name__ == BACKENDS[part][name].name


@pytest.mark.parametrize(("part", "name"), MISSING)
def test_a_row_without_a_module_names_its_extra(part: Part, name: str) -> None:
    with pytest.raises(MissingExtra) as caught:
        backend(part, name)
    assert f"quoth[{BACKENDS[part][name].extra}]" in str(caught.value)


@pytest.mark.parametrize("part", BACKENDS)
def test_an_unknown_name_is_answered_with_those_there_are(part: Part) -> None:
    with pytest.raises(ConfigError) as caught:
        backend(part, "nonsense")
    there = [name for name, row in BACKENDS[part].items() if row.module and name != "fake"]
    assert "nonsense" in str(caught.value)
    assert all(name in str(caught.value) for name in there)
