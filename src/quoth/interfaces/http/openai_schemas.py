"""Requests and responses of the OpenAI-compatible routes.

A request may hold any field: those without an effect are accepted, and the answer's warnings name
those that a client may have expected to have one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict

from quoth.core.errors import InputError
from quoth.core.types import Answer, Citation, Turn
from quoth.interfaces.http.json_replies import NoJsonMode
from quoth.interfaces.http.problem_details import ProblemResponse, UnknownModel
from quoth.query.understand import MAX_LENGTH, MIN_LENGTH

OWNER = "quoth"
MAX_MESSAGES = 500
MAX_TURNS = 20
"""Turns of the conversation that go with a query; the plan says how many of them count."""
MAX_TURN_LENGTH = 4000
"""Characters of each side of a turn that are read."""

SILENT_FIELDS = frozenset({"metadata", "safety_identifier", "service_tier", "user", "stop"})
"""Fields without an effect that no client misses, so that they are not named."""
MAX_NAMED = 10
NOT_READ = "(not read here: {})"
"""What stands for an image, audio or a file of a message."""

OPENAI_PATHS = re.compile(
    r"/v1/(?:chat/completions|completions|responses|embeddings|models(?:/.*)?)", re.DOTALL
)
"""Paths of the OpenAI-compatible API."""
A_QUESTION: JsonDict = {"required": ["role"], "properties": {"role": {"const": "user"}}}
"""The schema of a message of the user, of which there is one at least."""
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
        """Return its text."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.content or [] if part.text)

    def unread(self) -> list[str]:
        """Return the kinds of its parts that are no text."""
        parts = self.content if isinstance(self.content, list) else []
        return [part.type for part in parts if part.type not in ("text", "refusal")]


class StreamOptions(BaseModel):
    """Options of a stream."""

    model_config = ConfigDict(extra="forbid")

    include_usage: bool = False
    include_obfuscation: bool | None = None


class ResponseFormat(BaseModel):
    """The form of the answer: Markdown, or a JSON object written by a language model."""

    model_config = ConfigDict(extra="ignore")

    type: Literal["text", "json_object", "json_schema"] = "text"
    json_schema: dict[str, Any] | None = None


class ChatRequest(BaseModel):
    """The body of ``POST /v1/chat/completions``."""

    model_config = ConfigDict(extra="allow")

    model: Annotated[str, Field(min_length=1, max_length=200)]
    messages: Annotated[
        list[ChatMessage],
        Field(min_length=1, max_length=MAX_MESSAGES, json_schema_extra={"contains": A_QUESTION}),
    ]
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    max_tokens: Annotated[int, Field(ge=1, le=100_000)] | None = None
    max_completion_tokens: Annotated[int, Field(ge=1, le=100_000)] | None = None
    n: Literal[1] | None = None
    store: bool | None = None
    logprobs: Literal[False] | None = None
    modalities: list[Literal["text"]] | None = None
    response_format: ResponseFormat | None = None

    @property
    def json_schema(self) -> dict[str, Any] | None:
        """Return the schema of the JSON object that is asked for, None for Markdown."""
        wanted = self.response_format
        if wanted is None or wanted.type == "text":
            return None
        found = (wanted.json_schema or {}).get("schema")
        return found if isinstance(found, dict) else {}

    def warnings(self) -> tuple[str, ...]:
        """Return what a client may have expected to have an effect, and has none."""
        extra = self.model_extra or {}
        names = sorted(
            name[:60] for name, value in extra.items() if value and name not in SILENT_FIELDS
        )
        unread = sorted({kind[:60] for message in self.messages for kind in message.unread()})
        found = [f"Fields without an effect here: {', '.join(names[:MAX_NAMED])}."] if names else []
        if unread:
            found.append(f"Not read, since only text is: {', '.join(unread[:MAX_NAMED])}.")
        return tuple(found)


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
        text = message.plain_text() or "".join(map(NOT_READ.format, message.unread()))
        if message.role == "user":
            turns.append(Turn(text[:MAX_TURN_LENGTH]))
        elif turns and not turns[-1].answer:
            answer = _MARKDOWN_LINK.sub("", text[: 4 * MAX_TURN_LENGTH])[:MAX_TURN_LENGTH]
            turns[-1] = Turn(turns[-1].question, answer)
    query = spoken[last].plain_text()
    if not query.strip():
        if spoken[last].unread():
            raise InputError("A question is text: images, audio and files cannot be read here.")
        raise InputError("The question is empty. Type what you want to know.")
    return query, tuple(turns[-MAX_TURNS:])


def to_query(text: str) -> str:
    """Return a message as a query: a very short one in quotes, of a long one its two ends.

    People who paste a text ask before or after it.
    """
    text = text.strip()
    if len(text) < MIN_LENGTH:
        return f"“{text}”"
    if len(text) <= MAX_LENGTH:
        return text
    half = MAX_LENGTH // 2 - 2
    return f"{text[:half]} … {text[-half:]}"


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


def chat_citations(answer: Answer, *, warnings: Sequence[str] = ()) -> ChatCitations:
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
        warnings=(*answer.warnings, *warnings),
    )


def token_usage(answer: Answer) -> TokenUsage:
    """Return the tokens that language models used."""
    read, written = answer.usage.input_tokens, answer.usage.output_tokens
    return TokenUsage(read, written, read + written)


_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}


def problem_for_path(path: str, found: ProblemResponse, error: Exception) -> ProblemResponse:
    """Return a problem in the form of the API that a path belongs to."""
    return to_openai_error(found, error) if OPENAI_PATHS.fullmatch(path) else found


def to_openai_error(found: ProblemResponse, error: Exception) -> ProblemResponse:
    """Return the problem of an error in the form that OpenAI's clients read."""
    fields: dict[str, Any] = json.loads(found.body)
    status = 400 if found.status == 422 else found.status
    told = {
        "message": fields["detail"],
        "type": _TYPES.get(status, "invalid_request_error" if status < 500 else "server_error"),
        "param": _parameter(error),
        "code": fields["code"],
    }
    body = json.dumps({"error": told}, ensure_ascii=False).encode()
    return ProblemResponse(status, body, {**found.headers, "content-type": "application/json"})


def _parameter(error: Exception) -> str | None:
    """Return the name of the field that an error is about."""
    match error:
        case UnknownModel():
            return "model"
        case NoJsonMode():
            return "response_format"
        case RequestValidationError() if error.errors():
            place = [str(part) for part in error.errors()[0]["loc"] if part != "body"]
            return ".".join(place)[:120] or None
        case _:
            return None
