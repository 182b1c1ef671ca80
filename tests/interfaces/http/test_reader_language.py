"""Errors and warnings are in the language that the client names; without one nothing changes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import pytest_asyncio

from quoth.interfaces.http.responses import answer_for
from tests.support.answers import answer_to
from tests.support.service_client import House, served
from tests.support.small_library import write_sources

pytestmark = pytest.mark.asyncio(loop_scope="module")

FRENCH = {"accept-language": "fr-FR,fr;q=0.9,en;q=0.5"}
ASKED = {"query": "What is said about honey on page 77?"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    folder = tmp_path_factory.mktemp("languages")
    sources = write_sources(folder / "sources")
    (sources / "torn.pdf").write_bytes(b"%PDF-1.4 this is none")
    (sources / "noise.txt").write_bytes(bytes(range(1, 9)) * 500)
    (sources / "old.md").write_bytes("# Thé\n\nDu thé bien fort.\n".encode("cp1252"))
    async with served(folder / "house") as opened:
        await opened.add("ada", sources)
        yield opened


async def test_an_error_is_in_the_readers_language(ada: httpx.AsyncClient) -> None:
    path = "/v1/documents/d_none"
    assert (await ada.get(path, headers=FRENCH)).json()["detail"].startswith("Il n’y a rien ici")
    assert (await ada.get(path)).json()["detail"].startswith("There is nothing here")
    german = {"accept-language": "de"}
    assert (await ada.get(path, headers=german)).json()["detail"].startswith("There is nothing")
    short = await ada.post("/v1/query", json={"query": "?!"}, headers=FRENCH)
    assert short.json()["detail"] == "query\u202f: il faut au moins 3 caractères"


@pytest.mark.parametrize(
    ("asked", "note"),
    [
        ("Was steht auf Seite 77 über Honig?", "Eine Seite 77 gibt es hier nicht"),
        ("¿Qué dice la página 77 sobre la miel?", "Aquí no hay ninguna página 77"),
    ],
)
async def test_a_note_is_in_the_language_of_the_question(
    ada: httpx.AsyncClient, asked: str, note: str
) -> None:
    german = {"accept-language": "de-DE,de;q=0.9,en-US;q=0.8,en;q=0.7"}
    spanish = {"accept-language": "es-ES,es;q=0.9,en;q=0.8"}
    for headers in ({}, {"accept-language": "de,es;q=0.5"}, german, spanish):
        answer = await ada.post("/v1/query", json={"query": asked}, headers=headers)
        assert any(each.startswith(note) for each in answer.json()["warnings"])
    english = {"accept-language": "en"}
    answer = await ada.post("/v1/query", json={"query": asked}, headers=english)
    assert any(each.startswith("There is no page 77") for each in answer.json()["warnings"])


@pytest.mark.parametrize(
    "asked",
    [
        "Wat staat er op pagina 77 over honing?",
        "Cosa dice la pagina 77 del miele?",
        "O que diz a página 77 sobre o mel?",
    ],
)
async def test_a_note_on_a_question_in_a_language_without_sentences_is_in_english(
    ada: httpx.AsyncClient, asked: str
) -> None:
    answer = await ada.post("/v1/query", json={"query": asked})
    assert answer.status_code == 200
    assert answer.json()["query"]["language"] in ("nl", "it", "pt")
    assert answer.json()["warnings"]


KEYS = "document, kind, language, speaker, page, page_number, time, chapter, section, segment, date"


@pytest.mark.parametrize(
    ("path", "body", "english", "french"),
    [
        (
            "/v1/search",
            {"query": "honey", "filters": {"bogus": "x"}},
            f"filters: 'bogus' is not a filter. There are: {KEYS}, and meta.KEY for your own "
            "metadata.",
            f"filters\u202f: «\u202fbogus\u202f» n’est pas un filtre. Il y a\u202f: {KEYS}, et "
            "meta.CLÉ pour vos propres métadonnées.",
        ),
        (
            "/v1/search",
            {"query": "honey", "scope": {"kinds": ["bogus"]}},
            "scope.kinds.0: Input should be 'pdf', 'markdown', 'text', 'html', 'transcript', "
            "'book', 'document', 'slides', 'table', 'notebook', 'code', 'mail' or 'archive'",
            None,
        ),
        (
            "/v1/search",
            {"query": "honey", "top_k": 99},
            "top_k: Input should be less than or equal to 50",
            "top_k\u202f: 50 au plus",
        ),
        (
            "/v1/search",
            {"query": "honey", "history": [{"question": "a"}] * 21},
            "history: it may have up to 20 items",
            "history\u202f: 20 éléments au plus",
        ),
    ],
)
async def test_what_is_wrong_with_a_body_is_told_without_internals(
    ada: httpx.AsyncClient, path: str, body: dict[str, Any], english: str, french: str | None
) -> None:
    assert (await ada.post(path, json=body)).json()["detail"] == english
    if french is not None:
        told = await ada.post(path, json=body, headers=FRENCH)
        assert told.json()["detail"] == french


async def test_a_filter_of_no_kind_is_refused(ada: httpx.AsyncClient) -> None:
    body = {"query": "honey", "filters": {"kind": "bogus"}}
    refused = await ada.post("/v1/search", json=body)
    assert refused.status_code == 422
    assert "'bogus' is not a kind of document. There are: pdf," in refused.json()["detail"]
    told = await ada.post("/v1/search", json=body, headers=FRENCH)
    assert "« bogus » n’est pas un genre" in told.json()["detail"].replace("\u202f", " ")


async def test_a_name_that_no_collection_may_have_is_refused_in_the_readers_language(
    house: House,
) -> None:
    async with house.client(house.key("ada", scopes=("ingest",))) as client:
        made = await client.post("/v1/collections", json={"name": "a/b"}, headers=FRENCH)
    assert "ni barre oblique" in made.json()["detail"]


async def test_warnings_are_in_the_readers_language_also_from_history(
    ada: httpx.AsyncClient,
) -> None:
    plain = (await ada.post("/v1/query", json=ASKED)).json()
    assert any("There is no page 77 here" in each for each in plain["warnings"])
    told = (await ada.post("/v1/query", json=ASKED, headers=FRENCH)).json()
    assert any("Il n’y a pas de page 77" in each for each in told["warnings"])
    streamed = await ada.post("/v1/query", json={**ASKED, "stream": True}, headers=FRENCH)
    assert "Il n’y a pas de page 77" in streamed.text.rpartition("event: done")[2]
    path = f"/v1/queries/{told['query_id']}"
    stored = (await ada.get(path, headers={"accept-language": "en"})).json()["answer"]
    assert any("There is no page 77 here" in each for each in stored["warnings"])


@pytest.mark.parametrize(
    ("language", "said"),
    [("fr", "Il n’est pas certain"), ("en", "It is not certain"), (None, "It is not certain")],
)
async def test_an_answer_that_may_be_none_says_so_to_every_client(
    language: str | None, said: str
) -> None:
    doubtful = answer_to("Why?", citations=("c",), model=None, confidence=0.2)
    (warning,) = answer_for(doubtful, language).warnings
    assert warning.startswith(said)


async def test_what_is_wrong_with_a_document_is_in_the_readers_language(
    ada: httpx.AsyncClient,
) -> None:
    listed = (await ada.get("/v1/documents?limit=100", headers=FRENCH)).json()["documents"]
    failed = {each["source"].rpartition("/")[2]: each["error"] for each in listed if each["error"]}
    assert "est abîmé" in failed["torn.pdf"]["message"]
    assert "données binaires, ou texte" in failed["noise.txt"]["message"]
    assert "texte brut" in failed["noise.txt"]["message"]
    warned = next(each for each in listed if each["warnings"])
    assert "il a été lu comme Windows-1252" in warned["warnings"][0]
