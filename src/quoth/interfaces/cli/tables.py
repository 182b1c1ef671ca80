"""The figures of a measurement as tables for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from quoth.core.types import Json
from quoth.interfaces.cli.session import CliSession

if TYPE_CHECKING:
    from quoth.evaluation.significance import Comparison

MISSES = 20
"""Misses that a person is shown; programs and the report get them all."""


def show_shares(session: CliSession, shares: Mapping[str, float]) -> None:
    """Show shares by their names."""
    table = Table("what", "share", box=None)
    for name, value in shares.items():
        table.add_row(name, f"{value:.4f}")
    session.out.print(table)


def show_rows(session: CliSession, rows: Sequence[Json]) -> None:
    """Show what was judged wrongly, the first of many; no rows show nothing."""
    if not rows:
        return
    table = Table(*rows[0], box=None, title="Misses", title_justify="left")
    for row in rows[:MISSES]:
        table.add_row(*(Text(str(value)) for value in row.values()))
    session.out.print(table)
    if len(rows) > MISSES:
        session.out.print(f"… and {len(rows) - MISSES} more: --json and --report give all.")


def show_comparisons(session: CliSession, comparisons: Sequence[Comparison]) -> None:
    """Show each series that differs from the baseline; there is at least one comparison."""
    head = ("series", "before", "now", "difference", "95 % interval", "p")
    table = Table(*head, box=None, title="Against the baseline", title_justify="left")
    moved = [each for each in comparisons if each.difference or each.p < 1]
    for each in moved:
        table.add_row(
            each.series,
            f"{each.before:.4f}",
            f"{each.now:.4f}",
            f"{each.difference:+.4f}",
            f"{each.low:+.4f} … {each.high:+.4f}",
            f"{each.p:.4f}",
        )
    if moved:
        session.out.print(table)
    alike = len(comparisons) - len(moved)
    session.out.print(
        f"Against the baseline, on {comparisons[0].questions} questions: {len(moved)} series "
        f"differ, {alike} do not.",
        highlight=False,
    )


def times_of(found: Any) -> str:
    """Say how long a question took in a report with ``latency_ms``."""
    return f"{found.latency_ms['p50']} ms (p50), {found.latency_ms['p95']} ms (p95)"
