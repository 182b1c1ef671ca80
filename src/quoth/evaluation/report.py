"""One page with a report's numbers and plots: HTML that needs nothing from anywhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path

from quoth.core.errors import InputError, MissingExtra
from quoth.core.types import Json
from quoth.evaluation.significance import (
    Comparison,
    PerQuestion,
    bootstrap_interval,
    series_of,
)
from quoth.text import html_page as webpage
from quoth.text.html_page import escaped

INSTALL = "The plots of --report need matplotlib. Install it with: pip install 'quoth[eval]'"
_STYLE = """
figure { margin: 1.5rem 0; overflow-x: auto; } figcaption { color: var(--soft); font-size: .9rem; }
svg { max-width: 100%; height: auto; background: #fff; }
"""


def require_plots() -> None:
    """Raise MissingExtra where matplotlib is not installed, before anything is measured."""
    if find_spec("matplotlib") is None:
        raise MissingExtra(INSTALL)


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
    """Make the page; what the report does not hold has no section."""
    series = series_of(report)
    sections = [
        _facts(report),
        *_means(series),
        _compared(comparisons),
        *_changes(series, comparisons, before or {}),
        *_times(report.get("latencies_ms") or []),
        *_reliability(report.get("reliability") or []),
        *_confusion(report.get("kinds") or {}),
        _rows("Misses", report.get("misses") or report.get("lost") or report.get("wrong") or []),
    ]
    made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    body = "\n".join(each for each in sections if each)
    heading = f'<h1>{escaped(title)}</h1><p class="soft">Measured {made}.</p>'
    return webpage.page(title, f"{heading}\n{body}", style=_STYLE)


def _facts(report: Json) -> str:
    rows: list[tuple[object, ...]] = []
    for name, value in report.items():
        if isinstance(value, int | float | str):
            rows.append((name, value))
        elif name not in ("per_question", "kinds", "legs") and isinstance(value, Mapping):
            rows += [
                (f"{name} {inner}", one)
                for inner, one in value.items()
                if isinstance(one, int | float)
            ]
    legs = report.get("legs") or {}
    measures = list(next(iter(legs.values()), {}))
    by_leg = [(leg, *(row[each] for each in measures)) for leg, row in legs.items()]
    return (
        "<h2>Figures</h2>"
        + _table(("what", "value"), rows, label="Figures")
        + _table(("leg", *measures), by_leg, label="Figures of each leg")
    )


def _means(tables: PerQuestion) -> Iterable[str]:
    """Bars of the means; “full ndcg@10” is leg and measure, and a measure's legs stand together."""
    from quoth.evaluation import plots

    groups: dict[str, dict[str, tuple[float, float, float]]] = {}
    for series, values in tables.items():
        if values:
            name, _, measure = series.rpartition(" ")
            given = list(values.values())
            low, high = bootstrap_interval(given)
            inside = groups.setdefault(measure if name else "share right", {})
            inside[name or series] = (sum(given) / len(given), low, high)
    for measure, means in groups.items():
        svg = plots.bars(means, title=f"{measure} by series", unit=measure)
        yield _figure(svg, f"Mean of {measure} over the questions.")


def _compared(comparisons: Sequence[Comparison]) -> str:
    if not comparisons:
        return ""
    rows = [
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
    head = ("series", "questions", "before", "now", "difference", "95 % interval", "p", "test")
    return "<h2>Against the baseline</h2>" + _table(head, rows, label="Against the baseline")


def _changes(
    now: PerQuestion, comparisons: Sequence[Comparison], before: PerQuestion
) -> Iterable[str]:
    from quoth.evaluation import plots

    for each in comparisons:
        first, second = now[each.series], before[each.series]
        moved = [first[key] - second[key] for key in sorted(first.keys() & second.keys())]
        if not any(moved):
            continue
        svg = plots.differences(moved, title=f"{each.series}, now against before", unit=each.series)
        yield _figure(svg, f"Difference of each question; mean {each.difference:+.4f}.")


def _times(times: Sequence[float]) -> Iterable[str]:
    from quoth.evaluation import plots

    if times:
        svg = plots.distribution(times, title="Time of a question", unit="ms")
        yield _figure(svg, f"{len(times)} questions.")


def _reliability(bins: Sequence[Mapping[str, float]]) -> Iterable[str]:
    """A diagram of bins with ``predicted``, ``observed`` and ``count``."""
    from quoth.evaluation import plots

    if bins:
        points = [
            (float(each["predicted"]), float(each["observed"]), int(each["count"])) for each in bins
        ]
        svg = plots.reliability(points, title="Reliability of the probabilities")
        yield _figure(svg, "A calibrated probability lies on the dashed line.")


def _confusion(kinds: Mapping[str, Mapping[str, int]]) -> Iterable[str]:
    from quoth.evaluation import plots

    if kinds:
        svg = plots.confusion(kinds, title="Types of questions")
        yield _figure(svg, "Number of questions; the shade is the share of the expected type.")


def _rows(title: str, rows: Sequence[Json]) -> str:
    if not rows:
        return ""
    names = list(rows[0])
    cells = [[row.get(each) for each in names] for row in rows]
    return f"<h2>{title}</h2>" + _table(names, cells, label=title)


def _table(head: Sequence[str], rows: Sequence[Sequence[object]], *, label: str) -> str:
    """Make a table; columns that hold numbers are set to the right."""
    if not rows:
        return ""
    numbers = [
        at for at in range(len(head)) if any(isinstance(row[at], int | float) for row in rows)
    ]
    cells = [[_cell(value) for value in row] for row in rows]
    return webpage.table(head, cells, label=label, numbers=numbers)


def _cell(value: object) -> str:
    return f"{value:.4f}" if isinstance(value, float) else escaped(str(value))


def _figure(svg: str, caption: str) -> str:
    return f"<figure>{svg}<figcaption>{escaped(caption)}</figcaption></figure>"
