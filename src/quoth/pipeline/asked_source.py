"""Questions for the place of an answer: "On which page?", "At what minute does she sing?"."""

from __future__ import annotations

from dataclasses import replace

from quoth.answering.citations import below_places
from quoth.core.types import Answer, Turn
from quoth.pipeline.retrieve import Request
from quoth.query.dialogue_act import asked_before
from quoth.query.tokens import has_phrase, normalized_query_words, phrase_pattern


def request_before(typed: Request) -> Request:
    """Return the earlier request whose source a turn asks for: "On which page?" after a question.

    Any other turn is returned as it is. The earlier question was checked when it was asked.
    """
    if not all(isinstance(turn, Turn) for turn in typed.history):
        return typed  # It is refused where the question is read.
    question, history = asked_before(typed.question, typed.history)
    if question == typed.question:
        return typed
    return replace(typed, question=question, history=history, checked=False)


def with_asked_places(answer: Answer, *, request: Request, typed: Request) -> Answer:
    """Return the answer below the places of what it quotes, where these are asked for.

    A turn asks for those of the answer before, which was made of another ``request``; a question
    may ask for its own: "At what minute does she speak of tides?".
    """
    if request is not typed:
        query = replace(answer.query, original=typed.question, is_followup=True)
        return below_places(replace(answer, query=query))
    has_places = any(each.locator.kind != "chars" for each in answer.citations)
    if answer.status != "answered" or not has_places:
        return answer
    asks = has_phrase(phrase_pattern("asking", "places"), normalized_query_words(typed.question))
    return below_places(answer) if asks else answer
