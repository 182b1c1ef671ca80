"""Context pruning: drops the least relevant sentences of passages; measured in 020."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from quoth.core.types import Passage, Query
from quoth.text.analyzer import analyze, analyze_query
from quoth.text.sentences import Span, openings, sentences

SHARE = 0.5
"""Share of the passages' characters that is kept."""
RELEVANCE_WEIGHT = 2.0
"""Maximum score from the passage; the maximum from the query's words is 1."""
NEIGHBOUR_WEIGHT = 0.8
"""Share of its passage's score for a sentence outside the retrieved chunks."""

OPENING = 40
"""Characters of a sentence in which an opening that refers to the one before is looked for."""
_SIGNS = re.compile(r"\W+")


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence of a passage: its character span, its stems, and whether it is anaphoric."""

    passage: int
    place: int
    start: int
    end: int
    stems: frozenset[str]
    leaning: bool
    found: bool


def prune(
    passages: Sequence[Passage], *, query: Query, share: float = SHARE
) -> Mapping[int, tuple[Span, ...]]:
    """Return the relevant spans of each passage's document text, by passage number.

    All sentences compete for ``share`` of the characters. A score is the share of the query's words
    in the sentence, weighted by their rarity among the sentences (ln of BM25's idf), the best being
    1, plus `RELEVANCE_WEIGHT` times its passage's score, the best being 1, of which a sentence
    outside the retrieved chunks gets `NEIGHBOUR_WEIGHT`. The best sentence of every passage stays,
    and so does the one before a kept sentence that opens with a word such as "it" or "cela". Spans
    are sorted, whole sentences, and joined where only white space separates them.
    """
    lines = [line for at, passage in enumerate(passages) for line in _sentences(at, passage)]
    if not lines:
        return {}
    languages = sorted({query.language, *(each.chunks[0].language for each in passages)})
    cover = _coverage(lines, query, languages=languages)
    best = max((passage.score for passage in passages), default=0.0)
    worth = {}
    for line, held in zip(lines, cover, strict=True):
        score = passages[line.passage].score / best if best > 0 else 0.0
        score *= 1.0 if line.found else NEIGHBOUR_WEIGHT
        worth[line.passage, line.place] = held + RELEVANCE_WEIGHT * max(0.0, score)
    kept = _select(lines, worth, share=share)
    return {
        passage.number: tuple(
            _merge_spans(
                passage, (each for each in lines if each.passage == at and _key(each) in kept)
            )
        )
        for at, passage in enumerate(passages)
    }


def _key(line: _Sentence) -> tuple[int, int]:
    return line.passage, line.place


def _sentences(at: int, passage: Passage) -> Iterator[_Sentence]:
    text = passage.text
    hits = [
        (chunk.start, chunk.end) for chunk in passage.chunks if chunk.chunk_id in passage.hit_ids
    ]
    language = passage.chunks[0].language
    for place, (start, end) in enumerate(sentences(text)):
        sentence = text[start:end]
        low, high = passage.start + start, passage.start + end
        yield _Sentence(
            passage=at,
            place=place,
            start=low,
            end=high,
            stems=frozenset(analyze(sentence, language=language)),
            leaning=_is_leaning(sentence, language),
            found=any(low < last and high > first for first, last in hits),
        )


def _is_leaning(sentence: str, language: str) -> bool:
    opening = sentence[:OPENING].lower().replace("’", "'")
    signs = _SIGNS.match(opening)
    return openings("leaning", language).match(opening, signs.end() if signs else 0) is not None


def _coverage(lines: Sequence[_Sentence], query: Query, *, languages: Sequence[str]) -> list[float]:
    """Return the weighted share of query words in each sentence, the best being 1."""
    sought = analyze_query(query.standalone, languages=languages)
    counts = Counter(stem for line in lines for stem in line.stems)
    weights = {
        stem: math.log(1 + (len(lines) - counts[stem] + 0.5) / (counts[stem] + 0.5))
        for stem in sought
        if counts[stem]
    }
    held = [sum(weight for stem, weight in weights.items() if stem in line.stems) for line in lines]
    best = max(held, default=0.0)
    return [each / best if best > 0 else 0.0 for each in held]


def _select(
    lines: Sequence[_Sentence], worth: Mapping[tuple[int, int], float], *, share: float
) -> set[tuple[int, int]]:
    """Select the best that fit, each with its antecedent, and one of every passage."""
    by_key = {_key(line): line for line in lines}
    ranked = sorted(by_key, key=lambda key: (-worth[key], key))
    budget = share * sum(line.end - line.start for line in lines)
    selected: set[tuple[int, int]] = set()
    for key in ranked:
        before = (key[0], key[1] - 1)
        group = {key, before} if by_key[key].leaning and before in by_key else {key}
        cost = sum(by_key[each].end - by_key[each].start for each in group - selected)
        if cost <= budget:
            selected |= group
            budget -= cost
    best: dict[int, tuple[int, int]] = {}
    for key in ranked:
        best.setdefault(key[0], key)
    there = {passage for passage, _place in selected}
    return selected | {key for passage, key in best.items() if passage not in there}


def _merge_spans(passage: Passage, lines: Iterable[_Sentence]) -> Iterator[Span]:
    text, open_ = passage.text, None
    for line in lines:
        if open_ and not text[open_[1] - passage.start : line.start - passage.start].strip():
            open_ = (open_[0], line.end)
            continue
        if open_:
            yield open_
        open_ = (line.start, line.end)
    if open_:
        yield open_
