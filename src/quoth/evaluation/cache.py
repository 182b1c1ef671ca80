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
from quoth.query.paraphrase import MIN_COSINE, have_equal_words

PAIRS = "pairs.jsonl"
THRESHOLD = MIN_COSINE
SWEEP = (0.85, 0.9, 0.92, 0.94, 0.95, 0.96, 0.97, 0.98, 0.99)

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
class Rates:
    """The share of same pairs that hit, and the number of different pairs that did."""

    threshold: float
    guarded: bool
    hit_rate: float
    false_hits: int


@dataclass(frozen=True, slots=True)
class CacheReport:
    """What the cache would do at its threshold, with the guard of `quoth.query.paraphrase`.

    ``hit_rate`` is over ``same`` pairs; ``false_hits`` counts of ``different`` ones, with their
    share in ``false_hit_rate``. ``sweep`` gives the same for other thresholds, with and without
    the guard; ``by_tag`` the share of hits under each first tag, of pairs that are the same and
    of others.
    """

    pairs: int
    same: int
    different: int
    threshold: float
    hit_rate: float
    false_hits: int
    false_hit_rate: float
    wrong: tuple[WrongHit, ...]
    sweep: tuple[Rates, ...]
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
    allowed = [guard(each.a, each.b) for each in pairs]
    chosen = _rates(pairs, cosines, threshold, allowed)
    sweep = [
        _rates(pairs, cosines, each, allowed if guarded else None)
        for each in SWEEP
        for guarded in (False, True)
    ]
    wrong = [
        WrongHit(pair.a, pair.b, round(cosine, 4))
        for pair, cosine, may in zip(pairs, cosines, allowed, strict=True)
        if not pair.same and may and cosine >= threshold
    ]
    hits = {
        pair.id: float((cosine >= threshold and may) == pair.same)
        for pair, cosine, may in zip(pairs, cosines, allowed, strict=True)
    }
    same = sum(each.same for each in pairs)
    return CacheReport(
        pairs=len(pairs),
        same=same,
        different=len(pairs) - same,
        threshold=threshold,
        hit_rate=chosen.hit_rate,
        false_hits=chosen.false_hits,
        false_hit_rate=chosen.false_hits / (len(pairs) - same),
        wrong=tuple(sorted(wrong, key=lambda each: -each.cosine)),
        sweep=tuple(sweep),
        by_tag=_by_tag(pairs, cosines, threshold, allowed),
        per_question={
            "hit on the same": {each.id: hits[each.id] for each in pairs if each.same},
            "no hit on others": {each.id: hits[each.id] for each in pairs if not each.same},
        },
    )


def _rates(
    pairs: Sequence[Pair],
    cosines: Sequence[float],
    threshold: float,
    allowed: Sequence[bool] | None,
) -> Rates:
    may = allowed or [True] * len(pairs)
    hits = [cosine >= threshold and each for cosine, each in zip(cosines, may, strict=True)]
    found = [hit for hit, pair in zip(hits, pairs, strict=True) if pair.same]
    wrong = [hit for hit, pair in zip(hits, pairs, strict=True) if not pair.same]
    return Rates(threshold, allowed is not None, sum(found) / len(found), sum(wrong))


def _tag(row: Mapping[str, Any]) -> str:
    tags = row.get("tags")
    return str(tags[0]) if isinstance(tags, list) and tags else ""


def _by_tag(
    pairs: Sequence[Pair], cosines: Sequence[float], threshold: float, allowed: Sequence[bool]
) -> Mapping[str, float]:
    hits: dict[str, list[bool]] = {}
    for pair, cosine, may in zip(pairs, cosines, allowed, strict=True):
        name = f"{pair.tag or 'pairs'}, {'the same' if pair.same else 'others'}"
        hits.setdefault(name, []).append(cosine >= threshold and may)
    return {name: sum(each) / len(each) for name, each in sorted(hits.items())}
