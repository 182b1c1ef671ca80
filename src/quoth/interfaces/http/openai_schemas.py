"""What goes in and out of the routes that speak as OpenAI's do.

Requests name every field of the chat completions that is known today: those that mean something
here, those that are taken and not used, and those that would change what comes back and are
refused. Any other field is refused too.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from quoth.core.errors import InputError
from quoth.core.types import Answer, Citation, Turn
from quoth.interfaces.http.problem_details import ProblemResponse

OWNER = "quoth"
MOST_MESSAGES = 500
TURNS = 20
"""Turns of the conversation that go with a question; the plan says how many of them count."""
TURN_LENGTH = 4000
"""Characters of each side of a turn that are read."""

UNUSED = (
    "audio",
    "frequency_penalty",
    "function_call",
    "functions",
    "logit_bias",
    "metadata",
    "moderation",
    "parallel_tool_calls",
    "prediction",
    "presence_penalty",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "reasoning_effort",
    "safety_identifier",
    "seed",
    "service_tier",
    "stop",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "user",
    "verbosity",
    "web_search_options",
)
"""Fields that are taken and mean nothing here."""

SPOKEN = re.compile(r"/v1/(?:chat/completions|models(?:/.*)?)")
"""The addresses at which OpenAI is spoken."""
_LINK = re.compile(r" ?\[\d{1,4}\]\([^()\s]{0,2000}\)")


class ContentPart(BaseModel):
    """A piece of a message; only text is read."""

    model_config = ConfigDict(extra="ignore")

    type: str
    text: str | None = None
    refusal: str | None = None


class ChatMessage(BaseModel):
    """A message of the conversation."""

    model_config = ConfigDict(extra="ignore")

    role: Literal["user", "assistant", "system", "developer", "tool", "function"]
    content: str | list[ContentPart] | None = None

    def read(self) -> str:
        """Give its text; raises InputError for a picture, a sound or a file in a question."""
        if isinstance(self.content, str):
            return self.content
        parts = self.content or []
        other = [each.type for each in parts if each.type not in ("text", "refusal")]
        if other and self.role == "user":
            raise InputError("A question is text: pictures, sounds and files cannot be read here.")
        return "\n".join(each.text for each in parts if each.text)


class StreamOptions(BaseModel):
    """What a stream holds besides the text."""

    model_config = ConfigDict(extra="forbid")

    include_usage: bool = False
    include_obfuscation: bool | None = None


class ResponseFormat(BaseModel):
    """The form of the answer, which is text."""

    model_config = ConfigDict(extra="ignore")

    type: str


class ChatRequest(BaseModel):
    """The body of ``POST /v1/chat/completions``."""

    model_config = ConfigDict(extra="allow")

    model: Annotated[str, Field(min_length=1, max_length=200)]
    messages: Annotated[list[ChatMessage], Field(min_length=1, max_length=MOST_MESSAGES)]
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    max_tokens: Annotated[int, Field(ge=1, le=100_000)] | None = None
    max_completion_tokens: Annotated[int, Field(ge=1, le=100_000)] | None = None
    n: int | None = None
    store: bool | None = None
    logprobs: bool | None = None
    response_format: ResponseFormat | None = None
    modalities: list[str] | None = None

    @field_validator("n")
    @classmethod
    def _be_one(cls, n: int | None) -> int | None:
        if n not in (None, 1):
            raise ValueError("there is one answer to a question, so n is 1")
        return n

    @field_validator("logprobs")
    @classmethod
    def _be_off(cls, wanted: bool | None) -> bool | None:
        if wanted:
            raise ValueError("answers have no log probabilities; leave it out")
        return wanted

    @field_validator("response_format")
    @classmethod
    def _be_plain(cls, wanted: ResponseFormat | None) -> ResponseFormat | None:
        if wanted is not None and wanted.type != "text":
            raise ValueError("answers are text with citations; the only format is text")
        return wanted

    @field_validator("modalities")
    @classmethod
    def _be_text(cls, wanted: list[str] | None) -> list[str] | None:
        if wanted is not None and wanted != ["text"]:
            raise ValueError("answers are text")
        return wanted

    @model_validator(mode="after")
    def _be_known(self) -> ChatRequest:
        for name in self.model_extra or {}:
            if name not in UNUSED:
                raise ValueError(f"there is no field '{name[:60]}'")
        return self


def asked(messages: list[ChatMessage]) -> tuple[str, tuple[Turn, ...]]:
    """Give the question and the turns before it; raises InputError where nobody asks anything.

    The question is what the user said last. What systems, developers and tools say is left out:
    how answers are made is for those who run the service to say, not for a request.
    """
    said = [each for each in messages if each.role in ("user", "assistant")]
    last = max((at for at, each in enumerate(said) if each.role == "user"), default=None)
    if last is None:
        raise InputError("There is no question: the messages hold none with the role 'user'.")
    turns: list[Turn] = []
    for each in said[:last]:
        text = each.read()
        if each.role == "user":
            turns.append(Turn(text[:TURN_LENGTH]))
        elif turns and not turns[-1].answer:
            answer = _LINK.sub("", text[: 4 * TURN_LENGTH])[:TURN_LENGTH]
            turns[-1] = Turn(turns[-1].question, answer)
    return said[last].read(), tuple(turns[-TURNS:])


# --- what goes out ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model, which is a collection to answer from; bare ``quoth`` is the usual one."""

    id: str
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: str = OWNER


@dataclass(frozen=True, slots=True)
class Models:
    """The models there are."""

    data: tuple[ModelInfo, ...]
    object: Literal["list"] = "list"


@dataclass(frozen=True, slots=True)
class CitedDocument:
    """A document that the answer cites, with the numbers of the citations that stand in it."""

    document_id: str
    title: str
    link: str | None
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ChatCitations:
    """What the text of a chat completion cannot hold of an answer."""

    query_id: str
    status: str
    grounded: bool
    citations: tuple[Citation, ...]
    sources: tuple[CitedDocument, ...]
    degraded: tuple[str, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChatReply:
    """The answer's text, in Markdown."""

    content: str
    role: Literal["assistant"] = "assistant"
    refusal: None = None


@dataclass(frozen=True, slots=True)
class ChatChoice:
    """The one answer."""

    message: ChatReply
    finish_reason: Literal["stop", "length"] = "stop"
    index: int = 0
    logprobs: None = None


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens that language models used for the answer, zero where none took part."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


@dataclass(frozen=True, slots=True)
class Completion:
    """A whole chat completion; ``created`` is in seconds since 1970."""

    id: str
    created: int
    model: str
    choices: tuple[ChatChoice, ...]
    usage: TokenUsage
    quoth: ChatCitations
    object: Literal["chat.completion"] = "chat.completion"


def proof(answer: Answer) -> ChatCitations:
    """Give the citations of an answer, whose links may be shown, and how it came out."""
    sources: dict[str, CitedDocument] = {}
    for each in answer.citations:
        known = sources.get(each.document_id)
        numbers = (*(known.numbers if known else ()), each.number)
        link = known.link if known else each.link
        sources[each.document_id] = CitedDocument(
            each.document_id, each.document_name, link, numbers
        )
    return ChatCitations(
        query_id=answer.query_id,
        status=answer.status,
        grounded=answer.grounded,
        citations=answer.citations,
        sources=tuple(sources.values()),
        degraded=answer.degraded,
        warnings=answer.warnings,
    )


def tokens(answer: Answer) -> TokenUsage:
    """Give what language models used."""
    read, written = answer.usage.input_tokens, answer.usage.output_tokens
    return TokenUsage(read, written, read + written)


_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}


def as_openai(
    found: ProblemResponse,
    *,
    param: str | None = None,
    code: str | None = None,
    message: str | None = None,
) -> ProblemResponse:
    """Give a problem in the shape that clients of OpenAI read, with what is more exact of it."""
    said: dict[str, Any] = json.loads(found.body)
    status = 400 if found.status == 422 else found.status
    error = {
        "message": message or said["detail"],
        "type": _TYPES.get(status, "invalid_request_error" if status < 500 else "server_error"),
        "param": param,
        "code": code or said["code"],
    }
    body = json.dumps({"error": error}, ensure_ascii=False).encode()
    return ProblemResponse(status, body, {**found.headers, "content-type": "application/json"})


def spoken_at(path: str, found: ProblemResponse) -> ProblemResponse:
    """Give a problem as those read it who asked at this address."""
    return as_openai(found) if SPOKEN.fullmatch(path) else found
