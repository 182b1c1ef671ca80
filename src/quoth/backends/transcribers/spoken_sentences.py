"""Sentences of spoken words, by their punctuation and pauses."""

from __future__ import annotations

from collections.abc import Sequence

from quoth.core.speech import SpokenSegment, SpokenWord

PAUSE_S = 1.5
"""Silence that ends a sentence without a full stop."""
MAX_SENTENCE_S = 30.0
FIRST_WORD_S = 0.6
"""Longest first word of a sentence: a recogniser counts the pause before it to the word. Of 29
sentences with pauses of .6 s all begin within .5 s, .79 of them without this."""
_STOPS = (".", "!", "?", "…", "。")


def sentences_of(words: Sequence[SpokenWord]) -> list[SpokenSegment]:
    """Group words into sentences: to a full stop, a pause, or `MAX_SENTENCE_S`."""
    groups: list[list[SpokenWord]] = []
    for word in words:
        last = groups[-1] if groups else []
        ended = last and (
            last[-1].text.rstrip().endswith(_STOPS)
            or word.start - last[-1].end >= PAUSE_S
            or word.end - last[0].start > MAX_SENTENCE_S
        )
        if ended or not last:
            groups.append([word])
        else:
            last.append(word)
    return [
        SpokenSegment(
            max(group[0].start, round(group[0].end - FIRST_WORD_S, 2)),
            group[-1].end,
            "".join(word.text for word in group).strip(),
            tuple(group),
        )
        for group in groups
    ]
