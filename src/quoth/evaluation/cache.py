"""Whether one answer may serve two questions: hits on paraphrases, and wrong hits on others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quoth.bootstrap import open_embedder
from quoth.core.errors import InputError
from quoth.core.settings import Settings
from quoth.evaluation.jsonl import (
    locate_file,
    read_rows,
    text,
    truth,
)
from quoth.evaluation.significance import mean_of
from quoth.pipeline.answer_cache import MIN_COSINE, have_equal_words

PAIRS = "pairs.jsonl"
THRESHOLD = MIN_COSINE

Guard = Callable[[str, str], bool]
"""Report whether the wording of two questions lets one answer serve both."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two questions, and whether one answer serves both."""

    id: str
    a: str
    b: str
    same: bool
    tag: str = ""


@dataclass(frozen=True, slots=True)
class WrongHit:
    """A pair that was taken for the same and is not."""

    a: str
    b: str
    cosine: float


@dataclass(frozen=True, slots=True)
class CacheReport:
    """What the cache would do at its threshold, with the guard of `quoth.pipeline.answer_cache`.

    ``hit_rate`` is over ``same`` pairs; ``false_hits`` counts of ``different`` ones, with their
    share in ``false_hit_rate``. ``by_tag`` gives the share of hits under each first tag, of pairs
    that are the same and of others.
    """

    pairs: int
    same: int
    different: int
    threshold: float
    hit_rate: float
    false_hits: int
    false_hit_rate: float
    wrong: tuple[WrongHit, ...]
    by_tag: Mapping[str, float]
    per_question: Mapping[str, Mapping[str, float]]


def load_pairs(folder: Path) -> tuple[Pair, ...]:
    """Read ``pairs.jsonl``; raises InputError naming the file and line."""
    path = locate_file(folder, PAIRS)
    pairs = tuple(
        Pair(str(number), text(row, "a", at), text(row, "b", at), truth(row, "same", at), _tag(row))
        for number, (row, at) in enumerate(read_rows(path), start=1)
    )
    if len({each.same for each in pairs}) < 2:
        raise InputError(f"{path} needs pairs that are the same and pairs that are not.")
    return pairs


async def evaluate_cache(
    folder: Path, *, settings: Settings, threshold: float = THRESHOLD
) -> CacheReport:
    """Embed every question and judge the pairs by cosine and guard; raises InputError."""
    pairs = load_pairs(folder)
    words = sorted({each for pair in pairs for each in (pair.a, pair.b)})
    embedder = open_embedder(settings)
    try:
        vectors = await embedder.embed(words, role="query")
    finally:
        embedder.close()
    row = {each: at for at, each in enumerate(words)}
    cosines = [float(vectors[row[each.a]] @ vectors[row[each.b]]) for each in pairs]
    return report_on(pairs, cosines=cosines, guard=have_equal_words, threshold=threshold)


def report_on(
    pairs: Sequence[Pair],
    *,
    cosines: Sequence[float],
    guard: Guard,
    threshold: float = THRESHOLD,
) -> CacheReport:
    """Judge pairs of which the cosines are known."""
    judged = [
        (pair, cosine, cosine >= threshold and guard(pair.a, pair.b))
        for pair, cosine in zip(pairs, cosines, strict=True)
    ]
    found = {pair.id: float(hit) for pair, _, hit in judged if pair.same}
    others = {pair.id: float(not hit) for pair, _, hit in judged if not pair.same}
    wrong = [
        WrongHit(pair.a, pair.b, round(cosine, 4))
        for pair, cosine, hit in judged
        if hit and not pair.same
    ]
    tags: dict[str, list[bool]] = {}
    for pair, _, hit in judged:
        name = f"{pair.tag or 'pairs'}, {'the same' if pair.same else 'others'}"
        tags.setdefault(name, []).append(hit)
    return CacheReport(
        pairs=len(pairs),
        same=len(found),
        different=len(others),
        threshold=threshold,
        hit_rate=mean_of(found.values()),
        false_hits=len(wrong),
        false_hit_rate=len(wrong) / len(others),
        wrong=tuple(sorted(wrong, key=lambda each: -each.cosine)),
        by_tag={name: mean_of(hits) for name, hits in sorted(tags.items())},
        per_question={"hit on the same": found, "no hit on others": others},
    )


def _tag(row: Mapping[str, Any]) -> str:
    tags = row.get("tags")
    return str(tags[0]) if isinstance(tags, list) and tags else ""
