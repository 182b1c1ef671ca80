"""The figures of a measurement as tables for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from quoth.interfaces.cli.session import CliSession
from quoth.text.json_codec import to_json

if TYPE_CHECKING:
    from quoth.evaluation.significance import Comparison

MAX_MISSES = 20
"""Misses that a person is shown; programs and the report get them all."""


@dataclass(frozen=True, slots=True)
class ReportSummary:
    """What a person is shown of a report: shares, a table, what was wrong, and a sentence.

    ``figures`` are those of the report that programs find by these names as well.
    """

    shares: Mapping[str, float] = field(default_factory=dict)
    head: Sequence[str] = ()
    rows: Sequence[Sequence[object]] = ()
    misses: Sequence[Any] = ()
    text: str = ""
    figures: Mapping[str, float] = field(default_factory=dict)


def show_summary(session: CliSession, summary: ReportSummary) -> None:
    """Show a summary; what it lacks is left out."""
    show_table(session, ("what", "share"), list(summary.shares.items()))
    show_table(session, summary.head, summary.rows)
    misses = [to_json(each) for each in summary.misses]
    if misses:
        rows = [list(each.values()) for each in misses[:MAX_MISSES]]
        show_table(session, list(misses[0]), rows, title="Misses")
    if len(misses) > MAX_MISSES:
        more = len(misses) - MAX_MISSES
        session.out.print(f"… and {more} more: --json and --report give all.")
    if summary.text:
        session.out.print(summary.text, highlight=False)


def show_table(
    session: CliSession,
    head: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    title: str | None = None,
) -> None:
    """Show a table, numbers that are not whole with four digits; nothing without rows."""
    table = Table(*head, box=None, title=title, title_justify="left")
    for row in rows:
        table.add_row(*(Text(_cell(value)) for value in row))
    if rows:
        session.out.print(table)


def show_comparisons(session: CliSession, comparisons: Sequence[Comparison]) -> None:
    """Show each series that differs from the baseline; there is at least one comparison."""
    head = ("series", "before", "now", "difference", "95 % interval", "p")
    moved = [
        (
            each.series,
            each.before,
            each.now,
            f"{each.difference:+.4f}",
            f"{each.low:+.4f} … {each.high:+.4f}",
            each.p,
        )
        for each in comparisons
        if each.difference or each.p < 1
    ]
    show_table(session, head, moved, title="Against the baseline")
    session.out.print(
        f"Against the baseline, on {comparisons[0].questions} questions: {len(moved)} series "
        f"differ, {len(comparisons) - len(moved)} do not.",
        highlight=False,
    )


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.4f}" if isinstance(value, float) else str(value)
