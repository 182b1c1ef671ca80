"""A page of the web becomes a document whose citations lead to it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from quoth.add import Given
from quoth.errors import InputError
from quoth.outside.visit import fetch_all, is_address
from quoth.settings import Settings
from quoth.types import Document
from tests.test_outbound import moved, open_world, page
from tests.tour import open_tour

TEXT = b"<title>Bees</title><main><h1 id=queen>Queens</h1><p>A beehive has one queen, named Ada."


async def test_a_page_is_added_and_cited_by_its_address(tmp_path: Path) -> None:
    chosen = Settings(home=tmp_path / "home", chunk_tokens=32, allow_urls=True)
    async with open_world() as world, open_tour(tmp_path / "home", settings=chosen) as engine:
        world.pages["/"] = moved("/bees")
        world.pages["/bees"] = page(TEXT)
        for _ in range(2):  # what has not changed is there once
            files = await fetch_all(
                engine.parts,
                ["http://bees.example/"],
                given=Given(),
                resolve=world.resolve,
                connect=world.connect,
            )
            steps = engine.add(list(files), given=replace(Given(), files=files))
            documents = [step async for step in steps if isinstance(step, Document)]
        (document,) = documents
        assert (document.status, document.title) == ("unchanged", "Bees")
        answer = await engine.answer("How many queens has a beehive?")
    assert answer.citations[0].link == "http://bees.example/bees#queen"


async def test_nothing_is_fetched_where_it_is_off(tmp_path: Path) -> None:
    async with open_tour(tmp_path / "home") as engine:
        with pytest.raises(InputError, match="QUOTH_ALLOW_URLS"):
            await fetch_all(engine.parts, ["http://127.0.0.1/"], given=Given())


def test_what_is_an_address() -> None:
    assert is_address("HTTPS://example.org")
    assert not is_address("notes/https:.md")
