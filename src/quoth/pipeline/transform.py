"""The query transformer of another package: it rewords the standalone query before the search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from quoth.core.component_checks import backend_errors
from quoth.core.errors import RetrievalError
from quoth.core.protocols import QueryTransformer
from quoth.core.trace import Trace
from quoth.core.types import Query, Turn
from quoth.pipeline.components import Components

MAX_LENGTH = 1_000
"""Characters of a text that is searched."""


async def transform_query(
    query: Query, parts: Components, *, history: Sequence[Turn], trace: Trace
) -> Query:
    """Return the query with the text that is searched; the query as it was if that fails.

    Filters and places stay those of the query as it was asked.
    """
    if parts.transformer is None:
        return query
    return await trace.attempt(
        "transform",
        _transformed(query, parts.transformer, history=history),
        otherwise=query,
        fallback="query",
        limit_ms=parts.settings.transform_seconds * 1000,
    )


async def _transformed(
    query: Query, transformer: QueryTransformer, *, history: Sequence[Turn]
) -> Query:
    name = f"The query transformer {transformer.name}"
    with backend_errors(name, RetrievalError):
        text = await transformer.transform(query.standalone, history=history)
        if not isinstance(text, str) or not 0 < len(text.strip()) <= MAX_LENGTH:
            raise RetrievalError(f"{name} returned no text of up to {MAX_LENGTH:,} characters.")
    return replace(query, standalone=text.strip())
