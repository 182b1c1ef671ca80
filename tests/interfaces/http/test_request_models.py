"""A request may name a language model and a profile that the settings allow, and no others."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from quoth.backends.states import check_parts
from quoth.core.errors import ConfigError
from quoth.core.settings import Settings
from quoth.testing import ScriptedGenerator
from tests.support.service_client import House, served
from tests.support.small_library import write_sources

QUESTION = "How does a colony stay warm in winter?"


class Other(ScriptedGenerator):
    """A further language model, on another machine."""

    provider, model, endpoint, local = "other", "large", "models.example.com", False


@pytest_asyncio.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    sources = write_sources(tmp_path / "sources")
    async with served(tmp_path / "house", request_profiles="documents, book") as opened:
        await opened.add("ada", sources)
        engine = opened.tenants.engine("ada")
        usual, other = ScriptedGenerator("Usual. [1]"), Other("Other. [1]")
        engine.parts = replace(engine.parts, generator=usual, request_models=(other,))
        yield opened


async def ask(ada: httpx.AsyncClient, **body: Any) -> httpx.Response:
    return await ada.post("/v1/query", json={"query": QUESTION, "cache": "exact", **body})


async def test_the_named_model_writes(house: House) -> None:
    async with house.client(house.key("ada")) as ada:
        about = (await ada.get("/v1/service")).json()
        assert about["language_models"] == ["other:large"]
        parts = house.tenants.engine("ada").parts
        asked = []
        for body in ({}, {"llm": "other:large"}, {"llm": "none"}, {"llm": "other"}):
            assert (await ask(ada, **body)).status_code == 200
            models = (parts.generator, *parts.request_models)
            asked.append([len(each.told) for each in models if isinstance(each, ScriptedGenerator)])
        assert asked == [[1, 0], [1, 1], [1, 1], [1, 2]]
        assert (await ask(ada, llm="openai:gpt")).status_code == 422


async def test_a_named_profile_has_its_defaults_of_a_query(house: House) -> None:
    async with house.client(house.key("ada")) as ada:
        about = (await ada.get("/v1/service")).json()
        assert about["profiles"] == ["default", "documents", "book"]
        answer = (await ask(ada, profile="documents", llm="none")).json()
        assert answer["profile"] == "documents"
        refused = await ask(ada, profile="lecture")
        assert refused.status_code == 422
        assert "default, documents, book" in refused.text


async def test_privacy_binds_a_named_model(house: House) -> None:
    async with house.client(house.key("ada")) as ada:
        places = (await ada.get("/v1/privacy")).json()["leaves"]
        assert "models.example.com" in {each["to"] for each in places}
        wanted = {"history": "full", "retention_days": 90, "may_leave": False}
        await ada.put("/v1/privacy", json=wanted)
        assert (await ask(ada, llm="other")).json()["provider"] is None
        (other,) = house.tenants.engine("ada").parts.request_models
        assert isinstance(other, Other)
        assert other.told == []


@pytest.mark.parametrize(
    ("chosen", "words"),
    [({"request_llms": "openai"}, "OPENAI_API_KEY"), ({"request_llms": "x"}, "no generator 'x'")],
)
def test_a_model_that_cannot_be_named_stops_the_start(chosen: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        check_parts(Settings(embedder="fake", **chosen))
