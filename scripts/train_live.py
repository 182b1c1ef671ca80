"""Fits `quoth.live.relevance`: the probability that a page is about a window of a lecture.

    python scripts/train_live.py FEATURES             # writes src/quoth/live/data/relevance.json
    python scripts/train_live.py FEATURES --measure   # leaves lectures and courses out instead

FEATURES is what `scripts/collect_live.py` writes. Windows that a recogniser heard are measured, and
not fitted on: that gained nothing.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.stats import binomtest

from quoth.evaluation.calibration import calibration_error
from quoth.live.cards import CardRules, PageCandidate, choose_in_order
from quoth.live.relevance import MOST, PAGE, SCALED, TOPIC

ROOT = Path(__file__).parent.parent
TARGET = ROOT / "src/quoth/live/data/relevance.json"
HEARD = "recognised"
L2 = 0.01
RANKED = 5
"""First candidates of a window that the model is fitted on."""
HF_WEIGHT = 0.35
"""Weight of windows whose gold is the section that embeds the video, not what a window says."""
ON_BOOK = 3.0
"""How often a lecture is about its book, for each time that it is not."""
PRECISION = {"same": 0.845, "foreign": 0.7}
"""Share of right first pages among those shown that the threshold must reach on lectures left out;
across languages on the weaker gold of the videos."""
SILENCE, LEAST_SILENCE = 0.95, 0.88
"""Silence off-book that it must reach: the mean of the sources, and in each of them."""

Array = npt.NDArray[np.float64]
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Fitted:
    """A logistic model over standardised features."""

    names: tuple[str, ...]
    weights: Array
    means: Array
    scales: Array

    def log_odds(self, candidates: Sequence[Mapping[str, float]]) -> Array:
        """Return the log odds of each candidate, as `LogisticHead.log_odds` does."""
        values = np.array([[each[name] for name in self.names] for each in candidates])
        total = ((values - self.means) / self.scales) @ self.weights[:-1] + self.weights[-1]
        return np.asarray(np.clip(total, -MOST, MOST))

    def stored(self) -> dict[str, Any]:
        """Return the model as it is stored."""
        named = [
            {name: round(float(value), 4) for name, value in zip(self.names, values, strict=True)}
            for values in (self.weights[:-1], self.means, self.scales)
        ]
        keys = ("weights", "means", "scales")
        return {"bias": round(float(self.weights[-1]), 4), **dict(zip(keys, named, strict=True))}


def fit(values: Array, truths: Array, weight: Array, names: tuple[str, ...]) -> Fitted:
    """Fit the weights by maximum likelihood with a small ridge."""
    means, scales = values.mean(0), values.std(0) + 1e-9
    scaled = np.c_[(values - means) / scales, np.ones(len(values))]
    sign, weight = 2 * truths - 1, weight / weight.sum()

    def loss(at: Array) -> tuple[float, Array]:
        margin = sign * (scaled @ at)
        ridge = L2 * np.r_[at[:-1], 0]
        slope = scaled.T @ (-sign / (1 + np.exp(margin)) * weight)
        return float((weight * np.logaddexp(0, -margin)).sum() + ridge @ at / 2), slope + ridge

    found = minimize(loss, np.zeros(scaled.shape[1]), jac=True, method="L-BFGS-B")
    return Fitted(names, found.x, means, scales)


@dataclass(frozen=True)
class Model:
    """The models of the topic, of the page, and of both."""

    topic: Fitted
    page: Fitted
    both: Fitted

    def chances(self, row: Row) -> Array:
        """Return the probability of each candidate of a window."""
        odds = self.both.log_odds(both_odds(self.topic, self.page, row["candidates"]))
        return np.asarray(1 / (1 + np.exp(-odds)))


def both_odds(topic: Fitted, page: Fitted, candidates: Sequence[Row]) -> list[dict[str, float]]:
    """Return the log odds of the topic and of the page, for each candidate of a window."""
    first = float(topic.log_odds(candidates[:1])[0])
    return [{"topic": first, "page": float(odds)} for odds in page.log_odds(candidates)]


def fit_model(rows: Sequence[Row], *, read: bool) -> Model:
    """Fit the topic on all judged windows, the page on those on-book, and both on what is shown."""
    names_of_topic, names_of_page = (
        tuple(name for name in names if read or name not in SCALED) for names in (TOPIC, PAGE)
    )
    judged = [row for row in rows if row["judged"] and row["speech"] != HEARD]
    topic = _fit([(row, row["candidates"][0], row["on_book"]) for row in judged],
                 names_of_topic, on_book=1.0)  # fmt: skip
    on_book = [row for row in judged if row["on_book"]]
    page = _fit([(row, each, each["right"]) for row in on_book
                 for each in row["candidates"][:RANKED]], names_of_page, on_book=1.0)  # fmt: skip
    odds = [_best_page(topic, page, row) for row in judged]
    return Model(topic, page, _fit(odds, ("topic", "page"), on_book=ON_BOOK))


def _best_page(topic: Fitted, page: Fitted, row: Row) -> tuple[Row, Mapping[str, float], bool]:
    """Return the candidate of a window that is shown first, as `_fit` takes it."""
    candidates = row["candidates"][:RANKED]
    odds = both_odds(topic, page, candidates)
    best = max(range(len(odds)), key=lambda at: odds[at]["page"])
    return row, odds[best], candidates[best]["right"]


def _fit(
    examples: Sequence[tuple[Row, Mapping[str, float], bool]],
    names: tuple[str, ...],
    *,
    on_book: float,
) -> Fitted:
    """Fit whether each example is right; on-book windows weigh so much in all, others 1."""
    values = np.array([[features[name] for name in names] for _, features, _ in examples])
    right = np.array([float(truth) for *_, truth in examples])
    weight = np.array([_weight(row) for row, *_ in examples])
    about = np.array([row["on_book"] for row, *_ in examples])
    weight[about] *= on_book / weight[about].sum()
    if not about.all():
        weight[~about] /= weight[~about].sum()
    return fit(values, right, weight, names)


def _weight(row: Row) -> float:
    return HF_WEIGHT if row["source"] in ("hf en", "hf fr") else 1.0


@dataclass(frozen=True)
class Outcome:
    """A window with the probability of its candidates, by a model that has not seen its lecture."""

    row: Row
    chances: Array

    @property
    def chance(self) -> float:
        """Return the probability of the best candidate."""
        return float(self.chances.max())

    @property
    def best(self) -> Row:
        """Return what is known of the best candidate."""
        known: Row = self.row["candidates"][int(self.chances.argmax())]
        return known

    @property
    def candidates(self) -> list[PageCandidate]:
        """Return the candidates as the choice of cards takes them."""
        places = zip(self.row["candidates"], self.chances, strict=True)
        return [
            PageCandidate(str(at), self.row["book"], str(each["page"]), float(chance))
            for at, (each, chance) in enumerate(places)
        ]


def left_out(rows: Sequence[Row], *, read: bool, key: str) -> list[Outcome]:
    """Return the outcome of each window without its lecture, or its course."""
    outcomes: list[Outcome] = []
    for group in sorted({_group(row, key) for row in rows}):
        rest = [row for row in rows if _group(row, key) != group]
        if any(row["on_book"] for row in rest):
            model = fit_model(rest, read=read)
            own = [row for row in rows if _group(row, key) == group]
            outcomes += [Outcome(row, model.chances(row)) for row in own]
    return outcomes


def _group(row: Row, key: str) -> str:
    """Return the course of a window, or the lecture."""
    if key == "course":
        return "hf" if row["source"].startswith("hf") else str(row["source"]).partition(" ")[0]
    # A video has the same number in both languages, and in the set of sicp-lectures.
    return re.sub(r"^(?:hf |en-|fr-)(\d\d).*", r"hf \1", str(row["lecture"]))


def threshold(outcomes: Sequence[Outcome], *, precision: float, foreign: bool) -> float:
    """Return the lowest probability with the precision and the silence that are wanted."""
    judged = [each for each in outcomes if each.row["judged"] and each.row["speech"] != HEARD]
    on = [o for o in judged if o.row["on_book"] and (foreign or _weight(o.row) == 1)]
    off: dict[str, list[float]] = {}
    for each in judged:
        if not each.row["on_book"]:
            off.setdefault(f"{each.row['source']} {each.row['speech']}", []).append(each.chance)
    for show_from in np.arange(0.2, 0.99, 0.005):
        shown = [each.best["right"] for each in on if each.chance >= show_from]
        silent = [np.mean([chance < show_from for chance in chances]) for chances in off.values()]
        if (
            np.mean(shown or [1.0]) >= precision
            and np.mean(silent) >= SILENCE
            and min(silent) >= LEAST_SILENCE
        ):
            return float(show_from)
    return 0.99


def report(outcomes: Sequence[Outcome], show_from: float) -> None:
    """Print precision, coverage, silence with intervals, and calibration, by source."""
    for source in sorted({_source(o.row) for o in outcomes}):
        chosen = [o for o in outcomes if _source(o.row) == source]
        judged = [o for o in chosen if o.row["judged"]]
        shown = [o for o in chosen if o.chance >= show_from]
        on = [o for o in shown if o.row["on_book"]]
        error = calibration_error([o.chance for o in judged], [o.best["right"] for o in judged])
        print(f"  {' '.join(source)}: calibration error {error:.3f}")
        for name, values in (
            ("rank 1 right", [o.best["right"] for o in on]),
            ("coverage", [o.chance >= show_from for o in judged if o.row["on_book"]]),
            ("silence", [o.chance < show_from for o in judged if not o.row["on_book"]]),
            ("unjudged, shown", [o.chance >= show_from for o in chosen if not o.row["judged"]]),
            (
                "  pages of the lecture",
                [o.best["in_lecture"] for o in shown if not o.row["judged"]],
            ),
        ):
            if values:
                counted = binomtest(sum(values), len(values))
                low, high = counted.proportion_ci(method="wilson")
                share = counted.statistic
                print(f"    {name:22} {share:.3f} [{low:.2f}, {high:.2f}] of {len(values)}")


def _source(row: Row) -> tuple[str, str, str]:
    return row["source"], row["book"], row["speech"]


def report_cards(outcomes: Sequence[Outcome], show_from: float) -> None:
    """Print the cards of the lectures that were looked up from their beginning to their end."""
    rules = CardRules(show_from=show_from)
    outcomes = [o for o in outcomes if o.row["speech"] == "plain"]
    lectures = [o.row["lecture"] for o in outcomes if o.row["source"] == "sicp"]
    for name in dict.fromkeys(lectures):
        own = [o for o in outcomes if (o.row["source"], o.row["lecture"]) == ("sicp", name)]
        own.sort(key=lambda o: o.row["index"])
        if own[-1].row["index"] + 1 > len(own):
            continue
        choices = choose_in_order([o.candidates for o in own], rules=rules)
        cards = [
            o.row["candidates"][int(card.chunk_id)]["in_lecture"]
            for o, choice in zip(own, choices, strict=True)
            for card in choice.cards
        ]
        minutes = own[-1].row["seconds"][1] / 60
        print(
            f"  {name}: {len(own)} windows, {len(cards)} cards, {len(cards) / minutes * 10:.1f} in "
            f"ten minutes, {sum(cards)} on the lecture's pages"
        )


def main() -> None:
    """Collect, fit, and write or measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("features", type=Path)
    parser.add_argument("--measure", action="store_true")
    given = parser.parse_args()
    lines = given.features.read_text("utf-8").split("\n")
    rows = [row for row in map(json.loads, filter(None, lines)) if row["candidates"]]
    models = {}
    for name, foreign, read in (
        ("same", False, True),
        ("foreign", True, True),
        ("same_unread", False, False),
        ("foreign_unread", True, False),
    ):
        own = [row for row in rows if row["foreign"] is foreign]
        own = [row for row in own if not read or "late" in row["candidates"][0]]
        outcomes = left_out(own, read=read, key="lecture")
        precision = PRECISION[name.partition("_")[0]]
        show_from = threshold(outcomes, precision=precision, foreign=foreign)
        print(f"{name}, lectures left out, shown from {show_from:.3f}")
        report(outcomes, show_from)
        report_cards(outcomes, show_from)
        if given.measure:
            print(f"{name}, courses left out")
            report(left_out(own, read=read, key="course"), show_from)
            continue
        model = fit_model(own, read=read)
        models[name] = {
            "topic": model.topic.stored(),
            "page": model.page.stored(),
            "both": model.both.stored(),
            "show_from": round(show_from, 3),
        }
    if not given.measure:
        written = json.dumps({"windows": len(rows), "models": models}, indent=1) + "\n"
        TARGET.write_text(written, encoding="utf-8")
        print(hashlib.sha256(written.encode()).hexdigest())


if __name__ == "__main__":
    main()
