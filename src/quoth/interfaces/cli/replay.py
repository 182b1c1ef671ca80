"""`quoth replay`: a question asked again, and what is different."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.text import Text

from quoth.interfaces.cli.history import QueryId
from quoth.interfaces.cli.session import (
    DONE,
    FAILED,
    CliSession,
    Llm,
    catalogue_of,
    command,
    engine_of,
    with_model,
)
from quoth.interfaces.cli.tables import show_table

if TYPE_CHECKING:
    from quoth.history.replay import CollectionChanges, RankChange, Replay


@command
async def replay(session: CliSession, query_id: QueryId, llm: Llm = None) -> int:
    """Ask a question again by the same plan and show what is different; exit code 1 if anything is.

    It runs on the collection as it is now, and says so if that has changed.
    """
    session = with_model(session, llm)
    from quoth.history.replay import replay as ask_again
    from quoth.history.replay import request_again, to_text
    from quoth.pipeline.record_codec import load_record

    with catalogue_of(session) as catalogue:
        record = load_record(catalogue, query_id)
    request_again(record)  # an unstored question is refused before a model is loaded
    async with engine_of(session) as engine:
        found = await ask_again(record, engine)
    if session.json:
        session.put(to_text(found))
    else:
        show(session, found)
    return DONE if found.same else FAILED


def show(session: CliSession, found: Replay) -> None:
    """Show what is the same and what is not."""
    for text, style in lines(found):
        session.out.print_line(Text(text, style=style))
    rows = [
        (name, *("" if each is None else f"{each:.1f} ms" for each in times))
        for name, times in found.timings_ms.items()
    ]
    show_table(session, ("stage", "then", "now"), rows)


def lines(found: Replay) -> Iterator[tuple[str, str]]:
    """Return the lines that a person reads, each with its style."""
    yield found.question, "bold"
    yield from ((about(each), "") for each in found.since)
    for change in (*found.makers, *found.changes):
        yield f"{change.what}: {change.before or 'none'} → {change.now or 'none'}", "yellow"
    if not found.changes:
        yield "understood, planned and ended the same", "green"
    if found.candidates is None:
        yield "candidates: the earlier ones are not stored", ""
    else:
        counted = found.candidates
        yield (
            f"candidates: {counted.same} at the same place, {counted.moved} moved, "
            f"{counted.gained} new, {counted.lost} gone",
            "",
        )
    yield from ((f"  {rank_change(each)}", "yellow") for each in found.hits)
    if not (found.cited_before or found.cited_now):
        yield "citations: the same", "green"
    yield from ((f"- {each}", "red") for each in found.cited_before)
    yield from ((f"+ {each}", "green") for each in found.cited_now)
    if found.text_before == found.text_now:
        yield "answer: the same, word for word", "green"
    else:
        yield "answer: other words", "yellow"
        yield f"- {found.text_before}", "red"
        yield f"+ {found.text_now}", "green"


def about(each: CollectionChanges) -> str:
    """Say what became of a collection since."""
    if each.pinned:
        return f"{each.collection}: unchanged, index version {each.now}"
    what = "its index was rebuilt" if each.rebuilt else "it has changed"
    words = [
        f"{each.collection}: {what} since; the question was answered from {each.before}, which is "
        f"no longer there, and is asked of {each.now}"
    ]
    if each.added:
        more = f" and {len(each.added) - 3} more" if len(each.added) > 3 else ""
        words.append(f"added since: {', '.join(each.added[:3])}{more}")
    if each.gone:
        words.append(f"{each.gone} of the passages found then are gone")
    return "; ".join(words)


def rank_change(each: RankChange) -> str:
    """Say how the rank of a hit changed."""
    name = each.at.name or f"a passage that is gone ({each.chunk_id})"
    match each.before, each.now:
        case None, now:
            return f"new at {now}: {name}"
        case before, None:
            return f"was {before}, is not shown: {name}"
        case before, now:
            return f"was {before}, is {now}: {name}"
