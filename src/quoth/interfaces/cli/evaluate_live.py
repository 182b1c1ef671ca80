"""`quoth eval live` and `quoth eval stream`: lectures against the book they belong to."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quoth.evaluation.speech_errors import Speech
from quoth.interfaces.cli.evaluate import EvaluationRun, Folder, Measured, evaluation
from quoth.interfaces.cli.evaluate import app as app
from quoth.interfaces.cli.tables import ReportSummary

Book = Annotated[
    Path | None, typer.Option(help="The book; else the only PDF of the folder, or its language's.")
]
Language = Annotated[str | None, typer.Option("--lang", help="Language of the lecture.")]
BookLanguage = Annotated[str | None, typer.Option("--book-lang", help="Language of the book.")]
SpeechErrors = Annotated[
    Speech, typer.Option(help="As written, without punctuation, or with 15 % of the words wrong.")
]


@app.command()
@evaluation
async def live(
    run: EvaluationRun,
    folder: Folder,
    book: Book = None,
    lang: Language = None,
    book_lang: BookLanguage = None,
    speech: SpeechErrors = "plain",
) -> Measured:
    """Judge windows of lectures: precision of what is shown, coverage, and silence."""
    from quoth.evaluation.live import evaluate_live

    found = await evaluate_live(
        folder,
        book=book,
        language=lang,
        book_language=book_lang,
        speech=speech,
        settings=run.settings,
        progress=run.progress,
    )
    shares = {
        "precision shown": found.precision_shown,
        "precision of rank 1": found.precision_rank1,
        "coverage": found.coverage,
        **found.hits,
        "silence off-book": found.silence,
        "calibration error": found.ece,
    }
    return found, ReportSummary(
        shares,
        figures=found.hits,
        head=("most certain on-book", "rank 1 right"),
        rows=list(found.curve.items()),
        misses=found.misses,
        text=f"{found.windows} windows ({found.on_book} on-book), {found.shown} with cards; "
        f"{found.latency_ms['p50']} ms (p50), {found.latency_ms['p95']} ms (p95)",
    )


@app.command()
@evaluation
async def stream(
    run: EvaluationRun,
    folder: Folder,
    book: Book = None,
    lang: Language = None,
    book_lang: BookLanguage = None,
) -> Measured:
    """Judge replayed lectures: time from a sentence to its card, churn, repeats, merged windows."""
    from quoth.evaluation.live_stream import evaluate_stream

    found = await evaluate_stream(
        folder,
        book=book,
        language=lang,
        book_language=book_lang,
        settings=run.settings,
        progress=run.progress,
    )
    return found, ReportSummary(
        {"churn": found.churn, "repeated cards": found.duplicates},
        head=("lecture", "segments", "windows", "cards", "churned"),
        rows=[(name, *row.values()) for name, row in found.lectures.items()],
        text=f"{found.windows} windows, {found.cards} cards, {found.merged} merged; sentence "
        f"to card {found.time_to_citation_s['p50']} s (p50), "
        f"{found.time_to_citation_s['p95']} s (p95)",
    )
