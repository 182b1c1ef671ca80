"""The mark behind a sentence of an answer that is not proved."""

from __future__ import annotations

from quoth.core.translations import translate
from quoth.core.types import Support


def doubt_mark(support: Support, language: str) -> str:
    """Return the mark of a sentence that no source supports, or that could not be checked."""
    if support not in ("unsupported", "unverified"):
        return ""
    return translate(f"answering.{support}_mark", language)
