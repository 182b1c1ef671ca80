"""The mark behind a sentence of an answer that is not proved."""

from __future__ import annotations

from quoth.core.events import SentenceVerified
from quoth.core.translations import translate
from quoth.core.types import Sentence


def doubt_mark(sentence: Sentence | SentenceVerified, language: str) -> str:
    """Return the mark of a sentence that no source supports, or that could not be checked.

    One that says nothing of the sources, and so cites none, is not checked and has no mark.
    """
    if sentence.support == "unsupported" or (
        sentence.support == "unverified" and sentence.citations
    ):
        return translate(f"answering.{sentence.support}_mark", language)
    return ""
