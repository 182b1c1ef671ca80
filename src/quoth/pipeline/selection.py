"""Selection among the rankings of one query: copies, documents, several collections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from itertools import chain, zip_longest

from quoth.core.plan import Plan
from quoth.core.translations import translate
from quoth.core.types import Answer, Candidate, Document, Filter, Query, Scored
from quoth.pipeline.rank import RankedList
from quoth.query.filters.parse import MAX_LISTED
from quoth.query.keywords import names_place, only_asks_for_a_place
from quoth.retrieval.fusion import lift
from quoth.retrieval.passages import cap_per_document, collapse_duplicates
from quoth.retrieval.rerank import RERANK, mix, spread
from quoth.retrieval.search import RetrieverResults, fuse
from quoth.store.catalogue import Catalogue
from quoth.store.rows import ChunkContext, Collection
from quoth.text.contents import is_contents

FEW = 3
"""Fewer hits than this, with filters read from the query, and it is searched without them, too."""
MIN_COPIES = 3
"""Fewer near-duplicates say nothing of the whole."""
NARROW = ("factual", "page_specific")
"""Kinds of queries that ask for one thing: how many views there are does not matter."""
Pool = list[tuple[Candidate, Collection]]
"""Ranked candidates, each with its collection."""


def select_hits(ranked: Sequence[RankedList], plan: Plan) -> tuple[Pool, dict[str, str]]:
    """Return the final candidates, and the kept chunk of each near-duplicate removed.

    Candidates whose document is not committed, or is gone, have no chunk: others take their place,
    and those of tables of contents come last, unless a place is asked for.
    """
    chunks = {key: chunk for ranking in ranked for key, chunk in ranking.chunks.items()}
    vectors = {key: row for ranking in ranked for key, row in ranking.vectors.items()}
    pool = [pair for pair in merge_pools(ranked, plan) if pair[0].chunk_id in chunks]
    if not any(ranking.whole for ranking in ranked):
        pool.sort(key=lambda pair: is_contents(chunks[pair[0].chunk_id].text))
    collection_of = {each.chunk_id: collection for each, collection in pool}
    candidates = [each for each, _ in pool]
    if plan.max_per_document is not None:
        candidates = cap_per_document(
            candidates,
            document_of=lambda key: chunks[key].document_id,
            limit=plan.max_per_document,
        )
    kept, copies = collapse_duplicates(
        candidates,
        cosine=plan.duplicate_cosine,
        vectors=vectors,
        texts={candidate.chunk_id: chunks[candidate.chunk_id].text for candidate in candidates},
        limit=plan.final_k,
    )
    return [(each, collection_of[each.chunk_id]) for each in kept], copies


def note_low_diversity(answer: Answer, *, kept: int, copies: int) -> Answer:
    """Return an answer with a note where at least half of what was found repeats the rest.

    ``kept`` passages were chosen, and ``copies`` left out as their near-duplicates.
    """
    asked = answer.query
    if answer.status not in ("answered", "partial") or asked.kind in NARROW:
        return answer
    if copies < max(kept, MIN_COPIES):
        return answer
    note = translate("answering.low_diversity", asked.language)
    return replace(answer, warnings=(*answer.warnings, note))


def merge_pools(ranked: Sequence[RankedList], plan: Plan) -> Pool:
    """Merge the pools of several collections: each keeps its order, one scale of scores merges.

    Scores of a fusion compare within one query and collection only. So what the retrievers and the
    reranker found in all collections is fused once more, together, and the scores of this fusion
    are given to each pool in its order. Complete contents of places take turns.
    """
    pools = [[(candidate, ranking.collection) for candidate in ranking.pool] for ranking in ranked]
    if len(pools) == 1:
        return pools[0]
    if any(ranking.whole for ranking in ranked):
        return [pair for pairs in zip_longest(*pools) for pair in pairs if pair is not None]
    score_of = _joint_scores(ranked, plan)
    merged: Pool = []
    for pool in pools:
        scores = sorted((score_of[each.chunk_id] for each, _ in pool), reverse=True)
        merged += [
            (each._replace(score=score), collection)
            for (each, collection), score in zip(pool, scores, strict=True)
        ]
    return sorted(merged, key=lambda pair: -pair[0].score)


def joint_results(ranked: Sequence[RankedList]) -> RetrieverResults:
    """Return what each retriever found in all collections, best first."""
    found: dict[str, list[Scored]] = {}
    for each in fields(RetrieverResults):
        legs = chain.from_iterable(getattr(ranking.legs, each.name) for ranking in ranked)
        found[each.name] = sorted(legs, key=lambda hit: -hit[1])
    return RetrieverResults(**found)


def _joint_scores(ranked: Sequence[RankedList], plan: Plan) -> dict[str, float]:
    """Return the score of every candidate of the pools as if all were of one collection."""
    fused = {each.chunk_id: each.score for each in fuse(joint_results(ranked), plan)}
    pool = [each for ranking in ranked for each in ranking.pool]
    scores = [fused.get(each.chunk_id, 0.0) for each in pool]
    raw = [each.legs[RERANK].score for each in pool if RERANK in each.legs]
    if raw and len(raw) == len(pool):
        scores = mix(spread(scores), spread(raw), weight=plan.rerank_weight)
    return {each.chunk_id: score for each, score in zip(pool, scores, strict=True)}


def found_little(
    query: Query, ranked: Sequence[RankedList], *, documents: Mapping[str, Document]
) -> bool:
    """Return whether filters read from a query, other than places, left fewer than `FEW` hits.

    A query that only names a short document ("What does the harbour report say?"), or a person
    who says little, wants no more.
    """
    if names_place(query.filters):
        return False
    if sum(len(each.pool) for each in ranked) >= FEW or any(each.whole for each in ranked):
        return False
    keys = {each.field: [*map(str, each.values)] for each in query.filters}
    named = keys.get("document", [])
    titles = [documents[key].title for key in named if len(named) == 1 and key in documents]
    names_one = bool(titles) or "speaker" in keys
    return not (names_one and only_asks_for_a_place(query, sources=titles))


def note_given(
    given: Sequence[Filter],
    ranked: Sequence[RankedList],
    *,
    stated: tuple[str, ...],
    documents: Mapping[str, Document],
    language: str,
) -> tuple[str, ...]:
    """Return the notices of all filters: ``stated`` are those of the filters that a query states.

    Of the given ones, documents that are not there are named. Where nothing passes them, that
    alone is noted.
    """
    if given and not any(ranking.fused for ranking in ranked):
        return (translate("pipeline.no_match", language),)
    named = [str(key) for each in given if each.field == "document" for key in each.values]
    missing = [key for key in named if key and key not in documents]
    if not missing:
        return stated
    quoted = [translate("answering.quoted_name", language, name=key) for key in missing]
    asked = ", ".join(quoted[:MAX_LISTED]) + ", …" * (len(quoted) > MAX_LISTED)
    return (*stated, translate("pipeline.no_document", language, asked=asked))


def fuse_with(ranked: Sequence[RankedList], wide: Sequence[RankedList]) -> list[RankedList]:
    """Return the wide rankings with the narrow ones' hits lifted by reciprocal rank fusion."""
    narrow = {ranking.collection.id: ranking for ranking in ranked}
    return [
        ranking
        if ranking.collection.id not in narrow
        else replace(
            ranking, pool=tuple(lift(ranking.pool, above=narrow[ranking.collection.id].pool))
        )
        for ranking in wide
    ]


def read_context(
    catalogue: Catalogue, final: Pool, ranked: Sequence[RankedList], *, window: int
) -> ChunkContext:
    """Return the final chunks, their neighbours and their documents."""
    context = ChunkContext({}, {})
    for ranking in ranked:
        hits = [
            ranking.chunks[candidate.chunk_id]
            for candidate, collection in final
            if collection.id == ranking.collection.id
        ]
        found = catalogue.chunk_contexts(ranking.collection, hits, window=window)
        context.chunks.update(found.chunks)
        context.documents.update(found.documents)
    return context
