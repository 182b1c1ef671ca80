"""Requests and responses of the OpenAI-compatible routes.

A request may hold every known field of chat completions: those that have an effect, those that
are accepted and ignored, and those that would change the response and are refused. Unknown fields
are refused too.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from quoth.core.errors import InputError
from quoth.core.types import Answer, Citation, Turn
from quoth.interfaces.http.problem_details import ProblemResponse

OWNER = "quoth"
MAX_MESSAGES = 500
MAX_TURNS = 20
"""Turns of the conversation that go with a query; the plan says how many of them count."""
MAX_TURN_LENGTH = 4000
"""Characters of each side of a turn that are read."""

IGNORED_FIELDS = (
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
"""Fields that are accepted and have no effect."""

OPENAI_PATHS = re.compile(r"/v1/(?:chat/completions|models(?:/.*)?)")
"""Paths of the OpenAI-compatible API."""
_MARKDOWN_LINK = re.compile(r" ?\[\d{1,4}\]\([^()\s]{0,2000}\)")


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

    def plain_text(self) -> str:
        """Return its text; raises InputError for an image, audio or a file in a query."""
        if isinstance(self.content, str):
            return self.content
        parts = self.content or []
        is_text = all(part.type in ("text", "refusal") for part in parts)
        if self.role == "user" and not is_text:
            raise InputError("A question is text: images, audio and files cannot be read here.")
        return "\n".join(part.text for part in parts if part.text)


class StreamOptions(BaseModel):
    """Options of a stream."""

    model_config = ConfigDict(extra="forbid")

    include_usage: bool = False
    include_obfuscation: bool | None = None


class ResponseFormat(BaseModel):
    """The format of the answer, which is text."""

    model_config = ConfigDict(extra="ignore")

    type: Literal["text"]


class ChatRequest(BaseModel):
    """The body of ``POST /v1/chat/completions``."""

    model_config = ConfigDict(extra="allow")

    model: Annotated[str, Field(min_length=1, max_length=200)]
    messages: Annotated[list[ChatMessage], Field(min_length=1, max_length=MAX_MESSAGES)]
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    max_tokens: Annotated[int, Field(ge=1, le=100_000)] | None = None
    max_completion_tokens: Annotated[int, Field(ge=1, le=100_000)] | None = None
    n: Literal[1] | None = None
    store: bool | None = None
    logprobs: Literal[False] | None = None
    response_format: ResponseFormat | None = None
    modalities: list[Literal["text"]] | None = None

    @model_validator(mode="after")
    def _refuse_unknown_fields(self) -> ChatRequest:
        for name in self.model_extra or {}:
            if name not in IGNORED_FIELDS:
                raise ValueError(f"there is no field '{name[:60]}'")
        return self


def split_messages(messages: list[ChatMessage]) -> tuple[str, tuple[Turn, ...]]:
    """Return the last message of the user as the query, and the turns before it.

    Messages of systems, developers and tools are left out: the operator of the service decides
    how answers are made, not a request. Raises InputError where the user asks nothing.
    """
    spoken = [message for message in messages if message.role in ("user", "assistant")]
    last = max((at for at, message in enumerate(spoken) if message.role == "user"), default=None)
    if last is None:
        raise InputError("There is no question: the messages hold none with the role 'user'.")
    turns: list[Turn] = []
    for message in spoken[:last]:
        text = message.plain_text()
        if message.role == "user":
            turns.append(Turn(text[:MAX_TURN_LENGTH]))
        elif turns and not turns[-1].answer:
            answer = _MARKDOWN_LINK.sub("", text[: 4 * MAX_TURN_LENGTH])[:MAX_TURN_LENGTH]
            turns[-1] = Turn(turns[-1].question, answer)
    return spoken[last].plain_text(), tuple(turns[-MAX_TURNS:])


# --- responses --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model, which is a collection to answer from; ``quoth`` alone is the default one."""

    id: str
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: str = OWNER


@dataclass(frozen=True, slots=True)
class Models:
    """The list of models."""

    data: tuple[ModelInfo, ...]
    object: Literal["list"] = "list"


@dataclass(frozen=True, slots=True)
class CitedDocument:
    """A document that the answer cites, with the numbers of its citations."""

    document_id: str
    title: str
    link: str | None
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ChatCitations:
    """The citations and status of an answer, which its text cannot hold."""

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
    """Tokens that language models used for the answer, zero where none was used."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


@dataclass(frozen=True, slots=True)
class Completion:
    """A complete chat completion; ``created`` is in seconds since 1970."""

    id: str
    created: int
    model: str
    choices: tuple[ChatChoice, ...]
    usage: TokenUsage
    quoth: ChatCitations
    object: Literal["chat.completion"] = "chat.completion"


def chat_citations(answer: Answer) -> ChatCitations:
    """Return the citations of an answer, whose links are public, and its status."""
    sources: dict[str, CitedDocument] = {}
    for citation in answer.citations:
        key = citation.document_id
        source = sources.get(key) or CitedDocument(key, citation.document_name, citation.link, ())
        sources[key] = replace(source, numbers=(*source.numbers, citation.number))
    return ChatCitations(
        query_id=answer.query_id,
        status=answer.status,
        grounded=answer.grounded,
        citations=answer.citations,
        sources=tuple(sources.values()),
        degraded=answer.degraded,
        warnings=answer.warnings,
    )


def token_usage(answer: Answer) -> TokenUsage:
    """Return the tokens that language models used."""
    read, written = answer.usage.input_tokens, answer.usage.output_tokens
    return TokenUsage(read, written, read + written)


_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}


def to_openai_error(
    found: ProblemResponse,
    *,
    param: str | None = None,
    code: str | None = None,
    message: str | None = None,
) -> ProblemResponse:
    """Return a problem in the form that OpenAI's clients read."""
    fields: dict[str, Any] = json.loads(found.body)
    status = 400 if found.status == 422 else found.status
    error = {
        "message": message or fields["detail"],
        "type": _TYPES.get(status, "invalid_request_error" if status < 500 else "server_error"),
        "param": param,
        "code": code or fields["code"],
    }
    body = json.dumps({"error": error}, ensure_ascii=False).encode()
    return ProblemResponse(status, body, {**found.headers, "content-type": "application/json"})


def problem_for_path(path: str, found: ProblemResponse) -> ProblemResponse:
    """Return a problem in the form of the API that a path belongs to."""
    return to_openai_error(found) if OPENAI_PATHS.fullmatch(path) else found
