"""Turns that ask for the source of the answer before: "Who said that?", "On which page?"."""

from __future__ import annotations

from dataclasses import replace

from quoth.answering.citations import below_places
from quoth.core.types import Answer, Turn
from quoth.pipeline.retrieve import Request
from quoth.query.dialogue_act import asked_before


def before_source(typed: Request) -> Request:
    """Return the request whose source a turn asks for, the same request for any other turn.

    It was valid when it was asked.
    """
    if not all(isinstance(turn, Turn) for turn in typed.history):
        return typed  # It is refused where the question is read.
    question, history = asked_before(typed.question, typed.history)
    if question == typed.question:
        return typed
    return replace(typed, question=question, history=history, checked=False)


def answer_typed(answer: Answer, *, typed: Request) -> Answer:
    """Return the answer to the question before as that to the turn: below its places."""
    query = replace(answer.query, original=typed.question, is_followup=True)
    return below_places(replace(answer, query=query))
