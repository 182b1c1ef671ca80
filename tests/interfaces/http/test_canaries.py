"""No byte of one tenant's texts reaches another, whatever is asked."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest

from tests.support.leak_canaries import Player, open_town


@pytest.fixture
def log() -> Iterator[StringIO]:
    written = StringIO()
    root, line = logging.getLogger(), logging.StreamHandler(written)
    before = root.level
    root.addHandler(line)
    root.setLevel(logging.DEBUG)
    client = logging.getLogger("httpx")  # the player's own: what it asks for is its own word
    client.setLevel(logging.WARNING)
    yield written
    root.removeHandler(line)
    root.setLevel(before)
    client.setLevel(logging.NOTSET)


@pytest.mark.parametrize(
    ("rounds", "seed", "served"),
    [(100, 1, 25), pytest.param(10_000, 7, 3_000, marks=pytest.mark.soak)],
)
async def test_three_tenants_and_many_odd_requests(
    tmp_path: Path, log: StringIO, rounds: int, seed: int, served: int
) -> None:
    found = await play(tmp_path, log, rounds=rounds, seed=seed)
    assert found[200] > served


async def play(folder: Path, log: StringIO, *, rounds: int, seed: int) -> Counter[int]:
    """Make the requests; gives how many had each status."""
    async with open_town(folder / "home") as town:
        described = await town.client.get("/openapi.json", headers=town.headers("ada"))
        assert described.status_code == 200, described.text
        player = Player(town, described.json(), seed=seed)
        await player.play(rounds, said=lambda: _taken(log))
        return player.outcomes


def _taken(log: StringIO) -> str:
    said = log.getvalue()
    log.seek(0)
    log.truncate()
    return said
