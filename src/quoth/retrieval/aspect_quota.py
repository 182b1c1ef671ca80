"""Aspect quota: guarantees every aspect of a query a place among the first hits."""

from __future__ import annotations

from collections.abc import Sequence

from quoth.core.types import Candidate


def apply_quota(
    ranking: Sequence[Candidate],
    *,
    aspects: Sequence[Sequence[Candidate]],
    within: int,
    share: int = 1,
) -> list[Candidate]:
    """Keep a ranking's order, with each aspect's best ``share`` among its first `within`.

    ``aspects`` are the rankings of each aspect alone, best first. Their missing best hits take the
    last of the first ``within`` ranks, in the order of the aspects; displaced candidates follow
    after them. Round-robin instead would give the best ranks to chunks about one aspect only, while
    the whole query ranks best: docs/decisions/016.
    """
    wanted: dict[str, Candidate] = {}
    for turn in range(share):
        for aspect in aspects:
            if turn < len(aspect):
                wanted.setdefault(aspect[turn].chunk_id, aspect[turn])
    first = list(ranking[:within])
    here = {each.chunk_id for each in first}
    missing = [each for each in wanted.values() if each.chunk_id not in here][:within]
    spare = [at for at, each in enumerate(first) if each.chunk_id not in wanted]
    # With more aspects than ranks, the first-named aspects have priority.
    given_up = sorted(spare[-len(missing) :]) if missing else []
    out = set(given_up)
    kept = [each for at, each in enumerate(first) if at not in out]
    added = missing[: len(given_up) + max(0, within - len(first))]
    placed = {each.chunk_id for each in (*kept, *added)}
    behind = [first[at] for at in given_up] + list(ranking[within:])
    return [*kept, *added, *(each for each in behind if each.chunk_id not in placed)]
