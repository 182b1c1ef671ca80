"""Real HTTP servers that speak as the providers of language models do, in recorded order.

`Server` listens on this machine and answers each request with the next `Reply`; it keeps what
it was asked, and knows when a client goes away amid an answer. A `Dialect` makes the replies of
one provider: its events in the order in which the provider documents and sends them.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, Literal, Self

Stop = Literal["end", "length", "refusal"]
Fault = Literal[
    "denied", "unknown_model", "too_long", "limited", "overloaded", "no_streaming", "broken"
]


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it came in, header names in small letters."""

    path: str
    headers: Mapping[str, str]
    body: Any
    text: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What is sent: the chunks one by one; ``cut`` breaks the connection off behind them.

    With ``hold`` the server stops before the chunk of that number until `Server.go_on` is set.
    """

    chunks: Sequence[bytes]
    status: int = 200
    kind: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: bool = False
    hold: int | None = None


class Server:
    """Listens on a free port of this machine while it is entered."""

    def __init__(self, *replies: Reply) -> None:
        self.asked: list[Asked] = []
        self.go_on = asyncio.Event()
        self.came = asyncio.Event()
        self.left = asyncio.Event()
        self._replies = replies
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while (asked := await _request(reader)) is not None:
                self.asked.append(asked)
                self.came.set()
                reply = self._replies[min(len(self.asked), len(self._replies)) - 1]
                if not await self._send(reply, reader, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            self.left.set()
        finally:
            writer.close()
            self._tasks.discard(task)

    async def _send(
        self, reply: Reply, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        head = {"content-type": reply.kind, "transfer-encoding": "chunked", **reply.headers}
        lines = [f"HTTP/1.1 {reply.status} Said", *(f"{key}: {head[key]}" for key in head)]
        writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
        for at, chunk in enumerate(reply.chunks):
            if at == reply.hold and not await self._may_go_on(reader):
                return False
            writer.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
            await writer.drain()
        if reply.cut:
            writer.transport.abort()
            return False
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True

    async def _may_go_on(self, reader: asyncio.StreamReader) -> bool:
        """Wait for leave to go on; False when the client went away meanwhile."""
        leave = asyncio.create_task(self.go_on.wait())
        gone = asyncio.create_task(reader.read(1))
        done, waiting = await asyncio.wait((leave, gone), return_when="FIRST_COMPLETED")
        for task in waiting:
            task.cancel()
        if gone in done:
            self.left.set()
            return False
        return True


async def _request(reader: asyncio.StreamReader) -> Asked | None:
    line = await reader.readline()
    if not line:
        return None
    headers: dict[str, str] = {}
    while (header := (await reader.readline()).decode().strip()) != "":
        name, _, value = header.partition(":")
        headers[name.lower()] = value.strip()
    text = (await reader.readexactly(int(headers.get("content-length", 0)))).decode()
    return Asked(line.decode().split()[1], headers, json.loads(text) if text else None, text)


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one family of providers answers; faults are (status, body) as the provider words them."""

    path: str
    stream: Callable[..., Reply]
    whole: Callable[..., Reply]
    faults: Mapping[Fault, tuple[int, Any]]
    system: Callable[[Any], str]
    said: Callable[[Any], list[tuple[str, str]]]
    options: Callable[[Any], tuple[float | None, int]]
    key: Callable[[Asked], str]
    streams: Callable[[Asked], bool]

    def fault(self, name: Fault, **headers: str) -> Reply:
        """Answer a request with an error of the provider."""
        status, body = self.faults[name]
        return Reply([json.dumps(body).encode()], status, headers=headers)

    def fails_amid(self, *pieces: str) -> Reply:
        """Begin an answer and break it off with an error event, as an overloaded provider does."""
        begun = self.stream(*pieces, unended=True)
        _, body = self.faults["overloaded"]
        named = "type" in body
        return replace(begun, chunks=[*begun.chunks, *events(body, names=named)])


def events(*datas: Any, names: bool = False, end: str = "") -> list[bytes]:
    """Put values into server-sent events, one chunk each."""
    lines = [
        (f"event: {each['type']}\n" if names else "") + f"data: {json.dumps(each)}\n\n"
        for each in datas
    ]
    return [line.encode() for line in [*lines, *([end] if end else [])]]


def _sse(chunks: list[bytes], hold: int | None, cut: bool) -> Reply:
    return Reply(chunks, kind="text/event-stream; charset=utf-8", hold=hold, cut=cut)


# OpenAI: a first chunk with the role only, pieces, a chunk with the reason, usage without choices.

_OPENAI_STOPS = {"end": "stop", "length": "length", "refusal": "content_filter"}


def _openai_chunk(delta: Any, reason: str | None = None, **more: Any) -> dict[str, Any]:
    choices = [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}]
    return {
        "id": "chatcmpl-7",
        "object": "chat.completion.chunk",
        "created": 1_790_000_000,
        "model": "served-model",
        "choices": choices,
        **more,
    }


def _openai_stream(
    *pieces: str,
    stop: Stop = "end",
    thoughts: str = "",
    hold: int | None = None,
    unended: bool = False,
    cut: bool = False,
) -> Reply:
    """``hold`` counts pieces: the server stops behind so many."""
    usage = {"prompt_tokens": 31, "completion_tokens": 7, "total_tokens": 38}
    head = [_openai_chunk({"role": "assistant", "content": "", "refusal": None})]
    head += [_openai_chunk({"reasoning_content": thoughts})] if thoughts else []
    tail = [_openai_chunk({}, _OPENAI_STOPS[stop])]
    tail += [{**_openai_chunk({}), "choices": [], "usage": usage}]
    body = [*head, *(_openai_chunk({"content": piece}) for piece in pieces)]
    done = events(*body) if unended else events(*body, *tail, end="data: [DONE]\n\n")
    return _sse(done, None if hold is None else len(head) + hold, cut)


def _openai_whole(text: str, *, stop: Stop = "end", thoughts: str = "") -> Reply:
    message = {"role": "assistant", "content": text, "refusal": None}
    if thoughts:
        message["reasoning_content"] = thoughts
    body = {
        "id": "chatcmpl-7",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": "served-model",
        "choices": [{"index": 0, "message": message, "finish_reason": _OPENAI_STOPS[stop]}],
        "usage": {"prompt_tokens": 31, "completion_tokens": 7, "total_tokens": 38},
    }
    return Reply([json.dumps(body).encode()])


def _openai_error(message: str, code: str | None, param: str | None = None) -> dict[str, Any]:
    kind = "invalid_request_error"
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


OPENAI = Dialect(
    path="/v1",
    stream=_openai_stream,
    whole=_openai_whole,
    faults={
        "denied": (401, _openai_error("Incorrect API key: SECRET-KEY.", "invalid_api_key")),
        "unknown_model": (404, _openai_error("The model `x` does not exist", "model_not_found")),
        "too_long": (
            400,
            _openai_error(
                "This model's maximum context length is 128000 tokens. However, your messages "
                "resulted in 200000 tokens.",
                "context_length_exceeded",
                "messages",
            ),
        ),
        "limited": (429, _openai_error("Rate limit reached", "rate_limit_exceeded")),
        "overloaded": (503, _openai_error("The engine is overloaded", None)),
        "no_streaming": (
            400,
            _openai_error(
                "Unsupported value: 'stream' does not support true with this model.",
                "unsupported_value",
                "stream",
            ),
        ),
        "broken": (500, _openai_error("The server had an error", None)),
    },
    system=lambda body: body["messages"][0]["content"],
    said=lambda body: [(each["role"], each["content"]) for each in body["messages"][1:]],
    options=lambda body: (
        body.get("temperature"),
        body.get("max_tokens") or body["max_completion_tokens"],
    ),
    key=lambda asked: asked.headers["authorization"].removeprefix("Bearer "),
    streams=lambda asked: bool(asked.body.get("stream")),
)


def _openrouter_whole(text: str, *, stop: Stop = "end", thoughts: str = "") -> Reply:
    """OpenRouter says besides who served the model, and why that one stopped."""
    reply = _openai_whole(text, stop=stop, thoughts=thoughts)
    body = json.loads(reply.chunks[0])
    body["provider"] = "Served"
    body["choices"][0]["native_finish_reason"] = _OPENAI_STOPS[stop]
    return Reply([json.dumps(body).encode()])


OPENROUTER = replace(OPENAI, whole=_openrouter_whole)


# Anthropic: message_start, then per block start, deltas, stop; pings between; delta, stop.

_ANTHROPIC_STOPS = {"end": "end_turn", "length": "max_tokens", "refusal": "refusal"}


def _anthropic_message(content: list[Any], stop: str | None, output: int) -> dict[str, Any]:
    return {
        "id": "msg_7",
        "type": "message",
        "role": "assistant",
        "model": "served-model",
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 31, "output_tokens": output},
    }


def _anthropic_block(at: int, start: Any, deltas: Sequence[Any]) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": at, "content_block": start},
        *({"type": "content_block_delta", "index": at, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": at},
    ]


def _anthropic_stream(
    *pieces: str,
    stop: Stop = "end",
    thoughts: str = "",
    hold: int | None = None,
    unended: bool = False,
    cut: bool = False,
) -> Reply:
    head: list[dict[str, Any]] = [
        {"type": "message_start", "message": _anthropic_message([], None, 1)}
    ]
    if thoughts:
        empty = {"type": "thinking", "thinking": "", "signature": ""}
        deltas = [
            {"type": "thinking_delta", "thinking": thoughts},
            {"type": "signature_delta", "signature": "c2lnbmVk"},
        ]
        head += _anthropic_block(0, empty, deltas)
    texts = [{"type": "text_delta", "text": piece} for piece in pieces]
    block = _anthropic_block(1 if thoughts else 0, {"type": "text", "text": ""}, texts)
    if pieces:
        head += [block[0], {"type": "ping"}]
    body = [*head, *block[1:-1]] if pieces else head
    delta = {"stop_reason": _ANTHROPIC_STOPS[stop], "stop_sequence": None}
    tail = [
        *(block[-1:] if pieces else []),
        {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 7}},
        {"type": "message_stop"},
    ]
    sent = events(*body, *([] if unended else tail), names=True)
    return _sse(sent, None if hold is None else len(head) + hold, cut)


def _anthropic_whole(text: str, *, stop: Stop = "end", thoughts: str = "") -> Reply:
    thought = {"type": "thinking", "thinking": thoughts, "signature": "c2lnbmVk"}
    content: list[Any] = [thought] if thoughts else []
    content += [{"type": "text", "text": text}] if text else []
    body = _anthropic_message(content, _ANTHROPIC_STOPS[stop], 7)
    return Reply([json.dumps(body).encode()])


def _anthropic_error(kind: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_7"}


def _anthropic_said(body: Any) -> list[tuple[str, str]]:
    return [
        (
            each["role"],
            each["content"]
            if isinstance(each["content"], str)
            else "".join(part["text"] for part in each["content"]),
        )
        for each in body["messages"]
    ]


ANTHROPIC = Dialect(
    path="",
    stream=_anthropic_stream,
    whole=_anthropic_whole,
    faults={
        "denied": (401, _anthropic_error("authentication_error", "invalid x-api-key SECRET-KEY")),
        "unknown_model": (404, _anthropic_error("not_found_error", "model: x")),
        "too_long": (
            400,
            _anthropic_error(
                "invalid_request_error", "prompt is too long: 200001 tokens > 200000 maximum"
            ),
        ),
        "limited": (429, _anthropic_error("rate_limit_error", "This would exceed your limit")),
        "overloaded": (529, _anthropic_error("overloaded_error", "Overloaded")),
        "no_streaming": (
            400,
            _anthropic_error("invalid_request_error", "stream: streaming is not supported"),
        ),
        "broken": (500, _anthropic_error("api_error", "Internal server error")),
    },
    system=lambda body: (
        body["system"]
        if isinstance(body["system"], str)
        else "".join(each["text"] for each in body["system"])
    ),
    said=_anthropic_said,
    options=lambda body: (body.get("temperature"), body["max_tokens"]),
    key=lambda asked: (
        asked.headers.get("x-api-key") or asked.headers["authorization"].removeprefix("Bearer ")
    ),
    streams=lambda asked: bool(asked.body.get("stream")),
)


# Gemini: chunks that are whole responses, usage growing, the reason in the last one.

_GEMINI_STOPS = {"end": "STOP", "length": "MAX_TOKENS", "refusal": "SAFETY"}


def _gemini_chunk(parts: list[Any], reason: str | None = None) -> dict[str, Any]:
    candidate: dict[str, Any] = {"index": 0}
    if parts:
        candidate["content"] = {"parts": parts, "role": "model"}
    if reason:
        candidate["finishReason"] = reason
    return {
        "candidates": [candidate],
        "usageMetadata": {
            "promptTokenCount": 31,
            "candidatesTokenCount": 7 if reason else 1,
            "totalTokenCount": 38 if reason else 32,
        },
        "modelVersion": "served-model",
        "responseId": "resp-7",
    }


def _gemini_stream(
    *pieces: str,
    stop: Stop = "end",
    thoughts: str = "",
    hold: int | None = None,
    unended: bool = False,
    cut: bool = False,
) -> Reply:
    head = [_gemini_chunk([{"text": thoughts, "thought": True}])] if thoughts else []
    body = [*head, *(_gemini_chunk([{"text": piece}]) for piece in pieces)]
    tail = [] if unended else [_gemini_chunk([], _GEMINI_STOPS[stop])]
    sent = [each.replace(b"\n\n", b"\r\n\r\n") for each in events(*body, *tail)]
    return _sse(sent, None if hold is None else len(head) + hold, cut)


def _gemini_whole(text: str, *, stop: Stop = "end", thoughts: str = "") -> Reply:
    parts: list[Any] = [{"text": thoughts, "thought": True}] if thoughts else []
    parts += [{"text": text}] if text else []
    return Reply([json.dumps(_gemini_chunk(parts, _GEMINI_STOPS[stop])).encode()])


def _gemini_error(code: int, status: str, message: str, **detail: str) -> dict[str, Any]:
    error: dict[str, Any] = {"code": code, "message": message, "status": status}
    if detail:
        error["details"] = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", **detail}]
    return {"error": error}


GEMINI = Dialect(
    path="",
    stream=_gemini_stream,
    whole=_gemini_whole,
    faults={
        "denied": (
            400,
            _gemini_error(
                400, "INVALID_ARGUMENT", "API key not valid: SECRET-KEY", reason="API_KEY_INVALID"
            ),
        ),
        "unknown_model": (
            404,
            _gemini_error(
                404,
                "NOT_FOUND",
                "models/x is not found for API version v1beta, or is not supported for "
                "streamGenerateContent.",
            ),
        ),
        "too_long": (
            400,
            _gemini_error(
                400,
                "INVALID_ARGUMENT",
                "The input token count (1200000) exceeds the maximum number of tokens allowed "
                "(1048576).",
            ),
        ),
        "limited": (429, _gemini_error(429, "RESOURCE_EXHAUSTED", "You exceeded your quota")),
        "overloaded": (503, _gemini_error(503, "UNAVAILABLE", "The model is overloaded.")),
        "no_streaming": (
            400,
            _gemini_error(400, "INVALID_ARGUMENT", "Streaming is not supported for this model."),
        ),
        "broken": (500, _gemini_error(500, "INTERNAL", "An internal error has occurred.")),
    },
    system=lambda body: "".join(each["text"] for each in body["systemInstruction"]["parts"]),
    said=lambda body: [
        (
            {"user": "user", "model": "assistant"}[each["role"]],
            "".join(part["text"] for part in each["parts"]),
        )
        for each in body["contents"]
    ],
    options=lambda body: (
        body["generationConfig"].get("temperature"),
        body["generationConfig"]["maxOutputTokens"],
    ),
    key=lambda asked: asked.headers["x-goog-api-key"],
    streams=lambda asked: ":streamGenerateContent" in asked.path,
)

DIALECTS: Mapping[str, Dialect] = {
    "anthropic": ANTHROPIC,
    "gemini": GEMINI,
    "openai": OPENAI,
    "openrouter": OPENROUTER,
    "ollama": OPENAI,
    "openai-compatible": OPENAI,
}
"""What each provider of quoth speaks."""
MODELS: Mapping[str, str] = {
    "anthropic": "claude-haiku-4-5",
    "gemini": "gemini-3.5-flash-lite",
    "openai": "gpt-4.1-mini",
    "openrouter": "meta-llama/llama-3.3-70b-instruct",
    "ollama": "llama3.2:3b",
    "openai-compatible": "default",
}
"""A model of each that takes every option."""
