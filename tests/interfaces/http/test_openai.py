"""The door for clients of OpenAI, asked by the official client over a real socket."""

from __future__ import annotations

import asyncio
import json
from base64 import b64decode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from struct import unpack
from typing import Any

import httpx
import openai
import pytest
import pytest_asyncio
from openai import AsyncOpenAI

from quoth.core.errors import Denied, GenerationError
from quoth.core.protocols import Generator
from quoth.interfaces.http.openai_schemas import problem_for_path
from quoth.interfaces.http.problem_details import problem
from quoth.pipeline.answer_cache import AnswerCache
from quoth.testing import ScriptedGenerator
from tests.support.socket_service import House, open_house, serving

DATA = Path(__file__).parents[2] / "data"
HONEY = "What is honey made from?"
ASKED: Any = [{"role": "user", "content": HONEY}]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    async with open_house(tmp_path_factory.mktemp("openai")) as opened:
        yield opened


pytestmark = pytest.mark.asyncio(loop_scope="module")


def client(house: House, key: str = "ada") -> AsyncOpenAI:
    return AsyncOpenAI(api_key=house.keys.get(key, key), base_url=f"{house.url}/v1", max_retries=0)


@asynccontextmanager
async def writing(house: House, generator: Generator) -> AsyncIterator[None]:
    """Let Ada's engine write with this model for a while."""
    engine = house.tenants.engine("ada")
    parts = engine.parts
    engine.parts = replace(parts, generator=generator, cache=AnswerCache())
    try:
        yield
    finally:
        engine.parts = parts


async def test_an_answer_has_links_in_its_text_and_its_proof_beside_it(house: House) -> None:
    async with client(house) as api:
        found = await api.chat.completions.create(model="quoth/bees", messages=ASKED)
    text = found.choices[0].message.content
    assert text is not None
    assert "carry home in their stomachs." in text
    assert text.endswith(". [1](https://www.youtube.com/watch?v=aaaaaaaaaaa&t=12)")
    proof = found.model_dump()["quoth"]
    assert proof["status"] == "answered"
    assert proof["query_id"].startswith("q_")
    assert proof["citations"][0]["snippet"] in text
    assert proof["sources"][0]["numbers"] == [1]
    assert found.usage is not None
    assert found.usage.total_tokens == 0


async def streamed(house: House, question: str) -> str:
    async with client(house) as api:
        stream = await api.chat.completions.create(
            model="quoth/bees", messages=[{"role": "user", "content": question}], stream=True
        )
        return "".join([each.choices[0].delta.content or "" async for each in stream])


async def test_a_document_without_an_address_is_linked_by_its_id(house: House) -> None:
    async with client(house) as api:
        found = await api.chat.completions.create(
            model="quoth/bees", messages=[{"role": "user", "content": "When does a colony swarm?"}]
        )
    text = found.choices[0].message.content or ""
    assert f"]({house.url}/d/" in text
    assert await streamed(house, "When does a colony swarm?") == text
    assert "file:" not in found.model_dump_json()
    assert str(house.tenants.settings.home) not in found.model_dump_json()


async def test_a_stream_is_the_same_answer(house: House) -> None:
    model = ScriptedGenerator("Honey is made from nectar. [Source 1]", " It is thick. [Source 1]")
    async with writing(house, model), client(house) as api:
        stream = await api.chat.completions.create(
            model="quoth/bees",
            messages=ASKED,
            stream=True,
            stream_options={"include_usage": True},
        )
        chunks = [each async for each in stream]
        whole = await api.chat.completions.create(model="quoth/bees", messages=ASKED)
    choices = [each.choices[0] for each in chunks if each.choices]
    assert choices[0].delta.role == "assistant"
    text = "".join(each.delta.content or "" for each in choices)
    assert text == whole.choices[0].message.content
    assert "nectar. [1](" in text
    assert choices[-1].finish_reason == "stop"
    assert chunks[-2].model_dump()["quoth"]["citations"]
    usage = chunks[-1].usage
    assert usage is not None
    assert usage.completion_tokens > 0
    assert usage.prompt_tokens > 0
    assert len({each.id for each in chunks}) == 1


INVENTED = ("Transfer learning was invented in 1843 [Source 1].", " Ada Lovelace did it.")


@pytest.mark.parametrize(
    "pieces", [INVENTED, (*INVENTED, " Honey is made from nectar. [Source 1]")], ids=["all", "part"]
)
async def test_what_a_stream_calls_kept_stays(house: House, pieces: tuple[str, ...]) -> None:
    headers = {"Authorization": f"Bearer {house.keys['ada']}"}
    body = {"query": HONEY, "collection": "bees", "stream": True}
    async with (
        writing(house, ScriptedGenerator(*pieces)),
        httpx.AsyncClient(base_url=house.url, headers=headers) as http,
    ):
        sent = (await http.post("/v1/query", json=body)).text
    events = [json.loads(line[6:]) for line in sent.splitlines() if line.startswith("data: ")]
    text = events[-1]["answer"]["text"]
    shown = "".join(event["text"] for event in events if event["event"] == "token")
    assert shown.split() == text.split()
    assert not [event for event in events if event["event"] == "replaced"]
    verified = [event for event in events if event["event"] == "verification"]
    assert verified
    for event in verified:
        assert event["kept"] is (event["text"] in text)


async def test_a_stream_begins_before_the_model_is_done(house: House) -> None:
    model = ScriptedGenerator(
        "Honey is made from nectar. [Source 1] ", *["It is thick. [Source 1] "] * 5, pause_s=0.1
    )
    clock = asyncio.get_running_loop().time
    async with writing(house, model), client(house) as api:
        stream = await api.chat.completions.create(model="quoth/bees", messages=ASKED, stream=True)
        times = [clock() async for each in stream if each.choices and each.choices[0].delta.content]
    assert times[-1] - times[0] > 0.2


async def test_a_model_that_fails_leaves_the_sources_own_words_and_says_so(house: House) -> None:
    async with writing(house, ScriptedGenerator(GenerationError("gone"))), client(house) as api:
        found = await api.chat.completions.create(model="quoth/bees", messages=ASKED)
    assert found.model_dump()["quoth"]["degraded"]
    assert ". [1](" in (found.choices[0].message.content or "")
    assert "*Note: " in (found.choices[0].message.content or "")


async def test_earlier_turns_are_read_and_systems_are_not(house: House) -> None:
    model = ScriptedGenerator("Fifteen kilograms. [Source 1]")
    messages: Any = [
        {"role": "system", "content": "XSYSTEMX: answer as a pirate."},
        {"role": "user", "content": "What does a strong colony need until spring?"},
        {"role": "assistant", "content": "Honey. [1](http://127.0.0.1/v1/documents/x#y)"},
        {"role": "user", "content": [{"type": "text", "text": "How much of it?"}]},
    ]
    async with writing(house, model), client(house) as api:
        found = await api.chat.completions.create(model="quoth/bees", messages=messages)
    told = "\n".join(each.text for each in model.told[0])
    assert "XSYSTEMX" not in told
    assert "strong colony" in told
    assert "documents/x" not in told
    assert found.choices


async def test_models_are_the_callers_collections(house: House) -> None:
    async with client(house) as ada, client(house, "bob") as bob, client(house, "guest") as guest:
        assert [e.id async for e in await ada.models.list()] == [
            "quoth",
            "quoth/bees",
            "quoth/default",
        ]
        assert [e.id async for e in await bob.models.list()] == ["quoth", "quoth/default"]
        assert [e.id async for e in await guest.models.list()] == ["quoth", "quoth/bees"]
        assert (await ada.models.retrieve("quoth/bees")).owned_by == "quoth"
        assert (await guest.chat.completions.create(model="quoth", messages=ASKED)).choices


@pytest.mark.parametrize("model", ["gpt-4o", "quoth/", "quoth/nowhere", "quothx", "quoth/bees/x"])
async def test_an_unknown_model_is_told_alike_whoever_owns_it(house: House, model: str) -> None:
    said = []
    for key, name in (("ada", model), ("bob", "quoth/bees"), ("guest", "quoth/default")):
        async with client(house, key) as api:
            with pytest.raises(openai.NotFoundError) as caught:
                await api.chat.completions.create(model=name, messages=ASKED)
            assert caught.value.code == "model_not_found"
            with pytest.raises((openai.NotFoundError, ValueError)):
                await api.models.retrieve(name)
            said.append(caught.value.body)
    assert said[0] == said[1] == said[2]
    async with client(house).with_options(default_headers={"accept-language": "fr"}) as api:
        with pytest.raises(openai.NotFoundError, match="Ce modèle n’existe pas ici"):
            await api.chat.completions.create(model=model, messages=ASKED)


@pytest.mark.parametrize(
    ("given", "status", "param"),
    [
        ({"n": 2}, 400, "n"),
        ({"temperature": 3}, 400, "temperature"),
        ({"max_tokens": 0}, 400, "max_tokens"),
        ({"logprobs": True}, 400, "logprobs"),
        ({"modalities": ["audio"]}, 400, "modalities.0"),
        ({"messages": []}, 400, "messages"),
        ({"messages": [{"role": "system", "content": "x"}]}, 400, None),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, 400, None),
        ({"messages": [{"role": "king", "content": "x"}]}, 400, "messages.0.role"),
        ({"model": 7}, 400, "model"),
        ({"stream": True, "messages": [{"role": "user", "content": " "}]}, 400, None),
    ],
)
async def test_what_cannot_be_done_is_refused_in_openais_words(
    house: House, given: dict[str, Any], status: int, param: str | None
) -> None:
    body = {"model": "quoth/bees", "messages": ASKED, **given}
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {house.keys['ada']}"}) as http:
        found = await http.post(f"{house.url}/v1/chat/completions", json=body)
    assert found.status_code == status
    error = found.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert error["type"] == "invalid_request_error"
    assert error["param"] == param
    assert error["message"]


async def test_fields_without_an_effect_are_taken_and_named(house: House) -> None:
    async with client(house) as api:
        found = await api.chat.completions.create(
            model="quoth/bees",
            messages=ASKED,
            response_format={"type": "text"},
            extra_body={"top_k": 40, "chat_template_kwargs": {"x": 1}, "user": "me"},
        )
    (warning,) = found.model_dump()["quoth"]["warnings"]
    assert "chat_template_kwargs, top_k" in warning


SCHEMA: Any = {
    "type": "json_schema",
    "json_schema": {"name": "a", "schema": {"type": "object", "required": ["made_from"]}},
}


async def test_json_is_written_by_a_model_from_the_checked_answer(house: House) -> None:
    model = ScriptedGenerator('```json\n{"made_from": "nectar"}\n```')
    async with writing(house, model), client(house) as api:
        create = partial(api.chat.completions.create, model="quoth/bees", messages=ASKED)
        whole: Any = await create(response_format=SCHEMA)
        pieces: Any = await create(response_format={"type": "json_object"}, stream=True)
        streamed = [piece async for piece in pieces]
    assert json.loads(whole.choices[0].message.content) == {"made_from": "nectar"}
    assert whole.model_dump()["quoth"]["citations"]
    assert json.loads(streamed[0].choices[0].delta.content) == {"made_from": "nectar"}
    assert streamed[-1].model_dump()["quoth"]["citations"]


class MixedGenerator(ScriptedGenerator):
    """Writes a sentence that the sources say and one that they do not, then JSON."""

    def __init__(self) -> None:
        super().__init__(
            "Honey is made from nectar. [Source 1]", " Honey cures the plague. [Source 1]"
        )
        self.given: list[str] = []

    async def complete(self, system: str, user: str, *, max_tokens: int) -> str:
        self.given.append(user)
        return '{"made_from": "nectar"}'


async def test_json_of_a_mixed_answer_is_written_from_its_supported_part(house: House) -> None:
    model = MixedGenerator()
    async with writing(house, model), client(house) as api:
        found: Any = await api.chat.completions.create(
            model="quoth/bees", messages=ASKED, response_format=SCHEMA
        )
    assert json.loads(found.choices[0].message.content) == {"made_from": "nectar"}
    (given,) = model.given
    assert "nectar" in given
    assert "plague" not in given


async def test_json_without_a_model_or_with_one_that_writes_none_is_refused(house: House) -> None:
    async with client(house) as api:
        create = partial(api.chat.completions.create, model="quoth/bees", messages=ASKED)
        with pytest.raises(openai.BadRequestError, match="no language model") as refused:
            await create(response_format=SCHEMA)
        assert (refused.value.param, refused.value.code) == (
            "response_format",
            "unsupported_response_format",
        )
        async with writing(house, ScriptedGenerator('{"other": 1}')):
            with pytest.raises(openai.BadRequestError, match="wrote no such JSON") as unwritten:
                await create(response_format=SCHEMA)
            assert unwritten.value.param == "response_format"
            assert "retry-after" not in unwritten.value.response.headers


@pytest.mark.parametrize("form", ["float", "base64"])
async def test_texts_are_embedded_as_openais_clients_expect(house: House, form: Any) -> None:
    async with client(house) as api:
        texts = ["Honey is made from nectar.", "Bees swarm in May."]
        found = await api.embeddings.create(model="quoth", input=texts, encoding_format=form)
        one = await api.embeddings.create(model=found.model, input=texts[0])
    vectors = [
        list(unpack(f"<{len(b64decode(row.embedding)) // 4}f", b64decode(row.embedding)))
        if isinstance(row.embedding, str)
        else row.embedding
        for row in found.data
    ]
    assert vectors[0] == pytest.approx(one.data[0].embedding, abs=1e-5)
    assert vectors[0] != vectors[1]
    assert [row.index for row in found.data] == [0, 1]
    assert found.usage.total_tokens > one.usage.total_tokens > 0


@pytest.mark.parametrize(
    ("given", "error", "param"),
    [
        ({"model": "text-embedding-3-small"}, openai.NotFoundError, "model"),
        ({"input": [[1, 2]]}, openai.BadRequestError, "input"),
        ({"input": []}, openai.BadRequestError, "input"),
        ({"input": ["Honey"] * 257}, openai.BadRequestError, "input"),
        ({"input": "x" * 40_001}, openai.BadRequestError, "input.0"),
        ({"dimensions": 3}, openai.BadRequestError, None),
    ],
)
async def test_what_cannot_be_embedded_is_refused_in_openais_words(
    house: House, given: dict[str, Any], error: type[openai.APIStatusError], param: str | None
) -> None:
    async with client(house) as api:
        with pytest.raises(error) as refused:
            await api.embeddings.create(**{"model": "quoth", "input": "Honey", **given})
    assert refused.value.param == param


@pytest.mark.parametrize("texts", ["", [], ["Honey", ""]])
async def test_no_text_to_embed_is_one_sentence(house: House, texts: Any) -> None:
    async with client(house) as api:
        with pytest.raises(openai.BadRequestError) as refused:
            await api.embeddings.create(model="quoth", input=texts)
    assert refused.value.body["message"] == (  # type: ignore[index]
        "input: send at least one text, and none that is empty"
    )


@pytest.mark.parametrize(
    ("content", "says"),
    [("", "The question is empty"), ([{"type": "image_url"}], "A question is text: images")],
)
async def test_an_empty_question_is_not_called_a_picture(
    house: House, content: Any, says: str
) -> None:
    async with client(house) as api:
        with pytest.raises(openai.BadRequestError, match=says):
            await api.chat.completions.create(
                model="quoth/bees", messages=[{"role": "user", "content": content}]
            )


RECORDED = json.loads((DATA / "requests" / "chat_clients.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", RECORDED)
async def test_no_recorded_request_of_a_chat_client_is_refused(house: House, name: str) -> None:
    headers = {"Authorization": f"Bearer {house.keys['ada']}"}
    async with (
        writing(house, ScriptedGenerator('{"answer": "Honey is made from nectar."}')),
        httpx.AsyncClient(base_url=house.url, headers=headers) as http,
    ):
        for request in RECORDED[name]:
            found = await http.request(
                request.get("method", "POST"), request["path"], json=request.get("body")
            )
            assert found.status_code == 200, (request, found.text)


@pytest.mark.parametrize("text", ["hi", "a", f"{'Bees make honey. ' * 200}{HONEY}"])
async def test_short_and_long_messages_are_answered(house: House, text: str) -> None:
    async with client(house) as api:
        found = await api.chat.completions.create(
            model="quoth/bees", messages=[{"role": "user", "content": text}]
        )
    assert found.choices[0].message.content


async def test_an_image_in_the_history_ends_no_conversation(house: House) -> None:
    picture: Any = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    messages: Any = [
        {"role": "user", "content": [picture, {"type": "text", "text": "What is this?"}]},
        {"role": "assistant", "content": "A bee."},
        *ASKED,
    ]
    async with client(house) as api:
        found = await api.chat.completions.create(model="quoth/bees", messages=messages)
    assert "image_url" in found.model_dump()["quoth"]["warnings"][0]
    assert found.model_dump()["quoth"]["status"] == "answered"


@pytest.mark.parametrize(
    ("key", "value"), [("title", "How is honey made by bees"), ("tags", []), ("follow_ups", [])]
)
async def test_the_prompts_of_a_chat_program_are_answered_plainly(
    house: House, key: str, value: Any
) -> None:
    prompt = (
        f'### Task:\nGenerate {key} for the chat.\n### Output:\nJSON format: {{ "{key}": ... }}\n'
        "### Chat History:\n<chat_history>\nUSER: How is honey made by bees in winter?\n"
        "ASSISTANT: From nectar.\n</chat_history>"
    )
    messages: Any = [{"role": "user", "content": prompt}]
    async with client(house) as api:
        whole = await api.chat.completions.create(model="quoth", messages=messages)
        stream = await api.chat.completions.create(model="quoth", messages=messages, stream=True)
        pieces = [each.choices[0].delta.content or "" async for each in stream]
    assert json.loads(whole.choices[0].message.content or "") == {key: value}
    assert "".join(pieces) == whole.choices[0].message.content


async def test_store_false_keeps_nothing(house: House) -> None:
    catalogue = house.tenants.engine("ada").parts.catalogue
    async with client(house) as api:
        for store in (False, True):
            found = await api.chat.completions.create(
                model="quoth/bees", messages=ASKED, store=store
            )
            key = found.model_dump()["quoth"]["query_id"]
            assert (key in {each.query_id for each in catalogue.asked(limit=50)}) is store


async def test_behind_the_gate_the_owner_needs_no_key_and_a_wrong_one_opens_nothing(
    house: House,
) -> None:
    own = {"tenant": "ada", "hosts": "", "keys_needed": "never"}
    settings = house.tenants.settings.model_copy(update=own)
    async with serving(house.tenants, settings=settings) as url:
        async with AsyncOpenAI(api_key="any", base_url=f"{url}/v1", max_retries=0) as api:
            found = await api.chat.completions.create(model="quoth/bees", messages=ASKED)
            assert found.model_dump()["quoth"]["status"] == "answered"
        wrong = f"qth_{'a' * 8}_{'b' * 43}"
        async with AsyncOpenAI(api_key=wrong, base_url=f"{url}/v1", max_retries=0) as api:
            with pytest.raises(openai.AuthenticationError):
                await api.models.list()


async def test_a_refusal_before_the_routes_can_be_told_in_openais_words() -> None:
    refusal = Denied("No key.", status=401)
    found = problem(refusal, request_id="r")
    told = problem_for_path("/v1/models/quoth/bees", found, refusal)
    assert json.loads(told.body)["error"]["type"] == "authentication_error"
    assert told.headers["www-authenticate"] == "Bearer"
    assert problem_for_path("/v1/query", found, refusal) == found
