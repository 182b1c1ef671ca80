"""Candidate sentences for summaries: complete, declarative and self-contained."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from quoth.core.types import Chunk
from quoth.text.analyzer import normalize_name
from quoth.text.sentences import is_anaphoric, openings, sentences
from quoth.text.stop_words import ENGLISH, FRENCH

SHORTEST, LONGEST = 40, 350
"""Characters of a sentence that a summary may have."""
MIN_WORDS = 5

_WORD = re.compile(r"[^\W\d_]{4,}")
_SIGN = re.compile(r"[^\w\s,.'’\"“”()-]|_")
_ENDS = (".", "!", "…", "。", "！", "।", "۔")
_QUESTION = re.compile(r"[?？؟]")
_CLOSERS = "\"'»”’)]"
_ITEM = re.compile(r"(?:[-–—•‣▪◦*>#|]|\(?\d{1,3}[.)°]\s|\(?[a-z]\)\s|\[)")
_STOPS = ENGLISH | FRENCH
_UNPUNCTUATED = 300
"""Characters of speech without a single full stop, from which its pieces count as sentences."""


@dataclass(frozen=True, slots=True)
class SummaryCandidate:
    """A candidate sentence: a character span of the document, within one chunk.

    ``place`` is the position of the chunk; ``quality`` is 1 for a plain statement and less for a
    context-dependent one; ``first`` marks the first sentence of a section.
    """

    place: int
    start: int
    end: int
    words: frozenset[str]
    quality: float
    first: bool


def candidates_of(chunk: Chunk, *, place: int) -> tuple[SummaryCandidate, ...]:
    """Return the candidate sentences of a chunk, in order."""
    text = chunk.text
    breaks: list[int] = []
    pieces_count = False
    if chunk.kind == "transcript":
        breaks = [place.start - chunk.start for place in chunk.places]
        pieces_count = len(text) > _UNPUNCTUATED and not any(end in text for end in _ENDS)
    titles = {normalize_name(title) for title in chunk.section}
    found: list[SummaryCandidate] = []
    before = -1
    for low, high in sentences(text, breaks=breaks):
        opens = before < 0 or "\n\n" in text[before:low]
        before = high
        if not SHORTEST <= high - low <= LONGEST:
            continue
        shown = text[low:high]
        fitness = _fitness(shown, titles, language=chunk.language, whole=not pieces_count)
        if not fitness:
            continue
        words = frozenset(_WORD.findall(shown.casefold())) - _STOPS
        found.append(
            SummaryCandidate(place, chunk.start + low, chunk.start + high, words, fitness, opens)
        )
    return tuple(found)


def _fitness(shown: str, titles: set[str], *, language: str, whole: bool) -> float:
    """Return the quality of a sentence by its form; 0 excludes it."""
    if whole and not shown.rstrip(_CLOSERS).endswith(_ENDS):
        return 0.0
    if _QUESTION.search(shown) or _ITEM.match(shown) or (whole and shown[0].islower()):
        return 0.0
    if "\n\n" in shown or shown.count("\n") > 3 or shown.count(" ") + 1 < MIN_WORDS:
        return 0.0 if shown.isascii() or " " in shown else 1.0  # not every script has spaces
    if len(_SIGN.findall(shown)) > 0.06 * len(shown):
        return 0.0
    folded = normalize_name(shown)
    if folded.rstrip(". ") in titles:
        return 0.0
    if is_anaphoric(folded, language=language) or openings("fillers", language).match(folded):
        return 0.4
    if openings("leading_on", language).search(folded):
        return 0.6
    trails_off = shown.endswith(("...", "…"))
    return 0.75 if trails_off or openings("connectives", language).match(folded) else 1.0


def document_frequency(candidates: Sequence[SummaryCandidate]) -> Mapping[str, float]:
    """Return for each word the share of sentences that contain it."""
    counts: dict[str, int] = {}
    for candidate in candidates:
        for word in candidate.words:
            counts[word] = counts.get(word, 0) + 1
    return {word: count / len(candidates) for word, count in counts.items()}


def lexical_centrality(each: SummaryCandidate, common: Mapping[str, float]) -> float:
    """Return the mean document frequency of the words (SumBasic: Nenkova, 2005).

    Normalized by the square root of the length, since short sentences would win otherwise.
    """
    if not each.words:
        return 0.0
    return sum(common.get(word, 0.0) for word in each.words) / math.sqrt(len(each.words))


def drop_near_duplicates(
    ordered: Sequence[SummaryCandidate], *, most: int, shared: float
) -> Iterator[SummaryCandidate]:
    """Drop near-duplicates: no two results share more than this proportion of words."""
    kept: list[SummaryCandidate] = []
    for each in ordered:
        if len(kept) == most:
            return
        if all(_overlap(each.words, other.words) <= shared for other in kept):
            kept.append(each)
            yield each


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    smaller = min(len(one), len(other))
    return len(one & other) / smaller if smaller else 0.0
