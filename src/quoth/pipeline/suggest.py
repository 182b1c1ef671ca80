"""Suggested questions, from the content and the history of a library."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from quoth.core.outline import CollectionOutline
from quoth.core.types import Answer, Chunk, Turn
from quoth.pipeline.components import Components
from quoth.query.suggest_rank import completions, frequent_names, sort_by_similarity, suggest
from quoth.store.rows import Collection
from quoth.text.language import detect_language

MAX_SUGGESTIONS = 3
MAX_PAST = 200
"""Number of past queries considered, newest first."""
SUGGESTED_STATUSES = ("answered", "partial")
"""Statuses of past queries that are worth suggesting."""
MAX_CITATIONS = 2
"""Citations whose surroundings are considered."""


async def follow_up(
    parts: Components,
    answer: Answer,
    *,
    collection: str,
    history: Sequence[Turn] = (),
) -> tuple[str, ...]:
    """Suggest follow-up questions to an answer; none after one without citations.

    ``history`` holds the turns before it: their questions are not suggested.
    """
    if not answer.citations:
        return ()

    def work() -> tuple[str, ...]:
        found, outline = parts.outlines.read([collection])[0][0]
        language = answer.query.language
        near = [citation.chunk_id for citation in answer.citations[:MAX_CITATIONS]]
        chunks = parts.catalogue.chunks([*near, *answer.used_chunks])
        cited = [chunks[key] for key in dict.fromkeys(near) if key in chunks]
        languages = {each.document_id: each.language for each in outline.documents}
        own = [each for each in cited if languages.get(each.document_id) == language]
        # The answer used passages of other documents as well, which may be about something else.
        proving = {each.document_id for each in answer.citations}
        used = (chunks[key] for key in answer.used_chunks if key in chunks)
        texts = [each.text for each in used if each.document_id in proving]
        titles = [each.title for each in outline.documents]
        return suggest(
            answer.query.standalone,
            language=language,
            headings=_round_robin([_headings_near(outline, each) for each in own or cited]),
            names=frequent_names(texts, without=" ".join((answer.query.standalone, *titles))),
            asked=(
                each
                for each in _asked(parts, found)
                if each != answer.query.original
                and detect_language(each, among=("en", "fr", language), fallback=language)
                == language
            ),
            limit=MAX_SUGGESTIONS,
            earlier=[turn.question for turn in history],
        )

    return await asyncio.to_thread(work)


async def complete(parts: Components, beginning: str, *, collection: str) -> tuple[str, ...]:
    """Suggest completions of a typed beginning; raises NotFound for an unknown collection."""

    def work() -> tuple[str, ...]:
        found, outline = parts.outlines.read([collection])[0][0]
        titles = [heading.path[-1] for heading in outline.headings if heading.path]
        return completions(
            beginning,
            language=detect_language(beginning, among=("en", "fr"), fallback=outline.languages[0]),
            headings=[*titles, *(document.title for document in outline.documents)],
            asked=_asked(parts, found),
            limit=MAX_SUGGESTIONS,
        )

    return await asyncio.to_thread(work)


async def first_questions(
    parts: Components,
    *,
    collection: str,
    language: str | None = None,
) -> tuple[str, ...]:
    """Suggest questions about documents, by their titles; titles that are questions come first.

    They are of one language: the given one if there are documents in it, else the collection's.
    """

    def work() -> tuple[str, ...]:
        _found, outline = parts.outlines.read([collection])[0][0]
        known = {each.language for each in outline.documents}
        own = language if language and language in known else outline.languages[0]
        titles = [each.title for each in outline.documents if each.language == own]
        titles.sort(key=lambda title: not title.rstrip().endswith("?"))
        return suggest("", language=own, headings=titles, names=(), asked=(), limit=MAX_SUGGESTIONS)

    return await asyncio.to_thread(work)


def _headings_near(outline: CollectionOutline, chunk: Chunk) -> Iterator[str]:
    """Return the headings of the chunk's document, nearest first."""
    mine = [heading for heading in outline.headings if heading.document_id == chunk.document_id]
    holding = [at for at, each in enumerate(mine) if each.first <= chunk.ordinal <= each.last]
    return sort_by_similarity([each.path for each in mine], at=holding[-1] if holding else -1)


def _round_robin(queues: Sequence[Iterator[str]]) -> Iterator[str]:
    return (each for row in zip_longest(*queues) for each in row if each)


def _asked(parts: Components, collection: Collection) -> Iterator[str]:
    past = parts.catalogue.asked(limit=MAX_PAST, collection=collection.name)
    return (each.text for each in past if each.status in SUGGESTED_STATUSES)
