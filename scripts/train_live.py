"""Fits `quoth.live.relevance`: the probability that a page is about a window of a lecture.

    python scripts/train_live.py DATA                   # writes src/quoth/live/data/relevance.json
    python scripts/train_live.py DATA --measure         # leaves lectures and courses out instead

DATA holds the sets sicp-lectures, hf-course-ch1, practical-ai, qmsum and culture-num-fr. Features
are kept in ``--cache``, so that only the first run looks anything up.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import hashlib
import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from quoth.bootstrap import open_engine
from quoth.core.lecture import TranscriptSegment
from quoth.core.settings import Settings
from quoth.core.trace import Trace
from quoth.core.types import Pages
from quoth.evaluation.calibration import calibration_error
from quoth.ingest.readers.cue_parsers import Cue, read_lines
from quoth.live.relevance import PAGE, SCALED, TOPIC
from quoth.live.segments import clean_segment
from quoth.live.windows import MIN_WORDS, cut_windows
from quoth.pipeline.lecture import judge_window, retrieve_window
from quoth.text.sentences import sentences

ROOT = Path(__file__).parent.parent
TARGET = ROOT / "src/quoth/live/data/relevance.json"
BOOKS = {
    "sicp": ("sicp-lectures/sicp.pdf", "en"),
    "hf-en": ("hf-course-ch1/book.en.pdf", "en"),
    "hf-fr": ("hf-course-ch1/book.fr.pdf", "fr"),
}
L2 = 0.01
RANKED = 5
"""First candidates of a window that the model is fitted on."""
SPOKEN_WORDS = 110
"""Words of a window cut by length, as the judged windows of sicp-lectures are."""
HF_WEIGHT = 0.35
"""Weight of windows whose gold is the section that embeds the video, not what a window says."""
COVERAGE = {"same": 0.62, "foreign": 0.5}
"""Share of the judged windows to show, which fixes the threshold; and silence below."""
SILENCE = 0.985

FOLDS = 12

Array = npt.NDArray[np.float64]
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Item:
    """A window to look up in a book, with the pages about it; none where it is off-book."""

    source: str
    lecture: str
    book: str
    language: str
    text: str
    gold: tuple[int, ...]


def items(data: Path) -> Iterator[Item]:
    """Return all windows: judged ones, lectures against other courses' books, other speech."""
    rng = random.Random(7)
    for row in _rows(data / "sicp-lectures/windows.jsonl"):
        gold = tuple(row["pdf_pages"] or ()) if row["kind"] == "on-book" else ()
        yield Item("sicp", row["lecture"], "sicp", "en", row["text"], gold)
    for row in _rows(data / "hf-course-ch1/lectures.jsonl"):
        lang, cues = row["lang"], _cues(data / "hf-course-ch1" / row["srt"])
        for text in (*_by_length(cues), *_by_sentence(cues)[::2]):
            for book in ("hf-en", "hf-fr"):
                gold = tuple(row["pdf_pages"][BOOKS[book][1]])
                yield Item(f"hf {lang}", row["id"], book, lang, text, gold)
            yield Item(f"hf {lang} x sicp", row["id"], "sicp", lang, text, ())
    for row in _rows(data / "sicp-lectures/lectures.jsonl"):
        cues = _cues(data / "sicp-lectures" / row["srt"])
        for number, text in enumerate(rng.sample(_by_sentence(cues), 20)):
            book = "hf-fr" if number % 3 == 0 else "hf-en"
            yield Item("sicp x hf", row["id"], book, "en", text, ())
    for path in sorted((data / "practical-ai").glob("practical-ai-*.md")):
        spoken = re.sub(r"\*\*.*?\*\*|\\\[[\d:]+\\\]", "", path.read_text("utf-8"))
        for text in rng.sample(_by_sentence(_read_aloud(spoken)), 30):
            yield Item("practical-ai x sicp", path.name, "sicp", "en", text, ())
    for name, language, size in (("qmsum", "en", 300), ("culture-num-fr", "fr", 105)):
        with gzip.open(data / name / "corpus.jsonl.gz", "rt", encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        long = [row for row in rows if len(row["text"].split()) > 60]
        for number, row in enumerate(rng.sample(long, min(size, len(long)))):
            for text in _by_sentence(_read_aloud(row["text"]))[: 1 if language == "en" else 3]:
                book = tuple(BOOKS)[number % 3]
                yield Item(f"{name} x", row["id"], book, language, text, ())


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _cues(path: Path) -> list[Cue]:
    return read_lines(path.read_text("utf-8").replace("\r", ""), vtt=False)


def _read_aloud(text: str) -> list[Cue]:
    """Return sentences as cues at the speed of speech."""
    cues, at = [], 0.0
    for low, high in sentences(text):
        words = text[low:high].split()
        cues.append(Cue(at, at + len(words) / 2.4, " ".join(words)))
        at = cues[-1].end
    return cues


def _segments(cues: Sequence[Cue]) -> list[TranscriptSegment]:
    segments = [
        clean_segment(TranscriptSegment(f"{at:06}", cue.start, max(cue.start, cue.end), cue.text))
        for at, cue in enumerate(cues)
    ]
    return [segment for segment in segments if segment.text]


def _by_sentence(cues: Sequence[Cue]) -> list[str]:
    windows, _ = cut_windows(sorted(_segments(cues), key=lambda each: each.place), closed=True)
    return [each.text for each in windows if len(each.text.split()) >= MIN_WORDS]


def _by_length(cues: Sequence[Cue]) -> list[str]:
    words = " ".join(segment.text for segment in _segments(cues)).split()
    return [
        " ".join(words[at : at + SPOKEN_WORDS]) for at in range(0, len(words) - 60, SPOKEN_WORDS)
    ]


async def collect(data: Path, home: Path) -> list[dict[str, Any]]:
    """Look up every window; return its features with what is right."""
    rows: list[dict[str, Any]] = []
    async with open_engine(Settings(home=home)) as engine:
        for book, (path, _language) in BOOKS.items():
            async for _ in engine.add([data / path], collection=book):
                pass
        for item in items(data):
            found = await retrieve_window(
                engine.parts,
                item.text,
                collections=(item.book,),
                language=item.language,
                trace=Trace(),
            )
            chunks = {key: each for ranked in found.ranked for key, each in ranked.chunks.items()}
            judged = []
            for candidate, features, _model in judge_window(engine.parts, found) or ():
                place = chunks[candidate.chunk_id].locator
                assert isinstance(place, Pages)
                right = bool(set(item.gold) & set(range(place.first, place.last + 1)))
                judged.append({"right": right, **features})
            rows.append(
                {
                    "source": item.source,
                    "lecture": item.lecture,
                    "book": item.book,
                    "foreign": BOOKS[item.book][1] != item.language,
                    "on_book": bool(item.gold),
                    "judged": judged,
                }
            )
    return rows


@dataclass(frozen=True)
class Fitted:
    """A logistic model over standardised features."""

    names: tuple[str, ...]
    weights: Array
    means: Array
    scales: Array

    def chances(self, candidates: Sequence[Mapping[str, float]]) -> Array:
        """Return the probability of each candidate."""
        values = np.array([[each[name] for name in self.names] for each in candidates])
        total = ((values - self.means) / self.scales) @ self.weights[:-1] + self.weights[-1]
        return np.asarray(1 / (1 + np.exp(-total)))

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


def fit_both(rows: Sequence[Row], *, read: bool) -> tuple[Fitted, Fitted]:
    """Fit the model of the topic on all windows, and that of the page on those on-book."""
    topic, page = (
        tuple(name for name in names if read or name not in SCALED) for names in (TOPIC, PAGE)
    )
    first = np.array([[row["judged"][0][name] for name in topic] for row in rows])
    about = np.array([float(row["on_book"]) for row in rows])
    # Both sides weigh the same, whatever their number.
    even = np.where(about > 0, 1 / about.sum(), 1 / (1 - about).sum())
    counted = [(row, each) for row in rows if row["on_book"] for each in row["judged"][:RANKED]]
    values = np.array([[each[name] for name in page] for _, each in counted])
    right = np.array([float(each["right"]) for _, each in counted])
    weight = np.array([HF_WEIGHT if row["source"].startswith("hf ") else 1.0 for row, _ in counted])
    return fit(first, about, even, topic), fit(values, right, weight, page)


Outcome = tuple[Row, float, bool]


def left_out(rows: Sequence[Row], *, read: bool, key: str) -> list[Outcome]:
    """Return the best candidate of each window, judged without its lecture or course."""
    outcomes: list[Outcome] = []
    for group in sorted({_group(row, key) for row in rows}):
        rest = [row for row in rows if _group(row, key) != group]
        if not any(row["on_book"] for row in rest):
            continue
        topic, page = fit_both(rest, read=read)
        for row in rows:
            if _group(row, key) == group:
                first = row["judged"][:RANKED]
                chances = topic.chances(first[:1])[0] * page.chances(first)
                at = int(chances.argmax())
                outcomes.append((row, float(chances[at]), bool(first[at]["right"])))
    return outcomes


def _group(row: Row, key: str) -> str:
    """Return the course of a window, or the lecture: one of `FOLDS` groups of whole lectures."""
    if key == "course":
        source = str(row["source"])
        return "hf" if source.startswith("hf") else source
    # A video has the same number in both languages, and in the set of sicp-lectures.
    lecture = re.sub(r"^(?:hf |en-|fr-)(\d\d).*", r"hf \1", str(row["lecture"]))
    return str(int(hashlib.sha256(lecture.encode()).hexdigest(), 16) % FOLDS)


def threshold(outcomes: Sequence[Outcome], coverage: float) -> float:
    """Return the probability that shows this share of judged windows, or that keeps silence."""
    judged = [row for row in outcomes if row[0]["on_book"]]
    sure = [row for row in judged if not row[0]["source"].startswith("hf")] or judged
    chances = sorted((chance for _, chance, _ in sure), reverse=True)
    shown = chances[max(0, round(coverage * len(chances)) - 1)]
    others = sorted(chance for row, chance, _ in outcomes if not row["on_book"])
    return max(shown, others[min(len(others) - 1, int(SILENCE * len(others)))])


def report(outcomes: Sequence[Outcome], show_from: float) -> None:
    """Print coverage, precision, silence and calibration by source."""
    for source in sorted({(row["source"], row["book"]) for row, _, _ in outcomes}):
        chosen = [each for each in outcomes if (each[0]["source"], each[0]["book"]) == source]
        on = [each for each in chosen if each[0]["on_book"]]
        off = [each for each in chosen if not each[0]["on_book"]]
        shown = [right for _, chance, right in on if chance >= show_from]
        silent = [chance < show_from for _, chance, _ in off]
        error = calibration_error([c for _, c, _ in chosen], [right for *_, right in chosen])
        print(
            f"  {' '.join(source):32} on {len(on):4} shown {len(shown):4} "
            f"rank 1 {np.mean(shown) if shown else 0:.3f} | off {len(off):4} "
            f"silent {np.mean(silent) if silent else 1:.3f} | ece {error:.3f}"
        )


def main() -> None:
    """Collect, fit, and write or measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--cache", type=Path, default=Path("live-features.json"))
    parser.add_argument("--home", type=Path, default=Path("live-home"))
    parser.add_argument("--measure", action="store_true")
    given = parser.parse_args()
    if not given.cache.is_file():
        given.cache.write_text(json.dumps(asyncio.run(collect(given.data, given.home))))
    rows = [row for row in json.loads(given.cache.read_text()) if row["judged"]]
    models = {}
    for name, foreign, read in (
        ("same", False, True),
        ("foreign", True, True),
        ("same_unread", False, False),
        ("foreign_unread", True, False),
    ):
        own = [row for row in rows if row["foreign"] is foreign]
        outcomes = left_out(own, read=read, key="lecture")
        show_from = threshold(outcomes, COVERAGE[name.partition("_")[0]])
        if given.measure:
            print(f"{name}, lectures left out, shown from {show_from:.3f}")
            report(outcomes, show_from)
            print(f"{name}, courses left out")
            report(left_out(own, read=read, key="course"), show_from)
            continue
        topic, page = fit_both(own, read=read)
        models[name] = {
            "topic": topic.stored(),
            "page": page.stored(),
            "show_from": round(show_from, 3),
        }
    if not given.measure:
        written = json.dumps({"windows": len(rows), "models": models}, indent=1) + "\n"
        TARGET.parent.mkdir(exist_ok=True)
        TARGET.write_text(written, encoding="utf-8")
        print(hashlib.sha256(written.encode()).hexdigest())


if __name__ == "__main__":
    main()
