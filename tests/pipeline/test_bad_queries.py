"""Questions nobody should ask, and somebody does: a clear sentence or an answer, no traceback."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from quoth.bootstrap import open_engine
from quoth.core.errors import InputError
from quoth.core.settings import Settings
from quoth.core.types import Answer
from quoth.engine import Engine
from quoth.pipeline.retrieve import Request
from tests.support.cli import quoth, quoth_process

REFUSED = {
    "nothing": ("", "is empty"),
    "white space": (" \t\n ", "is empty"),
    "two characters": ("ab", "at least 3"),
    "5,000 characters": ("word " * 1000, "the limit is 1,000"),
    "only punctuation": ("?!... --- ***", "no letter and no digit"),
    "only emoji": ("\U0001f41d\U0001f36f\U0001f44d\U0001f3fd", "no letter and no digit"),
    "NUL": ("what is\x00this", "U+0000"),
    "an escape sequence": ("what is \x1b[31mred\x1b[0m", "U+001B"),
    "a lone high surrogate": ("what is \ud83d this", "an incomplete character"),
    "a lone low surrogate": ("what is \udce9 this", "an incomplete character"),
}

ASKED = {
    "only stop words": "what is the of and to be",
    "the syntax of a full-text search": 'what is C++? "AND" OR *',
    "unbalanced quotes": 'what is a "tokenizer',
    "operators": "NEAR(token model, 3) AND NOT title:x^2 -y ~z (((",
    "SQL": "'; DROP TABLE documents; -- what is a token",
    "wildcards": "tok% t_k* [a-z]+ {1,3} \\",
    "a format string": "%s %d {0} ${home} what is a token",
    "markup": "[bold red]what[/] is [/] a [token]",
    "from the right": "\u05de\u05d4\u05d5 \u05d8\u05e8\u05e0\u05e1\u05e4\u05d5\u05e8\u05de\u05e8?",
    "the other way round": "what is \u202ea token\u202c",
    "Japanese": "\u30c8\u30fc\u30af\u30f3\u3068\u306f\u4f55\u3067\u3059\u304b",
    "accents on their own": "e\u0301te\u0301 \u0301\u0301\u0301 token",
    "zero width": "to\u200bken\u200d \ufeffmodel",
    "one long word": "t" * 1000,
    "a thousand characters": ("token " * 200)[:1000],
    "lines": "what\nis\r\na\ttoken",
    "digits": "12345 67890",
    "letters far out": "\U0001d4e3\U0001d4f8\U0001d4f4\U0001d4ee\U0001d4f7 \U00020000\U00020001",
    "pages without end": "page 99999999999999999999 to page 3 of pages mmmm-i",
}


@pytest.fixture
async def engine(sample_home: Path) -> AsyncIterator[Engine]:
    async with open_engine(Settings(home=sample_home, embedder="fake")) as opened:
        yield opened


async def test_it_is_refused_with_a_sentence(engine: Engine) -> None:
    for question, reason in REFUSED.values():
        for ask in (engine.answer, engine.search):
            with pytest.raises(InputError, match=re.escape(reason)) as refused:
                await ask(question)
            assert str(refused.value).endswith(".")


async def test_it_is_answered_or_not_but_without_harm(engine: Engine) -> None:
    for question in ASKED.values():
        answer = await engine.answer(question)
        assert isinstance(answer, Answer)
        assert answer.degraded == ()
        assert answer.query.original == question
        assert bool(answer.citations) is (answer.status not in ("no_results", "low_relevance"))
        for mode in ("keyword", "semantic"):
            await engine.search(Request(question, choices={"mode": mode}))


@pytest.mark.parametrize("name", [name for name in REFUSED if name != "NUL"])
def test_the_command_line_says_wrong_usage(sample_home: Path, name: str) -> None:
    question, reason = REFUSED[name]
    reason = reason if question.strip() else "There is no question."
    for command in ("ask", "search"):
        said = quoth(sample_home, "--json", command, question)
        assert said.code == 2
        assert said.json["code"] == "invalid_input"
        assert reason in said.json["detail"]
        assert reason in said.err.replace("\n", " ")


def test_bytes_that_are_no_text_are_refused_by_a_real_process(sample_home: Path) -> None:
    said = quoth_process(sample_home, "--json", "ask", b"what is caf\xe9")
    assert said.code == 2
    assert "an incomplete character" in said.json["detail"]
    assert "Traceback" not in said.err
