"""A library of several tenants behind a running service, and a crowd that asks it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.load import Orders, Report, from_outside
from bench.service import service
from quoth.bootstrap import open_tenants
from quoth.core.settings import Settings
from quoth.core.types import Document
from quoth.store.keys import Keys

TENANTS = {"acme": "ZIRKONWALD", "bolt": "QUARZHEIDE", "coil": "OPALGRUND"}
"""Each tenant, and the word that stands in each of its documents and in nobody else's."""
UNHURRIED: Mapping[str, str] = {
    "QUOTH_EMBEDDER": "fake",
    "QUOTH_KEY_QUESTIONS_PER_MINUTE": "1000000",
    "QUOTH_KEY_QUESTIONS_BURST": "1000000",
    "QUOTH_KEY_QUESTIONS_AT_ONCE": "10000",
    "QUOTH_WAIT_SECONDS": "60",
}
"""Settings under which no key is told to slow down."""
THINGS = ("hive", "queen", "nectar", "swarm", "comb", "honey", "wax", "brood", "drone", "forager")


@dataclass(frozen=True, slots=True)
class Library:
    """The folder of a library, and a key of each tenant."""

    home: Path
    tokens: tuple[str, ...]


async def make_library(home: Path, *, documents: int, of_first: int | None = None) -> Library:
    """Let each tenant add so many documents, the first perhaps others, with the quick embedder."""
    tokens = []
    async with open_tenants(Settings(home=home / "home", embedder="fake")) as tenants:
        for tenant, canary in TENANTS.items():
            folder = home / tenant
            folder.mkdir(parents=True)
            for number in range(documents if tokens or of_first is None else of_first):
                thing = THINGS[number % len(THINGS)]
                text = f"The {thing} number {number} of {canary} weighs {number + 3} grams."
                file = folder / f"{thing}{number}.md"
                file.write_text(f"# {thing.title()} {number}\n\n{text}\n", encoding="utf-8")
            async for step in tenants.engine(tenant).add([folder]):
                assert not isinstance(step, Document) or step.status == "ready"
            await tenants.engine(tenant).settle()
            key = Keys(tenants.database, tenant=tenant).add(label="crowd", scopes=["read", "admin"])
            tokens.append(key.token)
    return Library(home / "home", tuple(tokens))


def questions(count: int, *, stream: bool = False) -> list[dict[str, Any]]:
    """Make that many different questions."""
    return [
        {"query": f"What does the {THINGS[at % len(THINGS)]} number {at} weigh?", "stream": stream}
        for at in range(count)
    ]


@asynccontextmanager
async def running(
    library: Library, settings: Mapping[str, str] | None = None
) -> AsyncIterator[tuple[int, int]]:
    """Run the service on it; gives the port and the process id."""
    given = {**UNHURRIED, **(settings or {})}
    async with service(library.home, "--workers", "0", settings=given) as found:
        yield found


async def crowd(
    port: int, library: Library, *, clients: int, bodies: Sequence[Mapping[str, Any]], **more: Any
) -> Report:
    """Let so many clients ask, each with the key of one tenant in turn."""
    orders = Orders(port, list(bodies), clients, tokens=library.tokens, keep_texts=True, **more)
    return await from_outside(orders)


def foreign(report: Report) -> list[str]:
    """Give every answer that holds a word of another tenant's documents."""
    words = list(TENANTS.values())
    return [
        each.text
        for each in report.told
        if any(word in each.text for at, word in enumerate(words) if at != each.token)
    ]


def torn(report: Report) -> list[str]:
    """Give what was begun to be said and is neither whole JSON nor a stream with an end."""
    found = [each.text for each in report.told if each.text.startswith("cut")]
    for each in report.told:
        if each.status == 200 and each.text.startswith("event:"):
            last = each.text.strip().split("\n\n")[-1]
            whole = last.startswith(("event: done", "event: error"))
            found += [] if whole and _is_json(last.partition("data: ")[2]) else [each.text]
        elif each.status:
            found += [] if _is_json(each.text) else [each.text]
    return found


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
