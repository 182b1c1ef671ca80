"""The pure parts of the bench: formulas, tables, chunking, the order of runs."""

from __future__ import annotations

import math
import random
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[2]))

from bench import chunking, measures, phases, table
from bench.corpus import Question, load_questions, write_rows
from bench.data import mixed_vectors
from bench.home import VARIABLE, take_home
from bench.phases import Effort
from bench.results import Figures, Phase, Run, read_runs, write_run
from bench.runs import Task, forecast, is_repeated_in_vain, take_turns
from bench.system import CONTEXT_WORDS, Found, Hit, found
from bench.systems import SYSTEMS
from bench.systems.quoth_bare import BARE
from quoth.core.plan import make_plan

EFFORT = Effort(alone_s=1, together_s=1)
BENCH = Path(table.__file__).parent


def answering(query: str, limit: int) -> Found:
    return found([Hit(key, 1.0, query) for key in "ab"][:limit])


def run(system: str, **figures: float) -> Run:
    phase = "build" if "chunks_per_s" in figures else "query"
    return Run(system, "2,000 chunks", 2000, phase, 0, 40, 0, Figures(**figures))


def test_fusion_sums_reciprocal_ranks() -> None:
    fused = measures.reciprocal_rank_fusion([["a", "b"], ["b", "c"]], limit=2)
    assert [key for key, _ in fused] == ["b", "a"]
    assert fused[0][1] == pytest.approx(1 / 62 + 1 / 61)


def test_ndcg_by_hand() -> None:
    judged = {"a": 3, "b": 1}
    assert measures.ndcg(["a", "b"], judged) == 1
    got = measures.ndcg(["x", "b", "a"], judged)
    assert got == pytest.approx((1 / math.log2(3) + 3 / 2) / (3 + 1 / math.log2(3)))


def test_recall_counts_only_the_depth() -> None:
    assert measures.recall(["x", "a", "b"], {"a": 1, "b": 1}, depth=2) == 0.5


@given(st.lists(st.floats(-1e6, 1e6), min_size=1), st.floats(0, 1))
def test_percentile_is_numpys(values: list[float], share: float) -> None:
    assert measures.percentile(values, share) == pytest.approx(
        float(np.percentile(values, 100 * share)), abs=1e-3
    )


@given(st.lists(st.integers(1, 200), max_size=8))
def test_chunks_keep_every_word_but_a_short_rest(lengths: list[int]) -> None:
    blocks = [" ".join(f"w{at}" for at in range(length)) for length in lengths]
    words = " ".join(blocks).split()
    cut = [chunk.split() for chunk in chunking.chunks(blocks)]
    kept = [word for chunk in cut for word in chunk]
    assert kept == words[: len(kept)]
    assert len(words) - len(kept) <= chunking.SHORTEST_WORDS
    assert all(len(chunk) <= chunking.CHUNK_WORDS for chunk in cut)


def test_pieces_take_a_paragraph_once() -> None:
    text = " ".join(["documentation"] * 40)
    assert len(chunking.pieces([("a", text), ("b", text)], enough=10)) == 1


def test_html_becomes_paragraphs_of_words() -> None:
    page = (
        "<head><title>no</title></head>"
        "<p>The first paragraph is long enough to be kept &amp; read.</p>"
        "<script>var x = 1;</script><p>12345 67890 12345 67890 12345 67890 12345 67890</p>"
    )
    assert list(chunking.paragraphs(chunking.strip_html(page))) == [
        "The first paragraph is long enough to be kept & read."
    ]


def test_asking_alone_judges_what_can_be_judged() -> None:
    questions = [Question("1", "who", {"a": 1}), Question("2", "what", {})]
    figures = phases.ask_alone(answering, questions=questions, seconds=5)
    assert (figures["timed"], figures["judged"], figures["recall_10"]) == (2, 1, 1)


def test_asking_stops_when_the_time_is_up() -> None:
    questions = [Question(str(at), "who", {}) for at in range(9)]
    assert phases.ask_alone(answering, questions=questions, seconds=0)["timed"] == 1


def test_every_client_asks() -> None:
    asked = set()

    def remember(query: str, limit: int) -> Found:
        asked.add(query)
        return answering(query, limit)

    spans = [f"question {at}" for at in range(4)]
    figures = phases.ask_together(remember, spans=spans, clients=4, seconds=0.05)
    assert asked == set(spans)
    assert figures["qps_4"] > 0


def test_a_client_that_fails_fails_the_phase() -> None:
    def fail(query: str, limit: int) -> Found:
        raise LookupError(query)

    with pytest.raises(LookupError):
        phases.ask_together(fail, spans=["a", "b"], clients=2, seconds=0.05)


def test_context_is_numbered_and_ends_when_it_is_full() -> None:
    hits = [Hit("a", 2.0, "short"), Hit("b", 1.0, "word " * CONTEXT_WORDS)]
    assert found(hits).context == "[Source 1 | a]\nshort"


def test_questions_are_judged_within_a_corpus_cut_short(tmp_path: Path) -> None:
    write_rows(tmp_path / "queries.jsonl", [{"id": "q", "text": "t"}, {"id": "r", "text": "u"}])
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq\t5\t1\nr\t50\t1\n")
    judged = [question.judged for question in load_questions(tmp_path, chunks=10)]
    assert judged == [{"5": 1}, {}]


def test_span_is_lifted_out_of_the_chunk() -> None:
    text = " ".join(f"word{at}" for at in range(90))
    for seed in range(20):
        lifted = chunking.span(text, randomly=random.Random(seed))
        assert lifted in text
        assert 6 <= len(lifted.split()) <= 12


def test_mixed_vectors_are_unit_rows_behind_the_real_ones() -> None:
    real = np.eye(4, dtype=np.float32)
    rows = mixed_vectors(real, wanted=50)
    assert rows.shape == (50, 4)
    assert np.array_equal(rows[:4], real)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)


def test_mixed_vectors_can_be_fewer_than_the_real_ones() -> None:
    assert mixed_vectors(np.eye(4, dtype=np.float32), wanted=2).shape == (2, 4)


def test_table_gives_ratios_to_quoth() -> None:
    text = table.report([run("quoth", p50_ms=10), run("haystack", p50_ms=650)])
    assert "| quoth | 10 |" in text
    assert "| 650 (65×) |" in text


def test_table_without_quoth_has_no_ratios() -> None:
    assert "×" not in table.report([run("haystack", p50_ms=650)])


def test_table_takes_the_best_round() -> None:
    text = table.report([run("quoth", p50_ms=10), run("quoth", p50_ms=8)])
    assert "| quoth | 8 |" in text


def test_systems_with_one_index_share_its_build() -> None:
    runs = [run("naive", chunks_per_s=500), run("naive_mmr", p50_ms=900)]
    (row,) = [line for line in table.report(runs).splitlines() if "500" in line and "MMR" in line]
    assert row.startswith(f"| {SYSTEMS['naive_mmr'].title} | 500 |")


def test_failures_are_told() -> None:
    failed = Run("llamaindex", "c", 1, "build", 0, 240, 1, Figures(), "not done within 240 s")
    assert "- llamaindex, build: not done within 240 s" in table.report([failed])


@pytest.mark.parametrize(
    ("value", "text"), [(0.1234, "0.123"), (1.234, "1.23"), (12.34, "12.3"), (1234.5, "1,234")]
)
def test_numbers_have_three_digits(value: float, text: str) -> None:
    assert table.number(value) == text


def test_runs_survive_the_file(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    write_run(path, run("quoth", p50_ms=10))
    assert read_runs(path) == [run("quoth", p50_ms=10)]


def test_systems_take_turns_and_build_once() -> None:
    tasks = take_turns(
        corpus="c",
        data=Path(),
        chunks=2,
        systems=("quoth", "naive", "naive_mmr"),
        effort=EFFORT,
        rounds=2,
        cold=False,
    )
    order = [(task.phase, task.round, task.system) for task in tasks]
    assert order[:2] == [("build", 0, "quoth"), ("build", 0, "naive")]
    assert [system for phase, _, system in order[2:]] == ["quoth", "naive", "naive_mmr"] * 2


def task(system: str, *, chunks: int = 10_000, phase: Phase = "build") -> Task:
    return Task(system, f"{chunks:,} chunks", phase, Path(), chunks=chunks, effort=EFFORT)


def test_a_build_that_cannot_end_in_time_is_not_tried() -> None:
    done = [run("quoth", chunks_per_s=50)]
    assert forecast(task("quoth"), done=done, timeout_s=201) is None
    assert forecast(task("haystack"), done=done, timeout_s=1) is None
    why = forecast(task("quoth"), done=done, timeout_s=199)
    assert why == "not tried, since 2,000 chunks took 40 s and 199 s are allowed"


def test_slow_phases_are_not_repeated() -> None:
    done = [run("quoth", p50_ms=5)]
    assert is_repeated_in_vain(task("quoth", chunks=2000, phase="query"), done=done)
    assert not is_repeated_in_vain(task("quoth", chunks=2000, phase="cold"), done=done)


def test_rankings_of_fewer_questions_are_not_compared() -> None:
    text = table.report(
        [run("quoth", ndcg_10=0.4, judged=300), run("naive", ndcg_10=0.9, judged=8)]
    )
    assert "0.400" in text
    assert "0.900" not in text


def test_shared_index_has_one_folder() -> None:
    folders = {task(name, chunks=20, phase="query").index for name in ("naive", "naive_mmr")}
    assert folders == {"naive-20-chunks"}


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_listed_system_has_its_file(name: str) -> None:
    assert (BENCH / "systems" / f"{SYSTEMS[name].module}.py").is_file()


def test_what_the_peers_do_is_a_plan() -> None:
    made = make_plan("default", overrides=BARE)
    assert {name: getattr(made, name) for name in BARE} == BARE


def test_home_is_taken_out_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert take_home(None).root == tmp_path
    assert take_home(tmp_path / "other").root == tmp_path / "other"


def test_home_is_in_no_checkout_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert not take_home(None).root.is_relative_to(BENCH.parent)
