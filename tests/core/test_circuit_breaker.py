"""A breaker opens after failures in a row, tries one call after a while, and closes again."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.core.circuit_breaker import CircuitBreaker
from quoth.core.errors import BackendError, GenerationError, RerankError
from tests.support.clock import Clock


def fail(breaker: CircuitBreaker, *, times: int = 1) -> None:
    for _ in range(times):
        with pytest.raises(RerankError), breaker.call():
            raise RerankError("It failed.")


def succeed(breaker: CircuitBreaker) -> None:
    with breaker.call():
        pass


def opened(clock: Clock) -> CircuitBreaker:
    breaker = CircuitBreaker("The reranker", clock=clock)
    fail(breaker, times=5)
    return breaker


def test_the_fifth_failure_opens_it() -> None:
    assert opened(Clock()).state == "open"


def test_a_success_sets_the_count_back() -> None:
    breaker = CircuitBreaker("The reranker", clock=Clock())
    for _ in range(20):
        fail(breaker, times=4)
        succeed(breaker)
    assert breaker.state == "closed"


def test_a_refused_call_raises_the_error_of_its_part() -> None:
    error = partial(GenerationError, code="llm_unavailable")
    breaker = CircuitBreaker("The model m of p", error=error, failures=1, clock=Clock())
    fail(breaker)
    with (
        pytest.raises(GenerationError, match="The model m of p failed 1") as caught,
        breaker.call(),
    ):
        pass
    assert caught.value.code == "llm_unavailable"


def test_it_is_half_open_after_a_while() -> None:
    clock = Clock()
    breaker = opened(clock)
    clock.now += 15
    assert breaker.state == "half_open"


def test_a_failure_opens_a_half_open_one_for_as_long_again() -> None:
    clock = Clock()
    breaker = opened(clock)
    clock.now += 15
    fail(breaker)
    assert breaker.waits_s == 15


def test_one_call_at_a_time_tries_a_half_open_one() -> None:
    clock = Clock()
    breaker = opened(clock)
    clock.now += 15
    with breaker.call(), pytest.raises(BackendError), breaker.call():
        pass


def test_a_cancelled_try_leaves_room_for_the_next() -> None:
    clock = Clock()
    breaker = opened(clock)
    clock.now += 15
    with pytest.raises(GeneratorExit), breaker.call():
        raise GeneratorExit
    succeed(breaker)
    assert breaker.state == "closed"


def test_a_call_from_before_does_not_close_an_open_one() -> None:
    breaker = CircuitBreaker("The reranker", clock=Clock())
    with breaker.call():
        fail(breaker, times=5)
    assert breaker.state == "open"


def test_a_bug_passes_and_does_not_count() -> None:
    breaker = CircuitBreaker("The reranker", failures=1, clock=Clock())
    with pytest.raises(ZeroDivisionError), breaker.call():
        raise ZeroDivisionError
    assert breaker.state == "closed"


@given(st.lists(st.sampled_from(["call", "wait 1", "wait 16"]), max_size=60))
def test_a_part_that_is_down_gets_one_call_in_15_seconds(steps: list[str]) -> None:
    clock, reached = Clock(), 0
    breaker = opened(clock)
    began = clock.now
    for step in steps:
        if step.startswith("wait"):
            clock.now += int(step.split()[1])
            continue
        with suppress(BackendError), breaker.call():
            reached += 1
            raise RerankError("It is down.")
    assert reached <= (clock.now - began) / 15
