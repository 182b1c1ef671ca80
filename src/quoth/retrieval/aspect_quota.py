"""Sees to it that every aspect of a question is among the first passages."""

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
    """Keep a ranking's order, but let each aspect's best ``share`` stand among its first `within`.

    ``aspects`` are the rankings of each aspect alone, best first. Their best that are missing
    take the last of the first ``within`` places, in the order of the aspects; what they push out
    follows behind. Taking turns instead would hand the best places to chunks that know one
    aspect only, and the whole question knows best what belongs to it: docs/decisions/016.
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
    # With more aspects than places, the ones named first are served first.
    given_up = sorted(spare[-len(missing) :]) if missing else []
    out = set(given_up)
    kept = [each for at, each in enumerate(first) if at not in out]
    added = missing[: len(given_up) + max(0, within - len(first))]
    placed = {each.chunk_id for each in (*kept, *added)}
    behind = [first[at] for at in given_up] + list(ranking[within:])
    return [*kept, *added, *(each for each in behind if each.chunk_id not in placed)]
