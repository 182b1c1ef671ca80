"""A server on this machine that speaks Pinecone's documented protocol, and keeps what it is sent.

Control plane: describe and create an index. Data plane: upsert, query by cosine with metadata
filters, fetch, delete by ids or all. https://docs.pinecone.io/reference/api
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np

from tests.support.http_double import Handler, serving

KEY = "pinecone-key-of-the-tests"


@dataclass
class PineconeState:
    """Indexes by name, and rows by namespace and id; ``fault`` is returned or waited for."""

    indexes: dict[str, dict[str, Any]] = field(default_factory=dict)
    rows: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    address: str = ""
    status: int = 200
    wait_s: float = 0.0
    full: bool = False
    short: bool = False
    """Whether writes are refused for lack of room, and whether vectors come back too short."""


@contextmanager
def pinecone_server() -> Iterator[tuple[str, PineconeState]]:
    """Serve until the end of the block; gives the address and the state."""
    state = PineconeState()

    handler = type("PineconeHandler", (PineconeHandler,), {"state": state})
    with serving(handler) as state.address:
        yield state.address, state


class PineconeHandler(Handler):
    """One request."""

    protocol_version = "HTTP/1.1"
    state: PineconeState

    def do_GET(self) -> None:
        self._serve("GET")

    def do_POST(self) -> None:
        self._serve("POST")

    def do_DELETE(self) -> None:
        self._serve("DELETE")

    def _serve(self, method: str) -> None:
        url = urlsplit(self.path)
        body = self.json_body()
        self.state.asked.append(f"{method} {url.path}")
        time.sleep(self.state.wait_s)
        if self.headers.get("Api-Key") != KEY:
            return self.answer_json(401, {"code": 16, "message": "Invalid API key"})
        if self.state.status != 200:
            return self.answer_json(self.state.status, {"code": 13, "message": "made to fail"})
        status, reply = self._result(f"{method} {url.path}", body, parse_qs(url.query))
        return self.answer_json(status, reply)

    def _result(
        self, call: str, body: dict[str, Any], query: Mapping[str, list[str]]
    ) -> tuple[int, Any]:
        state = self.state
        if call.startswith("GET /indexes/"):
            found = state.indexes.get(call.rpartition("/")[2])
            return (200, found) if found else (404, _error("NOT_FOUND", "no such index"))
        if call == "POST /indexes":
            state.indexes[body["name"]] = self._index(body)
            return 201, state.indexes[body["name"]]
        rows = state.rows.setdefault(body.get("namespace") or query.get("namespace", [""])[0], {})
        if call == "POST /vectors/upsert" and state.full:
            return 403, {"code": 7, "message": "You've reached the storage limit of this project"}
        if call == "POST /vectors/upsert":
            if any(len(each["values"]) != self._dimension() for each in body["vectors"]):
                return 400, {"code": 3, "message": "Vector dimension does not match the index"}
            rows.update({each["id"]: each for each in body["vectors"]})
            return 200, {"upsertedCount": len(body["vectors"])}
        if call == "POST /query":
            if len(body["vector"]) != self._dimension():
                return 400, {"code": 3, "message": "Vector dimension does not match the index"}
            return 200, {
                "matches": _nearest(rows, body),
                "namespace": "",
                "usage": {"readUnits": 1},
            }
        if call == "GET /vectors/fetch":
            there = {key: rows[key] for key in query.get("ids", []) if key in rows}
            if state.short:
                there = {key: {**row, "values": row["values"][:3]} for key, row in there.items()}
            return 200, {"vectors": there, "namespace": "", "usage": {"readUnits": 1}}
        if call == "POST /vectors/delete":
            for key in list(rows) if body.get("deleteAll") else body["ids"]:
                rows.pop(key, None)
            return 200, {}
        return 404, _error("NOT_FOUND", call)

    def _dimension(self) -> int:
        *_, index = self.state.indexes.values()  # all have one address here: the newest is asked
        (vectors,) = index["schema"]["fields"].values()
        return int(vectors["dimension"])

    def _index(self, body: Mapping[str, Any]) -> dict[str, Any]:
        return {
            **body,
            "host": self.state.address,
            "status": {"ready": True, "state": "Ready"},
            "deletion_protection": "disabled",
        }


def _error(code: str, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message}, "status": 404}


def _nearest(rows: Mapping[str, Any], body: Mapping[str, Any]) -> list[dict[str, Any]]:
    passing = {
        key: row
        for key, row in rows.items()
        if _passes(row.get("metadata", {}), body.get("filter"))
    }
    if not passing:
        return []
    matrix = np.array([row["values"] for row in passing.values()], np.float32)
    asked = np.array(body["vector"], np.float32)
    scores = matrix @ asked / (np.linalg.norm(matrix, axis=1) * np.linalg.norm(asked))
    keys = list(passing)
    best = np.argsort(-scores, kind="stable")[: body["topK"]]
    return [{"id": keys[at], "score": float(scores[at])} for at in best]


def _passes(metadata: Mapping[str, Any], condition: Mapping[str, Any] | None) -> bool:
    """Whether metadata meets a filter of Pinecone's language, as far as it is used."""
    for name, value in (condition or {}).items():
        if name == "$and":
            if not all(_passes(metadata, each) for each in value):
                return False
            continue
        held = metadata.get(name)
        for operator, wanted in value.items():
            if operator == "$in":
                met = any(each in wanted for each in (held if isinstance(held, list) else [held]))
            else:
                met = held is not None and (
                    held <= wanted if operator == "$lte" else held >= wanted
                )
            if not met:
                return False
    return True
