"""Keys by the million, and a thousand of them at once."""

from __future__ import annotations

import asyncio
import time
from itertools import pairwise
from pathlib import Path

import pytest

from quoth.store.keys import LABEL, new_token, split
from tests.support.auth_app import gated

pytestmark = [pytest.mark.soak, pytest.mark.timed]

MANY = 1_000_000
CLIENTS = 1000


def test_a_million_keys_share_no_more_than_chance_gives_them() -> None:
    tokens = [new_token() for _ in range(MANY)]
    ids, secrets = (sorted(part) for part in zip(*map(split, tokens), strict=True))
    assert min(tokens)[: len(LABEL)] == max(tokens)[: len(LABEL)] == LABEL
    assert min(tokens)[len(LABEL)] != max(tokens)[len(LABEL)]
    assert len(set(secrets)) == MANY
    # Two equal ids among a million have a chance of 1 in 440; the database refuses the second.
    assert len(set(ids)) >= MANY - 1
    for one, other in pairwise(secrets):
        assert one[:14] != other[:14]


async def test_a_thousand_keys_come_in_at_once(tmp_path: Path) -> None:
    async with gated(tmp_path) as house:
        tokens = [house.key(f"tenant {number % 3}").token for number in range(CLIENTS)]
        async with house.client() as client:

            async def ask(token: str) -> tuple[int, str]:
                answer = await client.post("/v1/x", headers={"authorization": f"Bearer {token}"})
                return answer.status_code, answer.json()["key_id"]

            began = time.monotonic()
            answers = await asyncio.gather(*[ask(token) for token in tokens])
            assert time.monotonic() - began < 10
        assert answers == [(200, split(token)[0]) for token in tokens]
