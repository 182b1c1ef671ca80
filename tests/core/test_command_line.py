"""The commands that messages name."""

from __future__ import annotations

from pathlib import Path

import pytest

from quoth.core.command_line import REINDEX, command_line
from quoth.core.settings import Settings


@pytest.mark.parametrize(
    ("given", "collection", "command"),
    [
        ({}, "", "quoth reindex"),
        ({}, "default", "quoth --collection default reindex"),
        ({"collection": "own"}, "", "quoth --collection own reindex"),
        ({"collection": "own"}, "default", "quoth --collection default reindex"),
        ({"collection": "default"}, "", "quoth --collection default reindex"),
        ({"store": "lancedb"}, "own", "quoth --collection own reindex"),
        ({"store": "sqlite-vec"}, "", "quoth --store sqlite-vec reindex"),
        ({"profile": "documents"}, "", "quoth --store pinecone reindex"),
        ({"collection": "my bees"}, "", "quoth --collection 'my bees' reindex"),
    ],
)
def test_a_command_names_its_collection_and_its_store(
    tmp_path: Path, given: dict[str, str], collection: str, command: str
) -> None:
    settings = Settings(home=tmp_path, **given)
    assert command_line("reindex", settings, collection=collection) == command


def test_without_settings_a_command_names_another_collection_than_the_default() -> None:
    assert command_line("add PATH", collection="default") == "quoth add PATH"
    assert command_line("add PATH", collection="own") == "quoth --collection own add PATH"
    assert REINDEX() == "quoth reindex"
