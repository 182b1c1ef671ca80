"""A server on this machine that embeds and reranks in the protocols of the providers.

OpenAI (also Ollama, OpenRouter and compatible ones), Voyage, Cohere and Gemini, as documented.
Vectors are those of `HashEmbedder`, repeated to the length that is asked for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from quoth.testing import HashEmbedder
from tests.support.http_double import Handler, serving

Asked = tuple[str, dict[str, Any], dict[str, str]]


@dataclass
class Script:
    """What was asked, as path, body and headers; statuses to answer with first; the dimension."""

    asked: list[Asked] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    dimension: int = 64
    reply: Any = None
    url: str = ""


@contextmanager
def embedding_server() -> Iterator[Script]:
    """Serve until the end of the block."""
    script = Script()

    handler = type("EmbeddingHandler", (EmbeddingHandler,), {"script": script})
    with serving(handler) as script.url:
        yield script


class EmbeddingHandler(Handler):
    """One request."""

    script: Script

    def do_POST(self) -> None:
        body = self.json_body()
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.script.asked.append((self.path, body, headers))
        status = self.script.statuses.pop(0) if self.script.statuses else 200
        reply = {"error": "made to fail"} if status != 200 else self._reply(body)
        self.answer_json(status, reply)

    def _reply(self, body: dict[str, Any]) -> Any:
        if self.script.reply is not None:
            return self.script.reply
        if self.path.endswith("/rerank"):
            rows = [
                {"index": at, "relevance_score": _overlap(body["query"], text)}
                for at, text in enumerate(body["documents"])
            ]
            rows.sort(key=lambda row: -row["relevance_score"])
            billed = {"billed_units": {"search_units": 1}}
            return {"results": rows, "data": rows, "meta": billed, "usage": {"total_tokens": 7}}
        if self.path.endswith(":batchEmbedContents"):
            texts = [each["content"]["parts"][0]["text"] for each in body["requests"]]
            size = body["requests"][0].get("outputDimensionality")
            role = body["requests"][0]["taskType"]
            return {"embeddings": [{"values": row} for row in self._rows(texts, size, role)]}
        if "texts" in body:
            size = body.get("output_dimension")
            rows = self._rows(body["texts"], size, body["input_type"])
            return {"embeddings": {"float": rows}}
        size = body.get("dimensions") or body.get("output_dimension")
        rows = self._rows(body["input"], size, body.get("input_type", ""))
        data = [{"index": at, "embedding": row} for at, row in enumerate(rows)]
        return {"data": data[::-1], "usage": {"total_tokens": 1}}

    def _rows(self, texts: list[str], size: int | None, role: str = "") -> list[list[float]]:
        asked = "query" in role.casefold()
        rows = asyncio.run(HashEmbedder().embed(texts, role="query" if asked else "document"))
        whole = np.tile(rows, (1, -(-(size or self.script.dimension) // 64)))
        return [row[: size or self.script.dimension].tolist() for row in whole]


def _overlap(query: str, text: str) -> float:
    asked, there = set(query.casefold().split()), set(text.casefold().split())
    return len(asked & there) / max(1, len(asked))
