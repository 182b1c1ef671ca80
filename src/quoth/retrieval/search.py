"""Keyword, vector and sparse search of every query variant, each with its own fallback."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

from quoth.core.errors import OutOfTime, RetrievalError
from quoth.core.page_images import PageEmbedder, PageIndex
from quoth.core.plan import Plan
from quoth.core.protocols import (
    Embedder,
    EncodedQuery,
    Index,
    Matrix,
    SparseIndex,
    SparseWeights,
)
from quoth.core.trace import Trace
from quoth.core.types import Candidate, Chunk, Document, Filter, Scored, Variant
from quoth.query.entity_index import date_bounds
from quoth.retrieval.fusion import (
    convex_combination,
    passthrough,
    reciprocal_rank_fusion,
    weighted_sum,
)
from quoth.text.locators import SEVERAL, has_speakers

DAY_LENGTH = len("2024-03-01")
"""Characters of a date with its day."""
MAX_EMBED_MS = 30_000.0
"""How long the embedder of a query is waited for; a server may load its model first."""


class EncodedVariant(NamedTuple):
    """A query variant with its unit vector and lexical weights, None where it has none.

    ``page`` is its vector among pictures of pages.
    """

    variant: Variant
    vector: Matrix | None
    sparse: SparseWeights | None = None
    page: Matrix | None = None


@dataclass(frozen=True, slots=True)
class RetrieverResults:
    """Results of one query variant by retriever, best first.

    ``sparse`` are those by lexical weights, ``pages`` by pictures of pages.
    """

    keyword: list[Scored] = field(default_factory=list)
    semantic: list[Scored] = field(default_factory=list)
    sparse: list[Scored] = field(default_factory=list)
    pages: list[Scored] = field(default_factory=list)


async def encode_query(text: str, *, embedder: Embedder, trace: Trace) -> EncodedQuery | None:
    """Return the vector and the token vectors of a query, None where the embedder failed.

    It may take `MAX_EMBED_MS`, and half of the remaining time; the rest is for keyword search.
    """
    remaining = trace.remaining_ms()
    return await trace.attempt(
        "embed",
        embedder.encode(text),
        otherwise=None,
        fallback="keyword",
        limit_ms=MAX_EMBED_MS if remaining is None else min(MAX_EMBED_MS, remaining / 2),
    )


async def embed_variants(
    variants: Sequence[Variant],
    encoded: EncodedQuery | None,
    plan: Plan,
    *,
    embedder: Embedder,
    trace: Trace,
    page: Matrix | None = None,
) -> list[EncodedVariant]:
    """Pair each variant with its vector; the first is the query, already encoded.

    ``page`` is the query's vector among pictures of pages.
    """
    question = variants[0].text
    vectors = {} if encoded is None else {question: encoded.vector}
    texts = dict.fromkeys(each.text for each in variants if each.semantic)
    others = [text for text in texts if text != question]
    if others and plan.mode != "keyword":
        rows = await trace.attempt(
            "embed", embedder.embed(others, role="query"), otherwise=None, fallback="keyword"
        )
        if rows is not None:
            vectors.update(zip(others, rows, strict=True))
    sparse = {} if encoded is None else {question: encoded.sparse}
    return [
        EncodedVariant(
            variant,
            vectors.get(variant.text),
            sparse.get(variant.text),
            None if number else page,
        )
        for number, variant in enumerate(variants)
    ]


async def embed_page_query(
    text: str, plan: Plan, *, embedder: PageEmbedder, trace: Trace
) -> Matrix | None:
    """Return the vector of a query among pictures of pages, None where none is wanted or made.

    It may take half of the remaining time; the rest is for the search of texts.
    """
    if plan.mode != "hybrid" or plan.page_weight == 0:
        return None
    remaining = trace.remaining_ms()
    return await trace.attempt(
        "pages",
        embedder.embed_query(text),
        otherwise=None,
        fallback="texts alone",
        limit_ms=None if remaining is None else remaining / 2,
    )


async def search(
    encoded_variants: Sequence[EncodedVariant],
    plan: Plan,
    *,
    index: Index,
    languages: Sequence[str],
    trace: Trace,
) -> list[RetrieverResults]:
    """Search every variant with the retrievers selected by it and by the plan's mode.

    A retriever that fails is left out and recorded; raises RetrievalError when the first variant,
    the query itself, has none left.
    """
    found = await asyncio.gather(
        *(
            _search_variant(
                encoded_variant,
                plan,
                index=index,
                languages=languages,
                trace=trace,
            )
            for encoded_variant in encoded_variants
        )
    )
    if found[0] is None:
        if all(":deadline:" in failure for failure in trace.failures):
            raise OutOfTime(
                "The search did not end in the time that was allowed. Allow more (max_ms, "
                "deadline_ms)."
            )
        why = ", ".join(trace.failures)
        raise RetrievalError(f"The search is unavailable now: {why}. Look at: quoth doctor")
    return [results or RetrieverResults() for results in found]


async def _search_variant(
    encoded_variant: EncodedVariant,
    plan: Plan,
    *,
    index: Index,
    languages: Sequence[str],
    trace: Trace,
) -> RetrieverResults | None:
    """Search one variant; None if both retrievers failed, or one did and the other is empty."""
    variant, vector, weights, page = encoded_variant
    filters, limit = (*plan.filters, *variant.filters), plan.candidates_per_leg

    async def attempt(
        stage: str, work: Callable[[], Coroutine[Any, Any, list[Scored]]], *, fallback: str
    ) -> list[Scored] | None:
        # Called here, so that no coroutine is left over where the answer is stopped before.
        return await trace.attempt(stage, work(), otherwise=None, fallback=fallback)

    searches: dict[str, Coroutine[Any, Any, list[Scored] | None]] = {}
    dense_wanted = plan.mode != "keyword" and variant.semantic
    if dense_wanted and vector is not None:
        nearest = partial(index.nearest, vector, limit=limit, filters=filters)
        searches["semantic"] = attempt("semantic", nearest, fallback="keyword")
    if plan.mode != "semantic" and variant.keyword:
        match = partial(
            index.match, variant.text, languages=languages, limit=limit, filters=filters
        )
        searches["keyword"] = attempt("keyword", match, fallback="semantic")
    weighed = plan.mode == "hybrid" and plan.sparse_weight > 0
    if weighed and weights is not None and isinstance(index, SparseIndex):
        sparse = partial(index.match_sparse, weights, limit=limit, filters=filters)
        searches["sparse"] = attempt("sparse", sparse, fallback="keyword and semantic")
    if page is not None and isinstance(index, PageIndex):
        pages = partial(index.match_pages, page, limit=limit, filters=filters)
        searches["pages"] = attempt("pages", pages, fallback="texts alone")
    found = dict(zip(searches, await asyncio.gather(*searches.values()), strict=True))
    dense = found.get("semantic", None if dense_wanted else [])
    lexical = found.get("keyword", [])
    if (dense is None and not lexical) or (lexical is None and not dense):
        return None
    return RetrieverResults(
        lexical or [], dense or [], found.get("sparse") or [], found.get("pages") or []
    )


# --- filters that an index does not apply as they are -------------------------------------------


def index_filters(filters: Sequence[Filter], documents: Iterable[Document]) -> tuple[Filter, ...]:
    """Return the filters for an index: without speakers, which `within_speakers` adds.

    An index holds a date as a day. Where documents with a year or a month alone pass a filter on
    the date, it becomes one on the ``documents`` that pass it.
    """
    found = []
    for each in filters:
        if each.field == "date":
            dated = [document for document in documents if is_dated(document, each)]
            if any(len(document.date or "") < DAY_LENGTH for document in dated):
                each = Filter("document", "in", tuple(one.document_id for one in dated))
        if each.field != "speaker":
            found.append(each)
    return tuple(found)


def is_dated(document: Document, condition: Filter) -> bool:
    """Return whether a day of the document's date, which may be a year, is within a filter."""
    days = date_bounds(document.date or "")
    first, last = map(float, condition.values)
    return days is not None and days[0] <= last and days[1] >= first


# --- filters on a speaker: alone, or among others ---------------------------------------------


def authors_of(documents: Iterable[Document], filters: Sequence[Filter]) -> dict[str, str]:
    """Return the speakers of the documents that pass all filters on a speaker, by their ids."""
    return {
        document.document_id: document.speaker
        for document in documents
        if document.speaker and all(document.speaker in each.values for each in filters)
    }


def within_speakers(
    variants: Sequence[Variant], filters: Sequence[Filter], *, authors: Mapping[str, str]
) -> list[Variant]:
    """Return each variant for what the speakers say alone, among others, and wrote as authors.

    An index knows the speaker of a passage that has only one; of the others, and of the documents
    of these ``authors``, `said_by` keeps those that fit. ``filters`` are those on a speaker.
    """
    kinds = [("", tuple(filters)), (" several speakers", (Filter("speaker", "in", (SEVERAL,)),))]
    if authors:
        kinds.append((" by author", (Filter("document", "in", tuple(authors)),)))
    return [
        replace(variant, name=f"{variant.name}{name}".strip(), filters=(*variant.filters, *found))
        for variant in variants
        for name, found in kinds
    ]


async def said_by(
    candidates: list[Candidate],
    filters: Sequence[Filter],
    *,
    authors: Mapping[str, str],
    fetch: Callable[[Sequence[str]], Mapping[str, Chunk]],
) -> list[Candidate]:
    """Return the candidates whose chunk, read by ``fetch``, passes the filters on a speaker."""
    chunks = await asyncio.to_thread(fetch, [each.chunk_id for each in candidates])
    return [
        each
        for each in candidates
        if (chunk := chunks.get(each.chunk_id))
        and has_speakers(chunk, filters, author=authors.get(chunk.document_id, ""))
    ]


# --- fusion ------------------------------------------------------------------------------------


def merge(
    encoded_variants: Sequence[EncodedVariant], found: Sequence[RetrieverResults], plan: Plan
) -> list[Candidate]:
    """Fuse each variant's rankings as the plan says, then combine the variants by weight."""
    rankings = [fuse(results, plan) for results in found]
    if len(rankings) == 1:
        return rankings[0]
    return weighted_sum(rankings, variants=[each.variant for each in encoded_variants])


def fuse(results: RetrieverResults, plan: Plan) -> list[Candidate]:
    """Fuse the retrievers' rankings as the plan says."""
    rankings = {"keyword": results.keyword, "semantic": results.semantic}
    if results.sparse:
        rankings["sparse"] = results.sparse
    if results.pages:
        rankings["pages"] = results.pages
    if plan.mode == "keyword":
        return passthrough(rankings, leg="keyword", kind="bm25")
    if plan.mode == "semantic":
        return passthrough(rankings, leg="semantic", kind="cosine")
    if plan.fusion == "rrf":
        return reciprocal_rank_fusion(rankings, k=plan.rrf_k)
    return convex_combination(
        rankings,
        dense_weight=plan.dense_weight,
        sparse_weight=plan.sparse_weight,
        page_weight=plan.page_weight,
    )
