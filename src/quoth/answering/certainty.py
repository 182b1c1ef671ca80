"""Whether an answer in the sources' own words may be none."""

from __future__ import annotations

from quoth.core.types import Answer

CERTAIN = 0.45
"""The probability below which an answer says that it may be none (docs/decisions/057)."""


def is_doubtful(answer: Answer) -> bool:
    """Return whether an answer without a language model may be none."""
    return bool(answer.citations) and answer.model is None and (answer.confidence or 1) < CERTAIN
