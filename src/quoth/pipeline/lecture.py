"""Looking up a window of a lecture: the engine's own retrieval with the LIVE plan, calibrated."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from typing import Any
from uuid import uuid4

from quoth.answering.citations import make_citation
from quoth.core.errors import QuothError
from quoth.core.lecture import Lecture, LiveCitation, WindowRecord
from quoth.core.plan import make_plan
from quoth.core.trace import Trace
from quoth.core.translations import interface_languages
from quoth.core.types import Candidate, Chunk, Filter, Pages, Passage, Query
from quoth.live.cards import PageCandidate
from quoth.live.relevance import (
    MODEL,
    Features,
    RelevanceModel,
    relevance_features,
    relevance_model,
)
from quoth.live.snippets import snippet_span
from quoth.live.windows import LectureWindow
from quoth.pipeline.components import Components
from quoth.pipeline.retrieve import (
    AnalysedQuery,
    Request,
    RequestContext,
    Retrieved,
    open_request,
    search_passages,
    select_passages,
)
from quoth.pipeline.selection import joint_results
from quoth.retrieval.calibration import READER
from quoth.store.lectures import Lectures
from quoth.store.rows import now
from quoth.text.language import detect_language

log = logging.getLogger("quoth.live")

DEADLINE_MS = 10_000.0
"""Time for one look-up: a late card is better than none."""
LIVE: Mapping[str, Any] = {
    "candidates_per_leg": 100,
    "rerank_pool": 40,
    "final_k": 40,
    "context_window": 0,
    "max_per_document": None,
    "duplicate_cosine": 1.0,
    "mmr_lambda": 1.0,
    "strategy": "rank",
    "expansion": "none",
    "generate": False,
    "cache": "none",
}
"""The plan of a window: no filters, no neighbours, nothing written; 40 passages are compared so
that the first ten can be judged by how far they stand out."""


@dataclass(frozen=True, slots=True)
class LookupScope:
    """Collections, of these only some documents where ``filters`` say so.

    With further ``keywords`` a window's words are searched with and without them.
    """

    collections: tuple[str, ...]
    filters: tuple[Filter, ...] = ()
    keywords: str = ""


@dataclass(frozen=True, slots=True)
class WindowLookup:
    """What a window found: candidates with their probability, and the passages they are.

    ``show_from`` is the probability from which a card is shown. Without a calibration that applies,
    as with fewer than a handful of passages, there are no candidates.
    """

    candidates: tuple[PageCandidate, ...] = ()
    passages: Mapping[str, Passage] = field(default_factory=dict)
    language: str = ""
    show_from: float = 1.0

    def chunk(self, chunk_id: str) -> Chunk:
        """Return the chunk of a candidate."""
        within = self.passages[chunk_id].chunks
        return next(chunk for chunk in within if chunk.chunk_id == chunk_id)


async def look_up_window(
    parts: Components,
    text: str,
    *,
    scope: LookupScope,
    language: str | None = None,
    deadline_ms: float | None = None,
) -> WindowLookup:
    """Look up a window of a lecture; raises NotFound, RetrievalError, OutOfTime."""
    trace = Trace(deadline_ms=deadline_ms)
    found = await retrieve_window(parts, text, scope=scope, language=language, trace=trace)
    scored = judge_window(parts, found)
    parts.observe(trace, None)
    if scored is None:
        return WindowLookup(language=found.query.language)
    judged = {each.chunk_id for each, _features, _model in scored}
    passages = {
        key: passage for passage in found.passages for key in judged.intersection(passage.hit_ids)
    }
    first, model = scored[0][1], scored[0][2]
    return WindowLookup(
        tuple(
            _page_candidate(each, passages[each.chunk_id], model.probability(first, features))
            for each, features, model in scored
        ),
        passages,
        found.query.language,
        model.show_from,
    )


async def look_up_for(
    parts: Components, lecture: Lecture, text: str, *, keywords: str = ""
) -> WindowLookup:
    """Look up a window in what a session cites; what fails is logged and finds nothing."""
    try:
        scopes = await asyncio.to_thread(_scopes, parts, lecture)
    except QuothError as error:
        log.warning("window_not_looked_up", extra={"code": error.code})
        scopes = []
    scopes = [replace(each, keywords=keywords) for each in scopes]
    found = await _try_scopes(parts, text, scopes, language=lecture.language)
    best, *others = sorted(found, key=_best, reverse=True) or [WindowLookup()]
    for other in others:
        best = replace(
            best,
            candidates=(*best.candidates, *other.candidates),
            passages={**best.passages, **other.passages},
        )
    return best


def _scopes(parts: Components, lecture: Lecture) -> list[LookupScope]:
    """Return the whole collections of a session, and its documents in others that are there."""
    scopes = [LookupScope(lecture.collections)] if lecture.collections else []
    homes = Lectures.of(parts.catalogue).homes(lecture.documents) if lecture.documents else {}
    single = {key: name for key, name in homes.items() if name not in lecture.collections}
    if single:
        only = Filter("document", "in", tuple(single))
        scopes.append(LookupScope(tuple(dict.fromkeys(single.values())), (only,)))
    return scopes


def _best(found: WindowLookup) -> float:
    return max((each.probability for each in found.candidates), default=-1.0)


async def _try_scopes(
    parts: Components, text: str, scopes: Sequence[LookupScope], *, language: str | None
) -> list[WindowLookup]:
    found = await asyncio.gather(
        *(_try_scope(parts, text, scope, language=language) for scope in scopes)
    )
    return list(chain.from_iterable(found))


async def _try_scope(
    parts: Components, text: str, scope: LookupScope, *, language: str | None
) -> list[WindowLookup]:
    """Look up a window, once more where a failure may pass; each collection alone after that.

    One that is empty, gone, or indexed by another model does not silence the others.
    """
    for attempt in (1, 2):
        try:
            found = await look_up_window(
                parts,
                text,
                scope=scope,
                language=language,
                deadline_ms=DEADLINE_MS,
            )
        except QuothError as error:
            log.warning("window_not_looked_up", extra={"code": error.code})
            if attempt == 2 or not getattr(error, "retryable", False):
                break
        else:
            return [found]
    single = [replace(scope, collections=(name,)) for name in scope.collections]
    return await _try_scopes(parts, text, single, language=language) if len(single) > 1 else []


async def retrieve_window(
    parts: Components,
    text: str,
    *,
    scope: LookupScope,
    language: str | None = None,
    trace: Trace,
) -> Retrieved:
    """Retrieve for a window as for a query, without reading intents or filters into speech."""
    request = Request(text, choices=LIVE, collections=scope.collections, checked=False)
    plan = make_plan(parts.settings.profile, overrides={**parts.settings.plan, **LIVE})
    context = await open_request(parts, request, plan=plan, trace=trace)
    spoken = language or detect_language(
        text, among=_languages(context), fallback=next(iter(_languages(context)), "en")
    )
    wider = f"{text} {scope.keywords}" if scope.keywords else ""
    query = Query(original=text, standalone=text, language=spoken, in_context=wider)
    analysed = AnalysedQuery(query, plan, context.encoded, scope.filters)
    return await select_passages(context, await search_passages(context, analysed))


def judge_window(
    parts: Components, found: Retrieved
) -> list[tuple[Candidate, Features, RelevanceModel]] | None:
    """Return the first candidates with their features and the model for them, if one applies."""
    chunks: dict[str, Chunk] = {
        key: chunk for ranking in found.ranked for key, chunk in ranking.chunks.items()
    }
    legs = joint_results(found.ranked)
    rows = relevance_features(
        found.candidates,
        chunks,
        keyword=legs.keyword,
        semantic=legs.semantic,
        spoken=found.query.original,
        language=found.query.language,
    )
    if rows is None:
        return None
    reranker = parts.reranker
    ours = parts.embedder.name.startswith(MODEL)
    read = ours and reranker is not None and reranker.name == READER and "late" in rows[0][1]
    spoken = found.query.language
    return [
        (
            each,
            features,
            relevance_model(foreign=chunks[each.chunk_id].language != spoken, read=read),
        )
        for each, features in rows
    ]


def _languages(context: RequestContext) -> tuple[str, ...]:
    books = chain.from_iterable(outline.languages for _, outline in context.view.collections)
    return tuple(dict.fromkeys((*books, *interface_languages())))


def _page_candidate(candidate: Candidate, passage: Passage, probability: float) -> PageCandidate:
    chunk = next(each for each in passage.chunks if each.chunk_id == candidate.chunk_id)
    return PageCandidate(candidate.chunk_id, chunk.document_id, place_key(chunk), probability)


def place_key(chunk: Chunk) -> str:
    """Return what at most one card is shown of: the page, or the chunk where there are no pages."""
    return str(chunk.locator.first) if isinstance(chunk.locator, Pages) else chunk.chunk_id


def cite_candidate(
    found: WindowLookup, candidate: PageCandidate, *, spoken: str, number: int
) -> LiveCitation:
    """Cite what a candidate says closest to the words of the window."""
    chunk = found.chunk(candidate.chunk_id)
    start, end = snippet_span(chunk.text, spoken, language=chunk.language)
    made = make_citation(
        found.passages[candidate.chunk_id],
        start=chunk.start + start,
        end=chunk.start + end,
        number=number,
        retrieval_method="hybrid",
        created_at=now(),
        support="unverified",
    )
    values = {each.name: getattr(made, each.name) for each in fields(made)}
    values |= {
        "id": str(uuid4()),
        "chunk_id": candidate.chunk_id,
        "relevance_score": round(candidate.probability, 4),
        "support_score": None,
    }
    return LiveCitation(**values)


def window_record(window: LectureWindow, cards: tuple[LiveCitation, ...]) -> WindowRecord:
    """Return a window as it is stored."""
    last = window.segment_ids[-1]
    return WindowRecord(window.index, window.start, window.end, window.text, last, now(), cards)


def cited_place(citation: LiveCitation) -> str:
    """Return what `place_key` returns for the chunk of a citation."""
    return citation.chunk_id if citation.page_number is None else str(citation.page_number)


def same_cards(one: Sequence[LiveCitation], other: Sequence[LiveCitation]) -> bool:
    """Return whether the cards and their ranks are the same."""
    return [(card.id, card.rank) for card in one] == [(card.id, card.rank) for card in other]


def candidate_of(citation: LiveCitation) -> PageCandidate:
    """Return a stored citation as the candidate that it was chosen from."""
    return PageCandidate(
        citation.chunk_id,
        citation.document_id,
        cited_place(citation),
        citation.relevance_score or 0.0,
    )
