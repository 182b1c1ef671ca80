"""How far each candidate of a question came, and what ended its way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from quoth.pipeline.record import CandidateTrace, CollectionTrace, Record

Fate = Literal[
    "cited",
    "beside",
    "not_quoted",
    "over_budget",
    "copy",
    "passed_over",
    "below_final",
    "beyond_pool",
]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a candidate, as a fixed word and as a sentence.

    ``other`` is the chunk that was shown in its place, where it was a copy.
    """

    fate: Fate
    why: str
    other: str | None = None


def outcome_of(each: CandidateTrace, *, within: CollectionTrace, record: Record) -> Outcome:
    """Say what became of a candidate."""
    if (read := ended_in_context(each.chunk_id, record)) is not None:
        return read
    if each.chunk_id in record.copies:
        return Outcome("copy", "says what a better passage says", record.copies[each.chunk_id])
    if each.pool is not None:
        return _in_pool(each, within, record)
    most = sum(one.pool is not None for one in within.candidates)
    return Outcome("beyond_pool", f"place {each.fused.rank} of both lists together; {most} went on")


def ended_in_context(chunk_id: str, record: Record) -> Outcome | None:
    """Say what became of a chunk that is in a passage; None where it is in none."""
    numbers = numbers_of(record, [chunk_id])
    if numbers:
        return Outcome("cited", f"cited as {numbers}")
    passage = next((each for each in record.passages if chunk_id in each), None)
    if passage is None:
        return None
    if chunk_id not in record.answer.used_chunks:
        most = record.plan.max_context_tokens
        return Outcome("over_budget", f"did not fit into the {most} tokens of context")
    numbers = numbers_of(record, passage)
    if numbers:
        return beside(numbers)
    if not record.answer.citations:
        why = "read; nothing was quoted, because nothing seemed to answer"
        if (chance := record.answer.confidence) is not None:
            why += f"; the probability of an answer was {chance:.2f}"
        return Outcome("not_quoted", why)
    hits = (each.chunk_id for one in record.searched for each in one.candidates if each.shown)
    how = "read" if chunk_id in hits else "read as a neighbour of a hit"
    return Outcome("not_quoted", f"{how}, but none of its sentences was chosen")


def beside(numbers: str) -> Outcome:
    """Say that a chunk was read, and what is next to it is cited under these numbers."""
    return Outcome("beside", f"read; what is cited as {numbers} is next to it")


def numbers_of(record: Record, chunk_ids: Iterable[str]) -> str:
    """Return the numbers of the citations that come from these chunks: "1, 3", or nothing."""
    wanted = set(chunk_ids)
    found = [str(each.number) for each in record.answer.citations if each.chunk_id in wanted]
    return ", ".join(dict.fromkeys(found))


def _in_pool(each: CandidateTrace, within: CollectionTrace, record: Record) -> Outcome:
    assert each.pool is not None
    places = [one.pool.rank for one in within.candidates if one.pool and one.shown is not None]
    if each.pool.rank > max(places, default=0):
        why = f"place {each.pool.rank} after reranking; {len(places)} were read"
        return Outcome("below_final", why)
    most = record.plan.max_per_document
    if most is not None:
        why = f"its document had its {most} passage{'' if most == 1 else 's'} (max_per_document)"
        return Outcome("passed_over", why)
    return Outcome("passed_over", "passed over: a copy, or its document was being removed")
