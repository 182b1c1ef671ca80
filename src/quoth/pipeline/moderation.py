"""Moderation of what is asked, and of what a language model is asked beside questions.

Where the operator wants moderation and there is no verdict, no language model takes part. What a
model answers is checked in `quoth.pipeline.generate`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from quoth.core.errors import Moderated
from quoth.core.protocols import Moderator
from quoth.core.trace import Trace
from quoth.core.types import Turn
from quoth.pipeline.components import Components


async def moderate_question(
    parts: Components, question: str, *, history: Sequence[Turn], trace: Trace
) -> Components:
    """Return the components, without language models if the question could not be checked.

    Raises Moderated for a question that is flagged, by itself or by the turns before it.
    """
    if parts.moderator is None:
        return parts
    turns = (text for turn in history for text in (turn.question, turn.answer))
    verdict = await trace.attempt(
        "moderate",
        parts.moderator.check("\n".join((question, *turns))),
        otherwise=None,
        fallback="extractive",
    )
    if verdict is None:
        return replace(parts, generator=None, small=None)
    if verdict:
        raise Moderated(f"This question is not answered here: it was flagged ({verdict}).")
    return parts


async def require_unflagged(moderator: Moderator | None, text: str) -> None:
    """Raise Moderated for a text that is flagged, ModerationError where there is no verdict."""
    if moderator is not None and (verdict := await moderator.check(text)):
        raise Moderated(f"This text is left out: it was flagged ({verdict}).")
