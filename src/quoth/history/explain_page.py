"""The HTML page of an explanation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from quoth.history.explain import Explanation, Stage, by_progress, counted, scored
from quoth.history.export import pieces, shown_sources
from quoth.history.why_not import WhyNot
from quoth.text.html_page import render_page

MAX_SHOWN = 30
"""Candidates shown before the rest is folded away."""
MIN_WIDTH = 0.4
"""The least width of a bar, in percent."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A stage on the timeline; ``left`` and ``width`` are percent of the whole time."""

    name: str
    left: float
    width: float
    note: str
    is_moment: bool


def explanation_page(found: Explanation, *, asked: WhyNot | None = None) -> str:
    """Return the page of an explanation, with the answer of `why_not` where there is one."""
    when = found.created_at[:19].replace("T", " ")
    about = (when and f"{when} UTC", found.answer.status, found.query_id)
    return render_page(
        "explanation.html",
        package="quoth.history",
        title=f"Explained: {found.question or found.query_id}",
        language="en",
        found=found,
        asked=asked,
        about=" · ".join(filter(None, about)),
        pieces=list(pieces(found.answer)),
        proofs=shown_sources(found.answer),
        bars=timeline(found.stages, total_ms=found.total_ms),
        shown=MAX_SHOWN,
        counted=counted,
        by_progress=by_progress,
        scored=scored,
    )


def timeline(stages: Sequence[Stage], *, total_ms: float) -> list[Bar]:
    """Return a bar for every stage; stages without a known beginning follow one another."""
    spans: list[tuple[float, float]] = []
    end = 0.0
    for stage in stages:
        start = end if stage.start_ms is None else stage.start_ms
        end = start + stage.spent_ms if stage.end_ms is None else stage.end_ms
        spans.append((start, end))
    whole = max([total_ms, 0.001, *(end for _start, end in spans)])
    bars = []
    for stage, (start, end) in zip(stages, spans, strict=True):
        left = min(100 - MIN_WIDTH, 100 * start / whole)
        width = min(100 - left, max(MIN_WIDTH, 100 * (end - start) / whole))
        bars.append(Bar(stage.name, left, width, _note(stage, start, end), stage.is_moment))
    return bars


def _note(stage: Stage, start: float, end: float) -> str:
    if stage.is_moment:
        return f"at {start:.1f} ms"
    parallel = stage.end_ms is not None and stage.spent_ms > 1.05 * (end - start) + 0.1
    return f"{end - start:.1f} ms{', several at once' * parallel}"
