"""Three tenants with the same texts but for a word of their own, and thousands of odd requests.

Whatever one of them asks, whosever ids it names, no byte of an answer may hold the word of
another.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from quoth.store.keys import SCOPES, Keys
from tests.support.service_client import served

WORDS = {"ada": "kestrelnine", "bob": "plovernine", "cleo": "wagtailnine"}
"""The word that stands in every text, title and question of each tenant."""

TEXT = """# Keeping bees, a {word} handbook

## Winter

In winter the colony of the {word} gathers around the queen and shivers to keep warm.
A strong {word} colony needs fifteen kilograms of honey to live until spring.

## Swarms

A {word} colony swarms when the hive becomes too small. The old queen leaves with half of it.
"""
QUESTIONS = (
    "How much honey does a colony need?",
    "When does a colony swarm?",
    "What does the colony do in winter?",
    "What is the handbook about?",
    "What did the handbook say about {word}?",
    "Combien de miel faut-il à une colonie ?",
)


@dataclass
class Town:
    """The application, the keys of its tenants, and every id that any of them has."""

    client: httpx.AsyncClient
    keys: dict[str, str]
    ids: dict[str, list[str]] = field(default_factory=dict)

    def headers(self, tenant: str) -> dict[str, str]:
        """What a tenant sends along."""
        return {"Authorization": f"Bearer {self.keys[tenant]}"}

    def learn(self, found: Any) -> None:
        """Take up every id in an answer, for anybody to ask for later."""
        for name, value in _ids_in(found):
            known = self.ids.setdefault(name, [])
            if value not in known:
                known.append(value)
            del known[:-60]


def _ids_in(value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, each in value.items():
            if isinstance(each, str) and (name == "id" or name.endswith("_id")):
                yield name, each
            yield from _ids_in(each)
    elif isinstance(value, list):
        for each in value:
            yield from _ids_in(each)


@asynccontextmanager
async def open_town(home: Path) -> AsyncIterator[Town]:
    """A service with three tenants, each with two documents in two collections."""
    async with served(home) as house:
        keys = {}
        for tenant, word in WORDS.items():
            file = home.parent / f"{tenant}-{word}.md"
            file.write_text(TEXT.format(word=word), encoding="utf-8")
            for collection in ("default", "shared"):
                await house.add(tenant, file, collection=collection)
            made = Keys(house.tenants.database, tenant=tenant).add(label=word, scopes=SCOPES)
            keys[tenant] = made.token
        transport = httpx.ASGITransport(app=house.app, raise_app_exceptions=False)
        async with (
            httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client,
            house.working(),
        ):
            yield Town(client, keys)


SPARED = {
    *("delete /v1/privacy/data", "delete /v1/keys/{key_id}", "delete /v1/collections/{name}"),
    *("get /v1/uploads/{upload_id}/events", "get /v1/sessions/{session_id}/events"),
}
"""What would end the game, or wait for files and words that nobody goes on sending."""
RARE = {"delete", "put"}
"""Done now and then, so that something is left to ask for."""
SLOW = {"/v1/privacy/purge"}
"""Done now and then too: it lets questions under way end with the files that it replaces."""
COLLECTIONS = ("default", "shared", "nowhere")


class Player:
    """Makes requests at random, from what the service says of itself; the same ones for a seed."""

    def __init__(self, town: Town, description: dict[str, Any], *, seed: int) -> None:
        self._town = town
        self._random = random.Random(seed)
        self.outcomes: Counter[int] = Counter()
        self._schemas = description["components"]["schemas"]
        self._operations = [
            (method, path, operation)
            for path, methods in description["paths"].items()
            for method, operation in methods.items()
            if f"{method} {path}" not in SPARED
        ]

    async def play(self, rounds: int, *, said: Callable[[], str]) -> None:
        """Make that many requests; ``said`` gives what was logged since it was last asked."""
        while (done := self.outcomes.total()) < rounds:
            if done % 200 == 199:
                await self._refill(done)
            tenant = self._random.choice(list(WORDS))
            method, path, operation = self._random.choice(self._operations)
            if (method in RARE or path in SLOW) and self._random.random() < 0.95:
                continue
            if path != "/v1/query" and self._random.random() < 0.2:
                continue
            answer = await self._ask(tenant, method, path, operation)
            others = [word for owner, word in WORDS.items() if owner != tenant]
            self.outcomes[answer.status_code] += 1
            seen = answer.content.decode("utf-8", "replace") + repr(answer.headers)
            where = f"{tenant}: {method} {path}: {answer.status_code}"
            # A process that was held up for a second says so where it is asked whether it is ready.
            held_up = (path, answer.status_code) == ("/readyz", 503)
            assert answer.status_code < 500 or held_up, where + seen
            assert not [word for word in others if word in seen], where + seen
            assert not [word for word in WORDS.values() if word in said()], where
            if answer.headers.get("content-type") == "application/json":
                self._town.learn(answer.json())

    async def _refill(self, number: int) -> None:
        """Send every tenant's text again, as another file: some were deleted on the way."""
        for tenant, word in WORDS.items():
            await self._town.client.post(
                "/v1/uploads",
                params={"name": f"{number}.md", "title": f"The {word} handbook {number}"},
                headers=self._town.headers(tenant),
                content=TEXT.format(word=word).encode(),
            )

    async def _ask(
        self, tenant: str, method: str, path: str, operation: dict[str, Any]
    ) -> httpx.Response:
        query = {}
        for each in operation.get("parameters", ()):
            name, value = each["name"], self._value(each["name"], each["schema"])
            if each["in"] == "path":
                path = path.replace("{" + name + "}", str(value))
            elif each["in"] == "query" and self._random.random() < 0.5:
                query[name] = value
        content = operation.get("requestBody", {}).get("content", {})
        body = content.get("application/json")
        given: dict[str, Any] = {}
        if body is not None:
            given["json"] = self._value("body", body["schema"])
        elif content:
            given["content"] = TEXT.format(word=WORDS[tenant]).encode()
        return await self._town.client.request(
            method.upper(), path, params=query, headers=self._town.headers(tenant), **given
        )

    def _value(self, name: str, schema: dict[str, Any]) -> Any:
        pick = self._random.choice
        if "$ref" in schema:
            return self._value(name, self._schemas[schema["$ref"].rpartition("/")[2]])
        for union in ("anyOf", "oneOf", "allOf"):
            if union in schema:
                return self._value(name, pick(schema[union]))
        if "enum" in schema or "const" in schema:
            return pick(schema.get("enum") or [schema["const"]])
        match schema.get("type"):
            case "object":
                wanted = set(schema.get("required", ()))
                return {
                    each: self._value(each, kind)
                    for each, kind in schema.get("properties", {}).items()
                    if each in wanted or self._random.random() < 0.15
                }
            case "array":
                return [self._value(name.removesuffix("s"), schema.get("items", {}))]
            case "integer" | "number":
                low = schema.get("minimum", schema.get("exclusiveMinimum", 1))
                return min(low + 1, schema.get("maximum", low + 1))
            case "boolean":
                return pick([True, False])
            case "null":
                return None
            case _:
                return self._text(name)

    def _text(self, name: str) -> str:
        pick = self._random.choice
        known = self._town.ids
        if name in ("collection", "name", "collections"):
            return pick(COLLECTIONS)
        if name in ("query", "question", "text", "content", "q", "prefix"):
            return pick(QUESTIONS).format(word=pick(list(WORDS.values())).removesuffix("nine"))
        if name in known and self._random.random() < 0.9:
            return pick(known[name])
        ids = [each for values in known.values() for each in values]
        return pick(ids) if ids else "nothing"
