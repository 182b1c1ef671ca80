"""The part of a passage that a card shows: the sentences closest to what is said."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from quoth.text.analyzer import analyze
from quoth.text.sentences import sentences

MAX_SNIPPET = 200
MAX_KEYWORDS, MAX_CONCEPTS = 5, 3


def snippet_span(text: str, spoken: str, *, language: str) -> tuple[int, int]:
    """Return the characters of a passage that share most words with a window, at most 200.

    The first sentence where none shares any, as with a lecture in another language.
    """
    wanted = Counter(analyze(spoken, language=language))
    spans = [span for span in sentences(text) if len(text[slice(*span)].split()) > 2]
    spans = spans or sentences(text) or [(0, len(text))]

    def shared(span: tuple[int, int]) -> float:
        terms = set(analyze(text[slice(*span)], language=language))
        return len(terms & wanted.keys()) / math.sqrt(4 + len(terms))

    best = max(range(len(spans)), key=lambda at: (shared(spans[at]), -at))
    start, end = spans[best]
    for later in spans[best + 1 :]:
        if later[1] - start > MAX_SNIPPET:
            break
        end = later[1]
    return start, _cut(text, start, end)


def _cut(text: str, start: int, end: int) -> int:
    if end - start <= MAX_SNIPPET:
        return end
    blank = text.rfind(" ", start, start + MAX_SNIPPET + 1)
    return blank if blank > start else start + MAX_SNIPPET


def window_keywords(spoken: str, passages: Sequence[str], *, language: str) -> tuple[str, ...]:
    """Return the words of a window that its best passages speak of, as spoken, the rarest first."""
    terms = Counter(term for passage in passages for term in analyze(passage, language=language))
    words: dict[str, str] = {}
    for word in spoken.split():
        bare = word.strip(".,;:!?…\"'()[]«»")
        stems = analyze(bare, language=language)
        if len(bare) > 3 and len(stems) == 1:
            words.setdefault(stems[0], bare)
    told = Counter(analyze(spoken, language=language))
    ranked = sorted(
        (term for term in words if term in terms),
        key=lambda term: (-(told[term] * terms[term]) / (1 + len(passages)), term),
    )
    return tuple(words[term] for term in ranked[:MAX_KEYWORDS])


def related_concepts(headings: Sequence[str], keywords: Sequence[str]) -> tuple[str, ...]:
    """Return the headings that the best passages stand under and that no keyword says already."""
    known = {keyword.casefold() for keyword in keywords}
    return tuple(
        heading
        for heading in dict.fromkeys(filter(None, headings))
        if heading.casefold() not in known
    )[:MAX_CONCEPTS]
