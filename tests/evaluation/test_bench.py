"""The pure parts of the bench: formulas, tables, chunking, the order of runs."""

from __future__ import annotations

import math
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
from bench.phases import Effort
from bench.results import Figures, Phase, Run
from bench.runs import Task, forecast, take_turns
from bench.system import Found, Hit, found
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


def test_asking_alone_judges_what_can_be_judged() -> None:
    questions = [Question("1", "who", {"a": 1}), Question("2", "what", {})]
    figures = phases.ask_alone(answering, questions=questions, seconds=5)
    assert (figures["timed"], figures["judged"], figures["recall_10"]) == (2, 1, 1)


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


def test_questions_are_judged_within_a_corpus_cut_short(tmp_path: Path) -> None:
    write_rows(tmp_path / "queries.jsonl", [{"id": "q", "text": "t"}, {"id": "r", "text": "u"}])
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq\t5\t1\nr\t50\t1\n")
    judged = [question.judged for question in load_questions(tmp_path, chunks=10)]
    assert judged == [{"5": 1}, {}]


def test_mixed_vectors_are_unit_rows_behind_the_real_ones() -> None:
    real = np.eye(4, dtype=np.float32)
    rows = mixed_vectors(real, wanted=50)
    assert rows.shape == (50, 4)
    assert np.array_equal(rows[:4], real)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)


def test_table_gives_ratios_to_quoth() -> None:
    text = table.report([run("quoth", p50_ms=10), run("haystack", p50_ms=650)])
    assert "| quoth | 10 |" in text
    assert "| 650 (65×) |" in text


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


def test_rankings_of_fewer_questions_are_not_compared() -> None:
    text = table.report(
        [run("quoth", ndcg_10=0.4, judged=300), run("naive", ndcg_10=0.9, judged=8)]
    )
    assert "0.400" in text
    assert "0.900" not in text


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_listed_system_has_its_file(name: str) -> None:
    assert (BENCH / "systems" / f"{SYSTEMS[name].module}.py").is_file()


def test_what_the_peers_do_is_a_plan() -> None:
    made = make_plan("default", overrides=BARE)
    assert {name: getattr(made, name) for name in BARE} == BARE
