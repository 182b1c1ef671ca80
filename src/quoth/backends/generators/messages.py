"""Messages to and from Pydantic AI."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    SystemPromptPart,
    TextPart,
    TextPartDelta,
    UserPromptPart,
)

from quoth.core.protocols import Message


def to_library(messages: Sequence[Message]) -> list[ModelMessage]:
    """Return messages as the library takes them; those of one side in turn become one."""
    wire: list[ModelMessage] = []
    for answered, turn in groupby(messages, key=lambda message: message.speaker == "assistant"):
        if answered:
            wire.append(ModelResponse(parts=[TextPart(_text_of(each)) for each in turn]))
        else:
            wire.append(ModelRequest(parts=[_part(each) for each in turn]))
    return wire


def _part(message: Message) -> SystemPromptPart | UserPromptPart:
    if message.speaker == "system":
        return SystemPromptPart(_text_of(message))
    return UserPromptPart(_text_of(message))


def _text_of(message: Message) -> str:
    """Return the text without lone surrogates, which cannot be encoded."""
    return message.text.encode("utf-8", "replace").decode("utf-8")


def text_in(event: ModelResponseStreamEvent) -> str:
    """Return the text that an event of a stream adds."""
    if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
        return event.part.content
    if isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
        return event.delta.content_delta
    return ""
