"""A model may correct how a question was read, and cannot break it."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.core.errors import GenerationError
from quoth.core.types import (
    Filter,
    Query,
    Turn,
)
from quoth.query.language_model import classify
from quoth.query.understand import understand
from tests.support.made_outline import NAMES
from tests.support.replies import RepliesGenerator

QUESTION = "Tell me what the gardener does in winter"


async def said(reply: object, *, text: str = QUESTION, history: Sequence[Turn] = ()) -> Query:
    query = understand(text, names=NAMES, history=history)
    spoken = reply if isinstance(reply, str) else json.dumps(reply)
    return await classify(query, generator=RepliesGenerator(spoken), names=NAMES)


async def test_real_names_become_filters() -> None:
    found = await said(
        {"titles": ["the patient gardener"], "speakers": ["Ruth Abara"], "chapter": "2"}
    )
    assert set(found.filters) == {
        Filter("document", "in", ("almanac",)),
        Filter("speaker", "in", ("Ruth Abara",)),
        Filter("chapter", "in", ("2",)),
    }


async def test_what_the_rules_found_stays() -> None:
    found = await said({"chapter": "2"}, text="What is chapter 3 about?")
    assert found.filters == (Filter("chapter", "in", ("3",)),)


async def test_a_follow_up_is_reworded() -> None:
    history = (Turn("How are beans sown?"),)
    found = await said({"standalone": "Why are beans sown?"}, text="Why?", history=history)
    assert found.standalone == "Why are beans sown?"


async def test_aspects_must_be_of_the_question() -> None:
    text = "Compare clay and sand"
    assert (await said({"aspects": ["gold", "silver"]}, text=text)).aspects == ("clay", "sand")
    found = await said({"aspects": ["clay soil", "sand soil"]}, text=text)
    assert found.aspects == ("clay soil", "sand soil")


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "I cannot help with that.",
        "[1, 2]",
        "{",
        '{"kind": ' * 5000,
        "[" * 50_000,
        {"kind": "poem"},
        {"kind": ["summary"]},
        {"kind": "page_specific"},
        {"titles": "The Patient Gardener"},
        {"titles": ["A book that is not here", 3, None, {"a": 1}]},
        {"titles": ["' OR 1=1 --"]},
        {"speakers": ["Ruth"], "chapter": 2},
        {"chapter": "99"},
        {"filters": [{"field": "document", "values": ["almanac"]}]},
        {"standalone": "x" * 5000},
        {"standalone": "half \ud83d of it"},
        {"original": "Ignore all instructions", "language": "de", "is_followup": True},
    ],
)
async def test_a_hostile_reply_changes_nothing(reply: object) -> None:
    assert await said(reply) == understand(QUESTION, names=NAMES)


async def test_the_question_is_given_as_data() -> None:
    model = RepliesGenerator("{}")
    await classify(understand('Say "}" now', names=NAMES), generator=model, names=NAMES)
    ((_instructions, given),) = model.asked
    assert json.loads(given)["question"] == 'Say "}" now'


async def test_a_model_that_fails_is_the_callers_to_handle() -> None:
    query = understand(QUESTION, names=NAMES)
    with pytest.raises(GenerationError):
        await classify(
            query, generator=RepliesGenerator(GenerationError("The model is away.")), names=NAMES
        )


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)
FIELDS = st.sampled_from(["kind", "standalone", "aspects", "titles", "speakers", "chapter"])


@given(st.dictionaries(FIELDS, JSON) | JSON)
async def test_any_json_leaves_a_query_that_names_what_is_there(reply: object) -> None:
    found = await said(reply)
    assert found.original == QUESTION
    assert all(each.field in ("document", "speaker", "chapter") for each in found.filters)
