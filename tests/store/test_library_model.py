"""A library in use does what a dictionary does; many more cases are in tests/soak."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.support.controlled_process import make_hands
from tests.support.library_model import Library

FEW = settings(
    max_examples=5,
    stateful_step_count=10,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)


def test_a_library_is_a_dictionary_that_survives() -> None:
    with make_hands() as maker:
        Library.maker = maker
        Library.steps = Library.kills = 0
        run_state_machine_as_test(Library, settings=FEW)
        assert Library.steps > 15
        assert Library.kills > 0
