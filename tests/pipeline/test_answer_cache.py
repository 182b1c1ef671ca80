"""What may be given again, and to whom: exact and semantic answers under their keys."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.core.plan import make_plan
from quoth.core.protocols import Matrix
from quoth.core.types import Answer
from quoth.pipeline import answer_cache
from quoth.pipeline.answer_cache import AnswerCache, CacheKey
from tests.support.answers import answer_to
from tests.support.clock import Clock

QUESTION = "How do I reset my password?"
REWORDED = "Please, how can I reset my password?"
ROW: Matrix = np.array([0.6, 0.8], np.float32)


def key(choices: Mapping[str, Any] | None = None, **changes: Any) -> CacheKey:
    chosen = {"cache": "semantic", **(choices or {})}
    whole = CacheKey(
        tenant="",
        session="s1",
        history="",
        collections=(("books", "t:1"),),
        filters=(),
        choices=repr(sorted(chosen.items())),
        plan=make_plan("default", overrides=chosen),
        models=("e5@1",),
        prompt="",
        checked=True,
    )
    return replace(whole, **changes)


def test_the_same_question_gets_the_same_answer() -> None:
    cache = AnswerCache()
    cache.keep(key(), QUESTION, answer=answer_to(QUESTION))
    found = cache.find(key(), f"  {QUESTION.replace(' ', '  ')} ")
    assert found == answer_to(QUESTION, cached=True)


def test_a_question_in_other_words_gets_the_answer() -> None:
    cache = AnswerCache()
    cache.keep(key(), QUESTION, answer=answer_to(QUESTION), vector=ROW)
    assert cache.find(key(), REWORDED) is None
    found = cache.find_semantic(key(), REWORDED, vector=ROW)
    assert found == answer_to(QUESTION, cached=True)


def test_another_question_with_the_same_vector_does_not() -> None:
    cache = AnswerCache()
    cache.keep(key(), QUESTION, answer=answer_to(QUESTION), vector=ROW)
    assert cache.find_semantic(key(), "How do I reset my PIN?", vector=ROW) is None


@pytest.mark.parametrize(
    "other",
    [
        key(tenant="other"),
        key(session="s2"),
        key(collections=(("books", "t:2"),)),
        key(collections=(("books", "t:1"), ("talks", "u:1"))),
        key(collections=(("books", "t:1", "tuned"),)),
        key(filters=("page=3",)),
        key({"final_k": 3}),
        key(plan=make_plan("talks", overrides={"cache": "semantic"})),
        key(models=("e5@2",)),
        key(prompt="another"),
        key(history="another"),
        key(checked=False),
    ],
)
def test_every_part_of_the_key_counts(other: CacheKey) -> None:
    cache = AnswerCache()
    cache.keep(key(), QUESTION, answer=answer_to(QUESTION), vector=ROW)
    assert cache.find(other, QUESTION) is None
    assert cache.find_semantic(other, REWORDED, vector=ROW) is None


def test_without_a_session_nothing_is_shared_by_meaning() -> None:
    cache, lone = AnswerCache(), key(session="")
    cache.keep(lone, QUESTION, answer=answer_to(QUESTION), vector=ROW)
    assert not cache.shares(lone)
    assert cache.find_semantic(lone, REWORDED, vector=ROW) is None
    assert cache.find(lone, QUESTION)


@pytest.mark.parametrize(
    "answer",
    [
        answer_to(QUESTION, status="no_results"),
        answer_to(QUESTION, status="low_relevance"),
        answer_to(QUESTION, status="degraded"),
        answer_to(QUESTION, degraded=("rerank: fused order",)),
        answer_to(QUESTION, cached=True),
    ],
    ids=["no results", "low relevance", "status degraded", "degraded", "cached"],
)
def test_only_whole_answers_are_kept(answer: Answer) -> None:
    cache = AnswerCache()
    cache.keep(key(), QUESTION, answer=answer)
    assert len(cache) == 0


def test_answers_expire() -> None:
    clock = Clock()
    cache = AnswerCache(clock=clock)
    cache.keep(key(), QUESTION, answer=answer_to(QUESTION), vector=ROW)
    clock.now += 299
    assert cache.find(key(), QUESTION)
    clock.now += 1
    assert cache.find_semantic(key(), REWORDED, vector=ROW) is None
    assert cache.find(key(), QUESTION) is None
    assert len(cache) == 0


ASKED = ("How do I pay?", "How can I pay?", "What is 1?", "What is 2?", "Who is Bob?")
STEPS = st.tuples(
    st.sampled_from(("ask", "change")),
    st.sampled_from(("t1", "t2", "t3")),
    st.sampled_from(("", "s1", "s2")),
    st.sampled_from(ASKED),
)


@patch.object(answer_cache, "MAX_ANSWERS", 8)
@given(st.lists(STEPS, max_size=40))
def test_never_a_foreign_or_stale_answer(steps: list[tuple[str, str, str, str]]) -> None:
    """Every answer is one to the same question, of this tenant, session and version."""
    cache = AnswerCache()
    versions = dict.fromkeys(("t1", "t2", "t3"), 0)
    for what, tenant, session, question in steps:
        if what != "ask":
            versions[tenant] += 1
            continue
        now = f"{tenant}:{versions[tenant]}"
        asked = key(tenant=tenant, session=session, collections=(("books", now),))
        found = cache.find(asked, question) or cache.find_semantic(asked, question, vector=ROW)
        if found is None:
            made = answer_to(question, text=f"{tenant} {session}", index_version=now)
            cache.keep(asked, question, answer=made, vector=ROW)
        else:
            assert (found.text, found.index_version) == (f"{tenant} {session}", now)
            pays = {"How do I pay?", "How can I pay?"}
            assert found.query.original == question or {found.query.original, question} == pays
    assert len(cache) <= 8


@patch.object(answer_cache, "MAX_ANSWERS", 10)
def test_threads_may_share_it() -> None:
    cache = AnswerCache()

    def work(at: int) -> None:
        question = f"What is {at % 20}?"
        found = cache.find(key(), question) or cache.find_semantic(key(), question, vector=ROW)
        assert found is None or found.query.original == question
        cache.keep(key(), question, answer=answer_to(question), vector=ROW)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(400)))
    assert len(cache) == 10


def test_a_look_up_is_counted_once() -> None:
    cache = AnswerCache()
    assert cache.look_up(key(), QUESTION, vector=ROW) is None
    cache.keep(key(), QUESTION, answer=answer_to(QUESTION), vector=ROW)
    assert cache.look_up(key(), QUESTION)
    assert cache.look_up(key(), REWORDED, vector=ROW)
    assert cache.look_up(key(), REWORDED) is None
    assert (cache.hits, cache.misses) == (2, 2)
