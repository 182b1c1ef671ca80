"""Sentences of an answer that share a marker in its text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from quoth.core.types import Sentence


def marked_runs(
    text: str, sentences: Sequence[Sentence]
) -> Iterator[tuple[int, Sentence, Sentence]]:
    """Return each run of sentences that share a marker: its number, its first and last sentence.

    The number is that of the first, from 1. The sentences of a quotation are one run, those of a
    language model one each unless they share their sources.
    """
    number = 1
    for place, each in enumerate(sentences, 1):
        if place == len(sentences) or not _share(each, sentences[place], text):
            yield number, sentences[number - 1], each
            number = place + 1


def _share(one: Sentence, after: Sentence, text: str) -> bool:
    """Whether two sentences are proved by the same and nothing stands between them."""
    same = one.citations == after.citations and one.support == after.support == "supported"
    return same and not text[one.end : after.start].strip()
