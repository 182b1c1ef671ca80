"""Searches one collection, by the kind of query.

Most queries are ranked. What asks for a place, a list or a summary is looked up by structure and
returns the same `RankedList`: the requested place, the headings, or passages of all of a document.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace

from quoth.core.outline import Heading
from quoth.core.protocols import EncodedQuery
from quoth.core.types import Candidate, Chunk, Query
from quoth.pipeline.rank import RankedList, SearchContext, rank
from quoth.query.keywords import (
    asks_for_documents,
    asks_for_summary,
    kind_of_source,
    names_a_topic,
    names_place,
    only_asks_for_a_place,
    strip_outline_words,
    summary_subject,
    summary_titles,
    summary_topic,
)
from quoth.retrieval.search import RetrieverResults
from quoth.retrieval.summary_lookup import (
    MAX_HEADINGS,
    MAX_PARTS,
    TO_THE_END,
    DocumentPart,
    asks_about_more,
    coverage_sample,
    document_of_chapter,
    headings_at,
    listed_documents,
    listed_headings,
    named_documents,
    named_parts,
    summary_sections,
)
from quoth.store.blobs import source_name
from quoth.text.locators import filters_from_moment

MAX_OPENING = 4
"""Chunks after the first one that a short section is shown with."""
SHORT_PLACE = 3
"""Chunks of a place that is shown as it is in place of its summary."""


async def search_collection(
    context: SearchContext, query: Query, encoded: EncodedQuery | None
) -> RankedList:
    """Search a collection with the plan's strategy."""
    plan = context.plan
    placed = names_place(plan.filters)
    if asks_for_documents(query) and (found := await list_documents(context, query)):
        return found
    if (source := strip_outline_words(query)) and (found := await look_up_outline(context, source)):
        return found
    if (
        plan.strategy == "cover"
        or (placed and only_asks_for_a_place(query, sources=_chosen_titles(context, query)))
        or _asks_what_a_document_is_about(context, query)
    ):
        return await sample_coverage(context, query) or await rank(context, query, encoded)
    if plan.strategy == "look_up":
        return await structural_lookup(context, query) or await rank(context, query, encoded)
    return await rank(context, query, encoded)


async def structural_lookup(context: SearchContext, query: Query) -> RankedList | None:
    """Return the chunks at a requested place, in order; None if there are too many."""
    plan = context.plan
    if not names_place(plan.filters):
        return None
    chunks = await asyncio.to_thread(
        context.parts.catalogue.look_up,
        context.collection,
        filters=filters_from_moment(plan.filters),
        limit=plan.rerank_pool + 1,
    )
    if len(chunks) > plan.rerank_pool:
        return None
    # One edition is enough when a book has several.
    readable = [each for each in chunks if each.language == query.language] or chunks
    return _whole(context, readable)


async def look_up_outline(context: SearchContext, query: Query) -> RankedList | None:
    """Return the headings of the source that a query names and nothing else; None without one."""
    filters, outline = context.plan.filters, context.outline
    if filters:  # They name the source; another name is a subject.
        query = replace(query, entities=())
    titles, subject = summary_titles(query), summary_subject(query)
    named = bool(filters or titles)
    sources = _chosen_titles(context, query)
    sources += [each.path[-1] for each in headings_at(outline, filters) if each.path]
    if named and not only_asks_for_a_place(query, sources=sources):
        return None
    parts = _named_parts(context, query, limit=MAX_HEADINGS if named or subject else 1)
    if not named:  # A heading with these words is not named by them.
        parts = tuple(part for part in parts if part.last == TO_THE_END)
    headings = listed_headings(outline, parts)
    if not 1 < len(headings) <= MAX_HEADINGS:
        return None
    return await _headed(context, headings)


async def list_documents(context: SearchContext, query: Query) -> RankedList | None:
    """Return the titles of the first `MAX_HEADINGS` documents as headings; None without one."""
    listed = listed_documents(context.outline, context.plan.filters, kind=kind_of_source(query))
    titles = [Heading(each.document_id, (each.title,), 0, 0) for each in listed[:MAX_HEADINGS]]
    found = await _headed(context, tuple(titles)) if titles else None
    return found and replace(found, unlisted=len(listed) - len(titles))


async def _beginning(context: SearchContext, part: DocumentPart) -> RankedList | None:
    """Return the first chunks of a section that is too short for a summary; None of a document."""
    if part.last == TO_THE_END:
        return None
    wanted = [(part.document_id, part.first, min(part.last, part.first + MAX_OPENING))]
    return _whole(context, await asyncio.to_thread(context.parts.catalogue.chunk_ranges, wanted))


async def _headed(context: SearchContext, headings: tuple[Heading, ...]) -> RankedList:
    """Return headings with the chunks that they stand in."""
    wanted = [(each.document_id, each.first, each.first) for each in headings]
    chunks = await asyncio.to_thread(context.parts.catalogue.chunk_ranges, wanted)
    return replace(_whole(context, chunks), headings=headings)


async def sample_coverage(context: SearchContext, query: Query) -> RankedList | None:
    """Return the summary of a named source; a sample of its chunks if it has none."""
    plan, catalogue = context.plan, context.parts.catalogue
    if plan.filters and not only_asks_for_a_place(query, sources=_chosen_titles(context, query)):
        return None
    wanted = _named_parts(context, query)
    topic = summary_topic(query)
    titled = any(each.field in ("chapter", "section") for each in plan.filters)
    is_short = sum(each.last - each.first + 1 for each in wanted) <= SHORT_PLACE
    more = asks_about_more(context.outline, wanted, topic, language=query.language)
    if not wanted or more or (is_short and titled):
        return await structural_lookup(context, query)
    documents = [each.document_id for each in wanted]
    summaries = await asyncio.to_thread(catalogue.summaries, context.collection, documents)
    sections = summary_sections(context.outline.headings, wanted[0]) if len(wanted) == 1 else ()
    parts = [DocumentPart(each.document_id, each.first, each.last) for each in sections]
    overview = coverage_sample(summaries, wanted, limit=plan.max_sentences)
    chosen = coverage_sample(summaries, parts, limit=plan.max_sentences) or overview
    if not chosen and not sections:
        return await structural_lookup(context, query) or await _beginning(context, wanted[0])
    # A language model reads from the first on, as far as its context holds.
    ids = dict.fromkeys(each.chunk_id for each in (*overview, *chosen))
    stored = await asyncio.to_thread(catalogue.chunks, list(ids))
    chunks = [stored[key] for key in ids if key in stored]
    if parts:  # Each section is quoted from its beginning, as is the whole.
        openings = [(each.document_id, each.first, each.first + 1) for each in (*wanted, *parts)]
        chunks += await asyncio.to_thread(catalogue.chunk_ranges, openings)
    return replace(_whole(context, chunks), summary=chosen, sections=sections)


def _named_parts(
    context: SearchContext, query: Query, *, limit: int = MAX_PARTS
) -> tuple[DocumentPart, ...]:
    """Return the documents or chapters that a query names."""
    return named_parts(
        context.outline,
        context.plan.filters,
        language=query.language,
        kind=kind_of_source(query),
        subject=summary_subject(query),
        titles=summary_titles(query),
        limit=limit,
    )


def _asks_what_a_document_is_about(context: SearchContext, query: Query) -> bool:
    """Return whether a query asks for a summary in words, and names nothing but documents."""
    if not asks_for_summary(query) or not summary_subject(query):
        return False
    if names_a_topic(query.standalone):
        return False
    named = _named_parts(context, query)
    return bool(named) and all(part.last == TO_THE_END for part in named)


def _chosen_titles(context: SearchContext, query: Query) -> list[str]:
    """Return the names of the documents that the search is restricted to.

    A date restricts it to the only document of that date, which its first heading names as well. A
    chapter restricts it to the only document with such a chapter that the query names, unless the
    name follows a word such as "about": "What does chapter 2 say about bees?".
    """
    filters, outline = context.plan.filters, context.outline
    fields = {each.field for each in filters}
    named = named_documents(outline, filters) if fields & {"document", "date"} else []
    headings: list[str] = []
    if "document" in fields:
        chosen = named
    elif len(named) == 1:
        chosen = named
        own = (each for each in outline.headings if each.document_id == named[0].document_id)
        headings = [each.path[-1] for each in own if each.path][:1]
    else:
        subject = frozenset() if names_a_topic(query.standalone) else summary_subject(query)
        known = document_of_chapter(outline, filters, subject=subject)
        chosen = [] if known is None else [known]
    return headings + [name for each in chosen for name in (each.title, source_name(each.source))]


def _whole(context: SearchContext, requested: Iterable[Chunk]) -> RankedList:
    """Return the ranking of chunks requested by their place, each once."""
    chunks = {each.chunk_id: each for each in requested}
    pool = tuple(Candidate(key, 1.0, "place") for key in chunks)
    return RankedList(
        context.collection,
        context.tuning,
        RetrieverResults(),
        fused=pool,
        pool=pool,
        chunks=chunks,
        whole=True,
    )
