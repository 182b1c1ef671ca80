"""Codec of query records as stored in the catalogue."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

from quoth.core.errors import NotFound
from quoth.core.plan import Plan
from quoth.core.types import Answer, Filter, LegScore, Query
from quoth.pipeline.record import (
    CandidateTrace,
    CollectionTrace,
    ModelVersions,
    Record,
    measure,
)
from quoth.pipeline.retrieve import Request
from quoth.store.catalogue import Catalogue
from quoth.store.history import QueryCost, QueryRow, StoredRecord
from quoth.text.analyzer import normalize_name
from quoth.text.json_codec import decode_json, dump, to_json


def save_record(
    record: Record,
    catalogue: Catalogue,
    *,
    key_id: str | None = None,
    upload_id: str | None = None,
) -> None:
    """Store a record in the history, as far as its ``keeping`` allows."""
    if record.keeping != "off":
        row = pack(record)
        spent = replace(row.spent, key_id=key_id, upload_id=upload_id)
        catalogue.record(replace(row, spent=spent))


def pack(record: Record) -> StoredRecord:
    """Serialize a record for the catalogue; `unpack` reverses it.

    With the keeping ``hash`` no text of the query, the conversation or the library is stored: only
    a hash of the query, equal for equal words, which shows how often it was asked and can be
    confirmed by guessing.
    """
    text = record.request.question.encode("utf-8", "replace").decode()
    measures = measure(record)
    if record.keeping == "hash":
        text = f"#{sha256(normalize_name(text).encode('utf-8', 'replace')).hexdigest()[:24]}"
        record = _without_texts(record)
    names: dict[str, int] = {}
    searched = [
        {
            "collection": trace.collection,
            "version": trace.version,
            "found": trace.found,
            "whole": trace.whole,
            "candidates": [_pack_candidate(candidate, names) for candidate in trace.candidates],
        }
        for trace in record.searched
    ]
    answer = record.answer
    about = {
        "request": to_json(record.request),
        "makers": to_json(record.makers),
        "searched": searched,
        "names": list(names),
        "passages": record.passages,
        "copies": record.copies,
        "spans_ms": {
            name: [round(start, 2), round(end, 2)] for name, (start, end) in record.spans_ms.items()
        },
        "keeping": record.keeping,
    }
    return StoredRecord(
        query_id=answer.query_id,
        collection=record.collection[:100],
        text=text,
        plan=_json(to_json(record.plan)),
        answer=_json(to_json(answer)),
        version=answer.index_version[:120],
        status=answer.status,
        record=_json(about),
        spent=QueryCost(
            total_ms=answer.timings_ms.get("total"),
            input_tokens=answer.usage.input_tokens,
            output_tokens=answer.usage.output_tokens,
            usd=answer.usage.usd,
            degraded=bool(answer.degraded),
            cached=answer.cached,
        ),
        measures=measures,
    )


def load_record(catalogue: Catalogue, query_id: str) -> Record:
    """Load a stored record by query id or unique id prefix.

    Raises NotFound, and InputError for an ambiguous prefix.
    """
    kept = catalogue.recorded(query_id)
    try:
        return unpack(kept)
    except ValueError as error:
        raise NotFound(
            f"The stored record of query {kept.query_id} cannot be read by this version of "
            f"quoth: {error}"
        ) from None


def _json(value: Any) -> str:
    """Serialize to JSON; characters no database accepts, such as lone surrogates, are escaped."""
    text = dump(value)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = json.dumps(value, separators=(",", ":"))
    return text


def unpack(row: QueryRow) -> Record:
    """Decode what `pack` wrote; without a record the query was stored by an older version.

    Raises ValueError for invalid data.
    """
    chosen = decode_json(Plan, json.loads(row.plan))
    decoded = decode_json(Answer, json.loads(row.answer))
    created_at, collection = row.created_at, row.collection
    if row.record is None:
        read = {filter_ for filter_ in decoded.query.filters}
        given = tuple(filter_ for filter_ in chosen.filters if filter_ not in read)
        request = Request(
            decoded.query.original,
            {"filters": given} if given else {},
            collections=(collection,) if collection else (),
        )
        return Record(request, chosen, decoded, created_at=created_at, collection=collection)
    about = json.loads(row.record)
    return Record(
        request=_request(about["request"]),
        plan=chosen,
        answer=decoded,
        searched=tuple(_unpack_searched(each, about["names"]) for each in about["searched"]),
        passages=tuple(tuple(each) for each in about["passages"]),
        copies=about["copies"],
        makers=decode_json(ModelVersions, about["makers"]),
        spans_ms={name: (start, end) for name, (start, end) in about["spans_ms"].items()},
        created_at=created_at,
        collection=collection,
        keeping=about["keeping"],
    )


def _request(data: Any) -> Request:
    request = decode_json(Request, data)
    given = request.choices.get("filters")
    if not given:
        return request
    filters = tuple(decode_json(Filter, each) for each in given)
    return replace(request, choices={**request.choices, "filters": filters})


def _without_texts(record: Record) -> Record:
    """Remove all query and document texts except ids."""
    answer, request = record.answer, record.request
    query = Query("", "", answer.query.language, answer.query.kind, answer.query.is_followup)
    choices = {name: value for name, value in request.choices.items() if name != "filters"}
    return replace(
        record,
        request=Request("", choices, collections=request.collections, checked=request.checked),
        plan=replace(record.plan, filters=()),
        answer=replace(
            answer,
            query=query,
            text="",
            sentences=(),
            citations=(),
            closest=(),
            warnings=(),
            contradictions=(),
            rejected=(),
        ),
    )


def _pack_candidate(candidate: CandidateTrace, names: dict[str, int]) -> list[Any]:
    """Encode a candidate as a list with repeated words as numbers: a third of the size."""
    pool, shown = candidate.pool, candidate.shown
    return [
        candidate.chunk_id,
        names.setdefault(candidate.kind, len(names)),
        [
            [names.setdefault(leg, len(names)), one.rank, _short(one.score)]
            for leg, one in candidate.legs.items()
        ],
        [candidate.fused.rank, _short(candidate.fused.score)],
        *([] if pool is None else [[pool.rank, _short(pool.score)]]),
        *([] if pool is None or shown is None else [shown]),
    ]


def _unpack_searched(data: Mapping[str, Any], names: Sequence[Any]) -> CollectionTrace:
    return CollectionTrace(
        data["collection"],
        data["version"],
        data["found"],
        tuple(_unpack_candidates(data["candidates"], names)),
        data["whole"],
    )


def _unpack_candidates(rows: Sequence[Any], names: Sequence[Any]) -> Iterator[CandidateTrace]:
    for chunk_id, kind, legs, fused, *later in rows:
        yield CandidateTrace(
            chunk_id,
            {names[leg]: LegScore(rank, score) for leg, rank, score in legs},
            LegScore(*fused),
            names[kind],
            LegScore(*later[0]) if later else None,
            later[1] if len(later) > 1 else None,
        )


def _short(score: float) -> float:
    return float(f"{score:.5g}")
