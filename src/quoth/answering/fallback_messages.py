"""Degradations of an answer, in sentences for users.

`Answer.degraded` holds ``stage:reason:fallback``; programs read that, users read this.
"""

from __future__ import annotations

from collections.abc import Iterator

from quoth.answering.finalize import add_warning
from quoth.core.translations import translate
from quoth.core.types import Answer


def describe_degradation(entry: str, *, language: str) -> str:
    """Describe an entry ``stage:reason:fallback`` of `Answer.degraded`.

    An entry without a known sentence is shown unchanged.
    """
    stage, reason, fallback = [*entry.split(":", 2), "", ""][:3]
    why = _sentence(f"reason_{reason}", language)
    instead = _sentence(f"fallback_{stage}_{fallback.replace(' ', '_')}", language)
    if stage == "generate" and why is None:
        kind = "other"
    elif why is not None and stage.startswith("collection "):
        kind = "left_out"
    else:
        kind = "whole" if why is not None and instead is not None else "unknown"
    return translate(
        f"answering.degraded_{kind}",
        language,
        why=why,
        instead=instead,
        stage=stage,
        reason=reason,
        fallback=fallback,
    )


def _sentence(name: str, language: str) -> str | None:
    try:
        return translate(f"answering.{name}", language)
    except KeyError:
        return None


def notes(answer: Answer) -> Iterator[str]:
    """Yield the notes on an answer for its user, without repetition."""
    language = answer.query.language
    fates = [add_warning(each, language=language) for each in ("failed", "cut", "refused", "empty")]
    fell_back = any(entry.startswith("generate:") for entry in answer.degraded)
    yield from (warning for warning in answer.warnings if not (fell_back and warning in fates))
    yield from (describe_degradation(entry, language=language) for entry in answer.degraded)
