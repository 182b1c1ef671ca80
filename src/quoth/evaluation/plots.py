"""The plots of a report, as SVG that stands inside a page; matplotlib is imported only here.

Colours are those of Okabe and Ito (2008), which people with any colour vision tell apart; what a
colour says is also said by a label, a marker or an order.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from io import StringIO
from typing import Any

import matplotlib
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

matplotlib.rcParams.update(
    {
        "font.size": 10,
        "axes.titlesize": 11,
        "axes.titlelocation": "left",
        "axes.titlepad": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "svg.fonttype": "path",
        "svg.hashsalt": "quoth",
    }
)

BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#666666"
PALE = "#cfd8dc"

Axes = Any
"""matplotlib's axes, whose stubs differ from version to version."""


def bars(values: Mapping[str, tuple[float, float, float]], *, title: str, unit: str) -> str:
    """Draw a bar for each name: its mean, and the ends of its 95 % interval."""
    figure, axes = _figure(height=0.5 * len(values) + 1.3)
    names = list(values)
    for at, name in enumerate(names):
        mean, low, high = values[name]
        axes.barh(at, mean, color=BLUE, height=0.55)
        axes.errorbar(
            mean, at, xerr=[[max(0, mean - low)], [max(0, high - mean)]], color="black", capsize=4
        )
        axes.annotate(
            f"{mean:.3f}", (high, at), xytext=(6, 0), textcoords="offset points", va="center"
        )
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_xlim(0, 1.12 * max([high for _, _, high in values.values()] + [1e-9]))
    axes.set(title=title, xlabel=f"{unit} (mean; lines: 95 % interval)")
    return _svg(figure)


def differences(values: Sequence[float], *, title: str, unit: str) -> str:
    """Draw now − before for each question, largest gain first; zeros only in the count."""
    moved = sorted((each for each in values if each), reverse=True)
    figure, axes = _figure(height=3)
    won = [each for each in moved if each > 0]
    lost = [each for each in moved if each < 0]
    axes.bar(range(len(won)), won, color=BLUE, width=1, label=f"better: {len(won)}")
    axes.bar(
        range(len(won), len(moved)), lost, color=ORANGE, width=1, hatch="//",
        edgecolor="white", linewidth=0, label=f"worse: {len(lost)}",
    )  # fmt: skip
    axes.axhline(0, color="black", linewidth=0.8)
    axes.plot([], [], " ", label=f"the same: {len(values) - len(moved)}")
    axes.legend(frameon=False, loc="lower right", bbox_to_anchor=(1, 1), ncols=3)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set(title=title, xlabel="questions that changed, by difference", ylabel=f"Δ {unit}")
    return _svg(figure)


def distribution(values: Sequence[float], *, title: str, unit: str) -> str:
    """Draw how many values lie where, with the median and the 95th percentile marked."""
    figure, axes = _figure(height=3)
    ordered = sorted(values)
    axes.hist(ordered, bins=min(40, max(5, len(ordered) // 4)), color=PALE, edgecolor=GREY)
    for share, style, colour in ((0.5, "-", BLUE), (0.95, "--", ORANGE)):
        value = ordered[min(len(ordered) - 1, int(share * len(ordered)))]
        axes.axvline(
            value, color=colour, linestyle=style, label=f"p{share * 100:.0f}: {value:.3g} {unit}"
        )
    axes.legend(frameon=False, loc="upper right")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set(title=title, xlabel=f"time in {unit}", ylabel="number")
    return _svg(figure)


def curve(
    points: Sequence[tuple[float, float]], *, chosen: tuple[float, float], title: str, axis: str
) -> str:
    """Draw precision against coverage, and the point that the shipped threshold chooses."""
    figure, axes = _figure(height=3.4)
    axes.plot([x for x, _ in points], [y for _, y in points], color=BLUE, label=axis)
    label = f"shown: {chosen[1]:.3f} at {chosen[0]:.3f}"
    axes.plot(*chosen, "o", color=ORANGE, label=label)
    axes.set(title=title, xlabel="coverage", ylabel=axis, xlim=(0, 1.02), ylim=(0, 1.02))
    axes.grid(color=PALE, linewidth=0.5)
    axes.legend(frameon=False, loc="lower left")
    return _svg(figure)


def confusion(counts: Mapping[str, Mapping[str, int]], *, title: str) -> str:
    """Draw a table of found by expected; the shade is the share of the row."""
    names = sorted({*counts, *(name for row in counts.values() for name in row)})
    table = [[counts.get(row, {}).get(column, 0) for column in names] for row in names]
    shares = [[cell / (sum(row) or 1) for cell in row] for row in table]
    size = 0.62 * len(names)
    figure, axes = _figure(height=size + 1.9, width=size + 2.6)
    axes.pcolormesh(shares, cmap="Blues", vmin=0, vmax=1, edgecolors="white", linewidth=1)
    for at, row in enumerate(table):
        for column, cell in enumerate(row):
            if cell:
                colour = "white" if shares[at][column] > 0.5 else "black"
                axes.text(column + 0.5, at + 0.5, str(cell), ha="center", va="center", color=colour)
    places = [at + 0.5 for at in range(len(names))]
    axes.invert_yaxis()
    axes.set_xticks(places, names, rotation=35, ha="right", rotation_mode="anchor")
    axes.set_yticks(places, names)
    axes.spines[:].set_visible(False)
    axes.set(title=title, xlabel="found", ylabel="expected")
    return _svg(figure)


def _figure(*, height: float, width: float = 7.2) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots()


def _svg(figure: Figure) -> str:
    out = StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    # What stands before the picture is a file's, not a page's.
    return re.sub(r"^.*?(?=<svg)", "", out.getvalue(), flags=re.DOTALL)
