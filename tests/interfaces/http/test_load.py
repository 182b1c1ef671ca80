"""A running service under load; `tests/soak/test_load.py` has the large sizes.

Clients are in a process of their own, and so is the service.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from bench.load import REFUSED
from tests.support.many_clients import crowd, foreign, make_library, questions, running, torn


@pytest.mark.soak
async def test_clients_of_three_tenants_are_answered_and_a_signal_tears_no_answer(
    tmp_path: Path,
) -> None:
    library = await make_library(tmp_path, documents=10)
    bodies = [*questions(30), *questions(30, stream=True)]
    async with running(library, {"QUOTH_QUESTIONS_AT_ONCE": "2"}) as (port, _pid):
        found = await crowd(port, library, clients=20, bodies=questions(20), probe=True)
        assert Counter(each.status for each in found.told) == {200: 20}
        assert not foreign(found)
        assert all(seconds < 5 for seconds in found.probes)
        asking = asyncio.create_task(crowd(port, library, clients=60, bodies=bodies))
        await asyncio.sleep(0.6)
    # The service was told to stop, once: a second signal would end it at once.
    found = await asking
    assert not torn(found)
    assert {each.status for each in found.told} <= {0, 200, 503}
    assert all(each.text == REFUSED for each in found.told if not each.status)
