"""Sentences of passages and answers are embedded on this machine, whatever embeds documents."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from quoth.bootstrap import embedding
from quoth.core.settings import Settings
from quoth.engine import Engine
from quoth.testing import HashEmbedder, ScriptedGenerator
from tests.support.recording_embedder import RecordingEmbedder
from tests.support.small_library import add, open_tour, write_sources


@pytest.mark.parametrize("generator", [None, ScriptedGenerator("A colony swarms in May [1].")])
async def test_no_sentence_goes_to_the_embedder_of_the_documents(
    tmp_path: Path, generator: ScriptedGenerator | None
) -> None:
    remote, local = RecordingEmbedder(), RecordingEmbedder()
    async with open_tour(tmp_path / "home", embedder=remote, generator=generator) as engine:
        await add(engine, write_sources(tmp_path / "sources"))
        remote.documents.clear()
        own = Engine(replace(engine.parts, sentences=local))
        answer = await own.answer("When does a colony swarm?")
    assert answer.citations
    assert (remote.documents, bool(local.documents)) == ([], True)


def test_only_a_remote_embedder_needs_another_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "DEFAULT_EMBEDDER", "fake")
    settings = Settings(home=tmp_path)
    here: Any = SimpleNamespace(local=True)
    away: Any = SimpleNamespace(local=False)
    assert embedding.open_sentence_embedder(settings, here) is None
    assert embedding.open_sentence_embedder(settings, HashEmbedder()) is None
    opened = embedding.open_sentence_embedder(settings, away)
    assert opened is not None
    assert opened.name == "hash"
