"""A real server of OpenAI's protocol on this machine embeds the documents and writes the answers.

`tests/support/fetch_models.py` brings the model; the test is skipped where it is not there.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from quoth.bootstrap import open_engine
from quoth.core.settings import Settings
from quoth.pipeline.retrieve import Request
from tests.support.fetch_models import model_file
from tests.support.small_library import write_sources

pytestmark = pytest.mark.soak
DIMENSION = 576
"""Of SmolLM2-135M."""


@contextmanager
def llama_server(*, embeds: bool) -> Iterator[str]:
    """Serve the small model, for embeddings or for chat."""
    llama: Any = pytest.importorskip("xllamacpp", reason="no llama.cpp server for this platform")
    if not model_file().is_file():
        pytest.skip(f"{model_file()} is not there: python tests/support/fetch_models.py")
    wanted = llama.CommonParams()
    wanted.model.path = str(model_file())
    wanted.hostnames, wanted.port = ["127.0.0.1"], 0
    wanted.n_ctx, wanted.n_parallel, wanted.n_gpu_layers = 4096, 1, 0
    wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = 1
    wanted.use_jinja, wanted.verbosity = True, -1
    if embeds:
        wanted.embedding = True
        wanted.pooling_type = llama.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    running = llama.Server(wanted)
    yield f"{running.listening_address}/v1"
    del running


async def test_a_server_embeds_and_another_writes(tmp_path: Path) -> None:
    sources = write_sources(tmp_path / "sources")
    with llama_server(embeds=True) as embedding, llama_server(embeds=False) as chat:
        settings = Settings(
            home=tmp_path / "home",
            embedder=f"openai-compatible:smollm2@{embedding}",
            embedder_dimensions=DIMENSION,
            generator=f"openai-compatible:smollm2@{chat}",
            llm_window=4096,
            llm_first_seconds=300,
            llm_seconds=600,
        )
        async with open_engine(settings) as engine:
            assert [each async for each in engine.add([sources / "hive.srt"])]
            rows = await engine.parts.embedder.embed(["honey", "nectar"], role="document")
            assert rows.shape == (2, DIMENSION)
            assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-4)
            choices = {"cache": "none", "max_tokens": 40}
            answer = await engine.answer(Request("What is honey made from?", choices=choices))
    assert answer.citations
    assert any("nectar" in citation.snippet for citation in answer.citations)
    assert answer.usage.stages["embed"].input_tokens > 0
    assert answer.usage.stages["generate"].output_tokens > 0
    assert answer.usage.usd == 0
    assert not any(each.startswith("embed:") for each in answer.degraded)
