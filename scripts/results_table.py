"""Measure retrieval on every judged set and write the table in docs/results.md.

    python scripts/results_table.py --data ../shared/data --home .eval [SET…]

Indexes, document vectors and the figures of each set are kept in the home folder; a set is measured
again with ``--again``, or when its figures are not there.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from statistics import fmean

import numpy as np

from quoth.bootstrap import open_embedder
from quoth.core.protocols import Embedder, Matrix
from quoth.core.settings import Settings
from quoth.core.types import Scored
from quoth.evaluation.corpus import Progress
from quoth.evaluation.datasets import CorpusRow, RetrievalSet, load_retrieval_set
from quoth.evaluation.retrieval import (
    evaluate_retrieval,
    fuse_ranks,
    mean,
    mix_evenly,
    per_question,
)
from quoth.text.analyzer import analyze, analyze_query
from quoth.text.language import detect_language

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "results.md"
BEGIN, END = "<!-- retrieval: begin -->", "<!-- retrieval: end -->"
SETS: Mapping[str, tuple[str, str | None]] = {
    "cranfield": ("cranfield", None),
    "scifact": ("scifact", None),
    "cnil-fr": ("cnil-fr", None),
    "xquad en": ("xquad/en", None),
    "xquad es": ("xquad/es", None),
    "xquad de": ("xquad/de", None),
    "xquad es → en": ("xquad/en", "xquad/es"),
    "medline": ("medline", None),
    "lisa": ("lisa", None),
    "trec-dl-slice": ("trec-dl-slice", None),
    "covid-faq-fr": ("covid-faq-fr", None),
    "covid-faq-de-en": ("covid-faq-de-en", None),
    "debian-faq en": ("debian-faq/en", None),
    "debian-faq fr": ("debian-faq/fr", None),
    "debian-faq de": ("debian-faq/de", None),
    "debian-faq it": ("debian-faq/it", None),
    "debian-faq nl": ("debian-faq/nl", None),
    "debian-faq fr → en": ("debian-faq/en", "debian-faq/fr"),
    "debian-faq en → fr": ("debian-faq/fr", "debian-faq/en"),
    "fquad": ("fquad", None),
    "culture-num-fr": ("culture-num-fr", None),
    "squad2": ("squad2", None),
    "hotpotqa-100": ("hotpotqa-100", None),
    "doc2dial": ("doc2dial", None),
    "qmsum": ("qmsum", None),
    "ikat-2023": ("ikat-2023", None),
}
"""Folders of the corpus and of the questions, None for the same."""
BASELINES = ("bm25", "vectors", "rrf", "mix")
LEGS = ("keyword", "semantic", "rrf", "mix", "hybrid", "full")

DEPTH = 100
K1, B = 1.2, 0.75
MAX_CHARACTERS = 1000
"""Characters of a document that are embedded, about 256 tokens."""
BATCH = 64
LANGUAGES = ("en", "fr", "de", "es", "it", "nl")

Rankings = dict[str, list[Scored]]
"""Documents with scores, best first, by question id."""

Row = Mapping[str, float]


# --- baselines that rank whole documents ------------------------------------------------------


async def measure_baselines(
    data: RetrievalSet, *, embedder: Embedder, folder: Path, progress: Progress
) -> dict[str, dict[str, float]]:
    """Return the measures of each baseline; document vectors are kept in ``folder``."""
    keyword = await asyncio.to_thread(rank_by_bm25, data)
    semantic = await _rank_by_vectors(data, embedder=embedder, folder=folder, progress=progress)
    runs: dict[str, dict[str, list[str]]] = {}
    for question in data.questions:
        legs = (keyword[question.id], semantic[question.id])
        for name, ranking in {
            "bm25": [key for key, _score in legs[0]],
            "vectors": [key for key, _score in legs[1]],
            "rrf": fuse_ranks(*legs),
            "mix": mix_evenly(*legs),
        }.items():
            runs.setdefault(name, {})[question.id] = ranking
    return {name: mean(per_question(run, judgments=data.judgments)) for name, run in runs.items()}


def rank_by_bm25(data: RetrievalSet) -> Rankings:
    """Rank whole documents by BM25 over stems without stop words (Robertson and Zaragoza, 2009)."""
    texts = [_text(row) for row in data.corpus]
    languages = [detect_language(text, among=LANGUAGES, fallback="en") for text in texts]
    counts = [
        Counter(analyze(text, language=language))
        for text, language in zip(texts, languages, strict=True)
    ]
    length = sum(each.total() for each in counts) / len(counts) or 1.0
    postings: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for row, terms in enumerate(counts):
        damping = K1 * (1 - B + B * terms.total() / length)
        for term, count in terms.items():
            postings[term].append((row, count * (K1 + 1) / (count + damping)))
    # A language of a stray document is none of the collection.
    common = [name for name, number in Counter(languages).items() if number * 20 >= len(languages)]
    runs: Rankings = {}
    for question in data.questions:
        scores: dict[int, float] = defaultdict(float)
        for term in analyze_query(question.text, languages=common):
            held = postings.get(term, ())
            rarity = math.log(1 + (len(texts) - len(held) + 0.5) / (len(held) + 0.5))
            for row, weight in held:
                scores[row] += rarity * weight
        best = sorted(scores, key=lambda row: (-scores[row], row))[:DEPTH]
        runs[question.id] = [(data.corpus[row].id, scores[row]) for row in best]
    return runs


async def _rank_by_vectors(
    data: RetrievalSet, *, embedder: Embedder, folder: Path, progress: Progress
) -> Rankings:
    rows = await _document_vectors(data.corpus, embedder=embedder, folder=folder, progress=progress)
    runs: Rankings = {}
    for question in data.questions:
        cosines = rows @ (await embedder.encode(question.text)).vector
        best = np.argsort(-cosines, kind="stable")[:DEPTH]
        runs[question.id] = [(data.corpus[row].id, float(cosines[row])) for row in best]
    return runs


async def _document_vectors(
    corpus: Sequence[CorpusRow], *, embedder: Embedder, folder: Path, progress: Progress
) -> Matrix:
    texts = [_text(row)[:MAX_CHARACTERS] for row in corpus]
    key = sha256("\0".join((embedder.name, embedder.revision, *texts)).encode()).hexdigest()[:16]
    path = folder / f"documents-{key}.npy"
    if await asyncio.to_thread(path.is_file):
        kept: Matrix = np.load(path)
        return kept
    parts = []
    for at in range(0, len(texts), BATCH):
        progress("Embedding documents", at, len(texts))
        parts.append(await embedder.embed(texts[at : at + BATCH], role="document"))
    rows = np.concatenate(parts)
    await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
    np.save(path, rows)
    return rows


def _text(row: CorpusRow) -> str:
    return f"{row.title}\n{row.text}".strip() or row.id


# --- the table --------------------------------------------------------------------------------


async def measure(name: str, *, data: Path, home: Path) -> dict[str, float]:
    """Return nDCG@10 of every baseline and leg on one set, and the counts."""
    corpus, queries = SETS[name]
    settings = Settings(home=home)
    asked = data / queries if queries else None
    found = await evaluate_retrieval(
        data / corpus, queries=asked, settings=settings, choices={}, progress=_quiet
    )
    embedder = open_embedder(settings)
    try:
        plain = await measure_baselines(
            load_retrieval_set(data / corpus, queries=asked),
            embedder=embedder,
            folder=home / "eval",
            progress=_quiet,
        )
    finally:
        embedder.close()
    return {
        "documents": found.documents,
        "questions": found.queries,
        **{f"whole {leg}": plain[leg]["ndcg@10"] for leg in BASELINES},
        **{leg: found.legs[leg]["ndcg@10"] for leg in LEGS},
        "p50": found.latency_ms["p50"],
    }


def best_baseline(row: Row) -> float:
    """Return the best figure of the plain baselines, on whole documents or on quoth's chunks."""
    return max(row[column] for column in columns_of_baselines())


def table(rows: Mapping[str, Row]) -> str:
    """Return the Markdown table with the mean over the sets and the worst of them."""
    columns = [*(f"whole {leg}" for leg in BASELINES), *LEGS]
    head = ["set", "documents", "questions", *columns, "full − best baseline"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for name, row in rows.items():
        cells = [name, f"{row['documents']:,.0f}", f"{row['questions']:,.0f}"]
        cells += [f"{row[column]:.3f}" for column in columns]
        lines.append("| " + " | ".join([*cells, f"{row['full'] - best_baseline(row):+.3f}"]) + " |")
    means = {column: fmean(row[column] for row in rows.values()) for column in columns}
    gain = fmean(row["full"] - best_baseline(row) for row in rows.values())
    cells = [
        "**mean**",
        "",
        "",
        *(f"**{means[column]:.3f}**" for column in columns),
        f"{gain:+.3f}",
    ]
    lines.append("| " + " | ".join(cells) + " |")
    lines += ["", summary(rows, means)]
    return "\n".join(lines)


def summary(rows: Mapping[str, Row], means: Mapping[str, float]) -> str:
    """Return how both rankings compare with the best baseline of all sets and of each set."""
    plain = max(columns_of_baselines(), key=lambda name: means[name])
    parts = [
        f"The best baseline for all sets is {plain}: hybrid {means['hybrid'] - means[plain]:+.3f}, "
        f"full {means['full'] - means[plain]:+.3f} on the mean."
    ]
    for leg in ("hybrid", "full"):
        below = [
            f"{name} {row[leg] - best_baseline(row):+.3f}"
            for name, row in rows.items()
            if row[leg] - best_baseline(row) < -0.01
        ]
        parts.append(f"More than .01 below the best of a set, {leg}: {', '.join(below) or 'none'}.")
    return "\n".join(parts)


def columns_of_baselines() -> list[str]:
    """Return the columns of the baselines, on whole documents and on quoth's chunks."""
    return [*(f"whole {leg}" for leg in BASELINES), "keyword", "semantic", "rrf", "mix"]


def _quiet(_what: str, _done: int, _of: int) -> None:
    return None


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the sets that are asked for, then write the table of all that are measured."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"of: {', '.join(SETS)}")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--again", action="store_true", help="measure what is measured already")
    given = parser.parse_args(arguments)
    kept = given.home / "results.json"
    rows: dict[str, dict[str, float]] = json.loads(kept.read_text()) if kept.is_file() else {}
    for name in given.sets or SETS:
        if name in rows and not given.again:
            continue
        if not (given.data / SETS[name][0]).is_dir():
            print(f"{name}: not there")
            continue
        rows[name] = asyncio.run(measure(name, data=given.data, home=given.home))
        kept.write_text(json.dumps(rows, indent=1))
        print(name, {key: round(value, 4) for key, value in rows[name].items()}, flush=True)
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    ordered = {name: rows[name] for name in SETS if name in rows}
    PAGE.write_text(f"{before}{BEGIN}\n{table(ordered)}\n{END}{after}", "utf-8")


if __name__ == "__main__":
    main()
