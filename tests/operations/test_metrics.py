"""What a question cost is counted under who is paid for it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from quoth.core.protocols import Matrix, Role
from quoth.core.trace import Trace
from quoth.core.types import Usage
from quoth.operations.metrics import Metrics
from quoth.testing import HashEmbedder
from tests.support.small_library import add, open_tour, write_sources


async def test_dollars_of_embeddings_count_without_a_language_model(tmp_path: Path) -> None:
    async with open_tour(tmp_path / "home") as engine:
        await add(engine, write_sources(tmp_path / "sources"))
        answer = await engine.answer("When does a colony swarm?")
    paid = Usage().plus(Usage(9, usd=0.25), stage="embed").plus(Usage(usd=0.5), stage="rerank")
    written = paid.plus(Usage(30, 7, usd=2.0), stage="generate")
    metrics = Metrics()
    metrics.observe(Trace(), replace(answer, usage=paid))
    metrics.observe(Trace(), replace(answer, usage=written, provider="anthropic"))
    lines = metrics.text().decode().splitlines()
    found = {line for line in lines if line.startswith("quoth_usd_total")}
    assert found == {
        'quoth_usd_total{provider="embed"} 0.5',
        'quoth_usd_total{provider="rerank"} 1.0',
        'quoth_usd_total{provider="anthropic"} 2.0',
    }


class PaidEmbedder(HashEmbedder):
    """Charges a cent for each text."""

    async def embed_counted(self, texts: Sequence[str], *, role: Role) -> tuple[Matrix, Usage]:
        return await self.embed(texts, role=role), Usage(10 * len(texts), usd=0.01 * len(texts))


async def test_what_embedding_a_document_costs_is_logged_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "quoth.documents")
    async with open_tour(tmp_path / "home", embedder=PaidEmbedder()) as engine:
        await add(engine, write_sources(tmp_path / "sources"))
        chunks = sum(each.chunks for each in await engine.documents())
    (record,) = [each.__dict__ for each in caplog.records if each.getMessage() == "embedded"]
    # The titles of sections are embedded, too.
    assert record["tokens"] >= 10 * chunks
    assert record["usd"] == pytest.approx(record["tokens"] / 1000)
    assert record["tenant"] == "local"
    assert engine.embedded.total.stages["embed"].input_tokens == record["tokens"]
