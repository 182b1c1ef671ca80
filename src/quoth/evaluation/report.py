"""One self-contained HTML page with a report's numbers and plots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from quoth.core.errors import InputError
from quoth.core.extras import require_extra
from quoth.core.types import Json
from quoth.evaluation.significance import (
    Comparison,
    PerQuestion,
    bootstrap_interval,
    series_of,
    share_interval,
)
from quoth.text.html_page import render_page

_COMPARED = ("series", "questions", "before", "now", "difference", "95 % interval", "p", "test")


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A table of the page; columns that hold a number are set to the right."""

    heading: str
    head: Sequence[str]
    rows: Sequence[Sequence[object]]

    @property
    def numbers(self) -> list[int]:
        """Return the places of the columns that hold a number."""
        columns = enumerate(zip(*self.rows, strict=True))
        return [at for at, cells in columns if any(isinstance(cell, int | float) for cell in cells)]


def require_plots() -> None:
    """Raise MissingExtra where matplotlib is not installed, before anything is measured."""
    require_extra("eval", module="matplotlib", what="The page of --report")


def write_report(
    path: Path,
    *,
    title: str,
    report: Json,
    comparisons: Sequence[Comparison] = (),
    before: PerQuestion | None = None,
) -> None:
    """Write the page of a report given as JSON; raises MissingExtra and InputError."""
    require_plots()
    page = page_of(title=title, report=report, comparisons=comparisons, before=before)
    try:
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise InputError(f"The report cannot be written to {path}: {error.strerror}.") from None


def page_of(
    *,
    title: str,
    report: Json,
    comparisons: Sequence[Comparison] = (),
    before: PerQuestion | None = None,
) -> str:
    """Return the page; what the report does not hold is left out."""
    return render_page(
        "report.html",
        package="quoth.evaluation",
        title=title,
        language="en",
        measured_at=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        tables=list(_tables(report, comparisons)),
        figures=list(_figures(report, comparisons, before or {})),
    )


def _tables(report: Json, comparisons: Sequence[Comparison]) -> Iterator[ReportTable]:
    figures: list[tuple[str, object]] = []
    for name, value in report.items():
        if isinstance(value, int | float | str):
            figures.append((name, value))
        elif name not in ("per_question", "kinds", "legs") and isinstance(value, Mapping):
            numbers = ((key, cell) for key, cell in value.items() if isinstance(cell, int | float))
            figures += [(f"{name} {key}", cell) for key, cell in numbers]
    yield ReportTable("Figures", ("what", "value"), figures)
    legs = report.get("legs") or {}
    measures = list(next(iter(legs.values()), {}))
    by_leg = [(leg, *(row[name] for name in measures)) for leg, row in legs.items()]
    yield ReportTable("", ("leg", *measures), by_leg)
    compared = [
        (
            each.series,
            each.questions,
            each.before,
            each.now,
            f"{each.difference:+.4f}",
            f"{each.low:+.4f} … {each.high:+.4f}",
            f"{each.p:.4f}",
            each.test,
        )
        for each in comparisons
    ]
    yield ReportTable("Against the baseline", _COMPARED, compared)
    misses = report.get("misses") or report.get("lost") or report.get("wrong") or []
    head = list(misses[0]) if misses else []
    yield ReportTable("Misses", head, [[row.get(name) for name in head] for row in misses])


def _figures(
    report: Json, comparisons: Sequence[Comparison], before: PerQuestion
) -> Iterator[tuple[str, str]]:
    """Plot what the report holds: each picture as SVG, with its caption."""
    from quoth.evaluation import plots

    series = series_of(report)
    for measure, means in _means(series).items():
        svg = plots.bars(means, title=f"{measure} by series", unit=measure)
        yield svg, f"Mean of {measure} over the questions."
    for each in comparisons:
        now, then = series[each.series], before[each.series]
        moved = [now[key] - then[key] for key in sorted(now.keys() & then.keys())]
        if any(moved):
            title = f"{each.series}, now against before"
            svg = plots.differences(moved, title=title, unit=each.series)
            yield svg, f"Difference of each question; mean {each.difference:+.4f}."
    if times := report.get("latencies_ms"):
        svg = plots.distribution(times, title="Time of a question", unit="ms")
        yield svg, f"{len(times)} questions."
    yield from _live_figures(report)
    if kinds := report.get("kinds"):
        svg = plots.confusion(kinds, title="Types of questions")
        yield svg, "Number of questions; the shade is the share of the expected type."


def _live_figures(report: Json) -> Iterator[tuple[str, str]]:
    """Plot what only reports of live lectures hold."""
    from quoth.evaluation import plots

    if points := report.get("precision_by_coverage"):
        chosen = (report["coverage"], report["precision_rank1"])
        svg = plots.curve(points, chosen=chosen, title="Precision by coverage", axis="precision")
        yield svg, "First candidate of on-book windows, the most certain first; dot: what is shown."
    if sources := report.get("sources"):
        rows = {
            f"{name} ({row['windows']})": (row["silence"], row["low"], row["high"])
            for name, row in sources.items()
        }
        svg = plots.bars(rows, title="Silence of off-book windows by source", unit="silence")
        yield svg, "Share of windows without a card."
    if waits := report.get("waits_s"):
        title = "From the end of a sentence to its card"
        yield plots.distribution(waits, title=title, unit="s"), f"{len(waits)} sentences."
    churned = {
        f"{name} ({row['cards']})": (
            row["churned"] / row["cards"],
            *share_interval(row["churned"], row["cards"]),
        )
        for name, row in (report.get("lectures") or {}).items()
        if row.get("cards")
    }
    if churned:
        yield plots.bars(churned, title="Churn by lecture", unit="churn"), "Share of the cards."


def _means(tables: PerQuestion) -> dict[str, dict[str, tuple[float, float, float]]]:
    """Return mean and interval by measure and leg; “full ndcg@10” is a leg and a measure."""
    groups: dict[str, dict[str, tuple[float, float, float]]] = {}
    for series, values in tables.items():
        if values:
            leg, _, measure = series.rpartition(" ")
            given = list(values.values())
            group = groups.setdefault(measure if leg else "share right", {})
            group[leg or series] = (sum(given) / len(given), *bootstrap_interval(given))
    return groups
