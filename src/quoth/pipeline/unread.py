"""Documents that are not read yet: they are named where a collection has no answer without them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from quoth.core.command_line import command_line
from quoth.core.errors import StoreDown
from quoth.core.translations import translate
from quoth.core.types import Answer
from quoth.store.catalogue import Catalogue
from quoth.store.job_rows import count_unread, is_interrupted
from quoth.store.rows import Collection

if TYPE_CHECKING:
    from quoth.pipeline.retrieve import RequestContext

WITHOUT_ANSWER = ("no_results", "low_relevance")
ADD_AGAIN = "Run the same quoth add again."


async def note_unread(context: RequestContext, answer: Answer) -> Answer:
    """Return an answer that found nothing with the number of files that are still being read."""
    if answer.status not in WITHOUT_ANSWER:
        return answer
    asked = [collection.name for collection, _outline in context.view.collections]
    try:
        count = await asyncio.to_thread(count_unread, context.parts.catalogue, asked)
    except StoreDown:  # The answer is complete without it.
        count = 0
    if not count:
        return answer
    return replace(answer, warnings=(*answer.warnings, still_read(count, answer.query.language)))


def still_read(count: int, language: str) -> str:
    """Say how many files are still being read."""
    key = "pipeline.still_read_one" if count == 1 else "pipeline.still_read"
    return translate(key, language, count=count)


def why_empty(catalogue: Catalogue, collection: Collection) -> str:
    """Say that a collection holds no documents yet, and what to do."""
    empty = f"The collection '{collection.name}' holds no documents yet."
    left = [each.title for each in catalogue.documents(collection) if is_interrupted(each)]
    if left:
        more = f" and {len(left) - 1} more" if len(left) > 1 else ""
        return f"{empty} Adding {left[0]}{more} was interrupted. {ADD_AGAIN}"
    if count := count_unread(catalogue, [collection.name]):
        return f"{empty} {still_read(count, 'en')}"
    return f"{empty} Add some with: {command_line('add PATH', collection=collection.name)}"
