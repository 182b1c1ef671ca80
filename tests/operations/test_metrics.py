"""What a question cost is counted under who is paid for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from quoth.core.trace import Trace
from quoth.core.types import Usage
from quoth.operations.metrics import Metrics
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
