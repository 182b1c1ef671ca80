"""Options that several commands have in common, and what they choose."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Annotated, Any

import typer

from quoth.core.errors import InputError
from quoth.interfaces.cli.session import CliSession


class SearchMode(StrEnum):
    """The legs that take part in a search."""

    hybrid = "hybrid"
    semantic = "semantic"
    keyword = "keyword"


class Policy(StrEnum):
    """What happens to a sentence that its source does not support."""

    mark = "mark"
    drop = "drop"
    strict = "strict"


Question = Annotated[
    list[str],
    typer.Argument(help="The question, with or without quotes; - reads it from standard input."),
]
Filters = Annotated[
    list[str] | None,
    typer.Option(
        "--filter",
        help="Only what matches KEY=VALUE; may be given again. KEY=any or none drops what the "
        "question itself says about where to look.",
    ),
]
Choices = Annotated[
    list[str] | None, typer.Option("--set", help="plan.FIELD=VALUE, for this question.")
]

Llm = Annotated[
    str | None,
    typer.Option(help="Language models as PROVIDER:MODEL, or none for verbatim sentences."),
]
Policies = Annotated[
    Policy | None, typer.Option(help="What happens to a sentence without support.")
]
MaxMs = Annotated[int | None, typer.Option(help="Milliseconds the answer may take.")]
MaxUsd = Annotated[float | None, typer.Option(help="Dollars the answer may cost.")]


def question_of(words: Sequence[str]) -> str:
    """Return the question that the words of the command line make; raises InputError for none."""
    question = sys.stdin.read() if list(words) == ["-"] else " ".join(words)
    if not question.strip():
        raise InputError("There is no question. Write it behind the command.")
    return question.strip()


def answering(
    policy: Policy | None, max_ms: int | None, max_usd: float | None, llm: str | None
) -> dict[str, Any]:
    """Return the fields of the plan that options of their own choose."""
    return {
        "policy": policy.value if policy else None,
        "deadline_ms": None if max_ms is None else float(max_ms),
        "max_usd": max_usd,
        "generate": False if llm == "none" else None,
    }


def with_model(session: CliSession, llm: str | None) -> CliSession:
    """Return the session with the language models that this call names."""
    if llm is None:
        return session
    chosen = {"generator": llm} | ({"small_llm": llm} if llm == "none" else {})
    return replace(session, settings=session.settings.model_copy(update=chosen))
