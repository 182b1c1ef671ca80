"""Variables by the names that other designs give them."""

from __future__ import annotations

from pathlib import Path

import pytest

from quoth.core.errors import ConfigError
from quoth.core.load_settings import load_settings, settings_not_used
from quoth.core.plan import make_plan
from quoth.core.settings import Settings
from quoth.core.settings_aliases import (
    KEYS_NOT_USED,
    KNOBS,
    PLAN,
    SETTINGS,
)
from quoth.pipeline.retrieve import Request
from tests.support.small_library import add, open_tour, write_sources

VALUES = {
    "RAG_TOP_K": ("7", 7),
    "RAG_MMR_LAMBDA": ("0.5", 0.5),
    "RAG_MAX_CONTEXT_TOKENS": ("6000", 6000),
    "RAG_TEMPERATURE": ("0.2", 0.2),
    "RETRIEVAL_METHOD": ("keyword", "keyword"),
    "RRF_K": ("30", 30),
    "GOOGLE_TEMPERATURE": ("0.3", 0.3),
    "GOOGLE_MAX_TOKENS": ("99", 99),
    "LLM_MAX_RETRIES": ("3", 3),
    "LLM_TIMEOUT_SECONDS": ("12", 12),
}


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUOTH_HOME", str(tmp_path))


def test_every_name_has_a_value_here() -> None:
    assert set(VALUES) == set(PLAN) | set(SETTINGS)


@pytest.mark.parametrize("name", VALUES)
def test_a_name_sets_what_it_means(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text, value = VALUES[name]
    monkeypatch.setenv(name, text)
    settings = load_settings()
    if name in PLAN:
        assert settings.plan == {PLAN[name][0]: value}
    else:
        assert getattr(settings, SETTINGS[name]) == value


def test_what_has_no_counterpart_may_have_any_value_and_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert settings_not_used(tmp_path) == ()
    monkeypatch.setenv("BM25_K1", "2")
    written(tmp_path, "reranker:\n  use_fp16: true\nllm:\n  streaming: no\n")
    assert [each.partition(":")[0] for each in settings_not_used(tmp_path)] == [
        *("BM25_K1", "reranker.use_fp16", "llm.streaming")
    ]


@pytest.mark.parametrize(
    ("device", "gpu"), [("cpu", False), ("cuda", True), ("cuda:1", True), ("mps", True)]
)
def test_a_device_is_the_processor_or_another_one(tmp_path: Path, device: str, gpu: bool) -> None:
    assert written(tmp_path, f"reranker:\n  device: {device}\n").gpu is gpu


def test_the_file_is_below_them_and_our_own_names_above(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "quoth.toml").write_text(
        "llm_seconds = 5\n[plan]\nfinal_k = 3\nrrf_k = 10\nmode = 'semantic'\n", encoding="utf-8"
    )
    monkeypatch.setenv("RAG_TOP_K", "7")
    monkeypatch.setenv("RRF_K", "20")
    monkeypatch.setenv("LLM_TIMEOUT_SECONDS", "12")
    settings = load_settings()
    assert settings.plan == {"final_k": 7, "rrf_k": 20, "mode": "semantic"}
    assert settings.llm_seconds == 12
    monkeypatch.setenv("QUOTH_PLAN", '{"rrf_k": 40}')
    assert load_settings().plan == {"final_k": 7, "rrf_k": 40, "mode": "semantic"}
    monkeypatch.setenv("QUOTH_LLM_SECONDS", "14")
    assert load_settings().llm_seconds == 14
    asked = load_settings({"plan": {"final_k": 1}}).plan
    assert asked == {"final_k": 1, "rrf_k": 40, "mode": "semantic"}


@pytest.mark.parametrize(
    ("name", "text"), [("RAG_TOP_K", "many"), ("RRF_K", "1.5"), ("LLM_TIMEOUT_SECONDS", "0")]
)
def test_what_is_no_number_is_refused_by_name(
    name: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, text)
    with pytest.raises(ConfigError, match=name):
        load_settings()


async def test_the_asker_outranks_the_settings(tmp_path: Path) -> None:
    sources = write_sources(tmp_path / "sources")
    settings = Settings(home=tmp_path / "home", chunk_tokens=32, plan={"final_k": 2})
    async with open_tour(tmp_path / "home", settings=settings) as engine:
        await add(engine, sources)
        assert len(await engine.search("What do bees make honey of?")) == 2
        asked = Request("What do bees make honey of?", {"final_k": 1})
        assert len(await engine.search(asked)) == 1


# --- quoth.yaml -------------------------------------------------------------------------------

YAML = """\
# how to find
retrieval:
  top_k_initial: 20
  top_k_final: 5
  similarity_threshold: 0.3   # higher is stricter
  include_context: true
  diversity_lambda: 0.25
  hybrid_alpha: 0.7
  use_reranker: true

reranker:
  model: "none"
  device: "cpu"
  use_fp16: false

llm:
  provider: 'ollama'  # or another
  model: "qwen3:8b"
  temperature: 0
  max_tokens: 1024
  streaming: true
"""


def written(home: Path, text: str) -> Settings:
    (home / "quoth.yaml").write_text(text, encoding="utf-8")
    return load_settings()


def test_every_key_of_the_yaml_sets_what_it_means(tmp_path: Path) -> None:
    settings = written(tmp_path, YAML)
    assert settings.plan == {
        "rerank_pool": 20,
        "final_k": 5,
        "context_window": 1,
        "mmr_lambda": 0.75,
        "dense_weight": 0.7,
        "rerank": True,
        "temperature": 0.0,
        "max_tokens": 1024,
    }
    assert (settings.reranker, settings.generator) == ("none", "ollama:qwen3:8b")
    assert all(path.rpartition(".")[2] in YAML for path in (*KNOBS, *KEYS_NOT_USED))
    make_plan("default", overrides=settings.plan)


def test_the_yaml_is_below_the_file_and_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "quoth.toml").write_text("reranker = 'late'\n[plan]\nfinal_k = 3\n")
    monkeypatch.setenv("RAG_TEMPERATURE", "0.5")
    monkeypatch.setenv("QUOTH_GENERATOR", "none")
    settings = written(tmp_path, YAML)
    assert (settings.reranker, settings.generator) == ("late", "none")
    assert (settings.plan["final_k"], settings.plan["temperature"]) == (3, 0.5)
    assert settings.plan["dense_weight"] == 0.7


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("retrieval:\n  colour: red\n", "'retrieval.colour'"),
        ("retrieval:\n  top_k_final: many\n", "'retrieval.top_k_final'"),
        ("retrieval:\n  top_k_final: 5.5\n", "'retrieval.top_k_final'"),
        ("retrieval:\n  use_reranker: 1\n", "'retrieval.use_reranker'"),
        ("retrieval:\n  hybrid_alpha: .nan\n", "'retrieval.hybrid_alpha'"),
        ("reranker:\n  device: tpu\n", "'reranker.device'"),
        ("llm:\n  model: x\n", "'llm.provider'"),
        ("llm:\n  model: x\n  model: y\n", "twice"),
        ("top_k_final: 5\n", "Line 1 "),
        ("  top_k_final: 5\n", "Line 1 "),
        ("llm:\n  model: !!python/object/apply:os.system [ls]\n", "Line 2 "),
        ("llm:\n  model: &a x\n", "Line 2 "),
        ("llm:\n  model: [a, b]\n", "Line 2 "),
        ("llm:\n  model: |\n    x\n", "Line 2 "),
        ('llm:\n  model: "x\n', "Line 2 "),
        ("llm:\n  model\n", "Line 2 "),
        ("llm:\n\tmodel: x\n", "Line 2 "),
        ("llm:\n  model:x\n", "Line 2 "),
        ("- a\n", "Line 1 "),
        (": a\n", "Line 1 "),
    ],
)
def test_what_cannot_be_read_or_obeyed_is_refused_by_its_place(
    tmp_path: Path, text: str, named: str
) -> None:
    with pytest.raises(ConfigError, match=named):
        written(tmp_path, text)


def test_what_a_call_gives_wrong_is_not_said_of_a_variable_or_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "quoth.toml").write_text("retention_days = 9\n")
    monkeypatch.setenv("LLM_TIMEOUT_SECONDS", "5")
    for name in ("llm_seconds", "retention_days"):
        with pytest.raises(ConfigError, match=f"'{name}' .*or option") as failed:
            load_settings({"home": tmp_path, name: -4})
        assert "LLM_TIMEOUT" not in str(failed.value)
        assert "quoth.toml" not in str(failed.value)
