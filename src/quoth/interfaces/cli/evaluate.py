"""`quoth eval`: measuring from the command line."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial, wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quoth.core.errors import InputError
from quoth.core.extras import require_extra
from quoth.core.types import Json
from quoth.interfaces.cli.session import CliSession, On, command, on_cluster, read_choices
from quoth.interfaces.cli.tables import ReportSummary, show_comparisons, show_summary
from quoth.text.json_codec import to_json

if TYPE_CHECKING:
    from quoth.core.settings import Settings
    from quoth.evaluation.corpus import Progress

app = typer.Typer(help="Measure on known questions and files.", no_args_is_help=True)

Folder = Annotated[Path, typer.Argument(help="Folder with the evaluation set.")]
Report = Annotated[
    Path | None, typer.Option("--report", help="Write a page with plots, an HTML file.")
]
Baseline = Annotated[
    Path | None,
    typer.Option("--baseline", help="Compare question by question with a report saved by --json."),
]
Split = Annotated[
    str | None,
    typer.Option(help="The part of the set, as dev for dev.jsonl; else heldout, else all files."),
]
Ablation = Annotated[
    list[str] | None, typer.Option("--set", help="plan.FIELD=VALUE, for an ablation.")
]


@dataclass(frozen=True, slots=True)
class EvaluationRun:
    """What a measurement is given by its command: the settings, and what takes its progress."""

    settings: Settings
    progress: Progress


Measured = tuple[Any, ReportSummary]
"""A report, and what a person is shown of it."""


def evaluation(measure: Callable[..., Awaitable[Measured]]) -> Callable[..., None]:
    """Make a command of a function that measures, with the options that all of them have."""

    @wraps(measure)
    async def work(
        session: CliSession,
        report: Path | None,
        baseline: Path | None,
        on: str | None,
        **given: Any,
    ) -> None:
        session = on_cluster(session, on)
        await _evaluate(session, partial(measure, **given), report=report, baseline=baseline)

    added = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in (("report", Report), ("baseline", Baseline), ("on", On))
    ]
    first, *own = signature(measure, eval_str=True).parameters.values()
    parameters = [first.replace(name="session"), *own, *added]
    work.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return command(work)


@app.command()
@evaluation
async def retrieval(
    run: EvaluationRun,
    folder: Folder,
    queries: Annotated[
        Path | None, typer.Option(help="Folder with other questions, such as another language.")
    ] = None,
    settings: Ablation = None,
) -> Measured:
    """Judge the rankings: nDCG, recall and MRR of each leg, their fusion and the whole chain."""
    require_extra("eval", module="ir_measures", what="This measurement")
    from quoth.evaluation.retrieval import evaluate_retrieval

    found = await evaluate_retrieval(
        folder,
        queries=queries,
        settings=run.settings,
        choices=read_choices(settings),
        progress=run.progress,
    )
    return found, ReportSummary(
        head=("leg", *next(iter(found.legs.values()))),
        rows=[(leg, *values.values()) for leg, values in found.legs.items()],
        text=f"{found.documents} documents, {found.queries} questions, {_times(found)}",
    )


@app.command()
@evaluation
async def understanding(
    run: EvaluationRun,
    folder: Folder,
    split: Split = None,
) -> Measured:
    """Judge how questions are understood: filters, types, languages, follow-ups, time."""
    from quoth.evaluation.understanding import evaluate_understanding

    found = await evaluate_understanding(folder, split=split, settings=run.settings)
    shares = {
        "exact filters": found.exact_filters,
        "exact where expected": found.exact_where_expected,
        "false filters": found.false_filters,
        "lifts": found.lifts,
        "types": found.types,
        "languages": found.languages,
        "follow-ups": found.followups,
        "aspects": found.aspects,
    }
    text = f"{found.questions} questions ({found.split}), {_times(found)}"
    return found, ReportSummary(shares, misses=found.misses, text=text)


@app.command()
@evaluation
async def conversation(
    run: EvaluationRun,
    folder: Folder,
    corpus: Annotated[
        Path | None, typer.Option(help="Folder with the corpus, where it is another one.")
    ] = None,
    split: Split = None,
) -> Measured:
    """Judge follow-ups: what the standalone question finds, against a rewrite by hand."""
    require_extra("eval", module="ir_measures", what="This measurement")
    from quoth.evaluation.conversation import evaluate_conversations

    found = await evaluate_conversations(
        folder, corpus=corpus, split=split, settings=run.settings, progress=run.progress
    )
    shares = {f"recall@5 of the {name}": value for name, value in found.recall_at_5.items()}
    shares |= {
        "standalone / rewrite": found.share_of_rewrite,
        "new topics kept": found.topics_kept,
        "follow-ups": found.followups,
    }
    text = f"{found.conversations} conversations ({found.split})"
    known = {name: value for name, value in shares.items() if value is not None}
    return found, ReportSummary(known, misses=found.lost, text=text)


@app.command()
@evaluation
async def answers(
    run: EvaluationRun,
    folder: Folder,
    settings: Ablation = None,
) -> Measured:
    """Judge whole answers: what they cite against reference sentences, and when they are silent."""
    from quoth.evaluation.answers import evaluate_answers

    found = await evaluate_answers(
        folder, settings=run.settings, choices=read_choices(settings), progress=run.progress
    )
    shares = {name.replace("_", " "): value for name, value in found.answerable.items()}
    asked = shares.pop("questions")
    shares |= {"abstained": found.unanswerable["abstained"], "resolved": found.resolve_rate}
    text = (
        f"{found.documents} documents, {int(asked)} answerable questions and "
        f"{int(found.unanswerable['questions'])} others; {_times(found)}"
    )
    return found, ReportSummary(shares, misses=found.misses, text=text)


@app.command()
@evaluation
async def people(
    run: EvaluationRun,
    folder: Folder,
    settings: Ablation = None,
) -> Measured:
    """Judge answers to people's questions: what a right answer holds, refusals, silence."""
    from quoth.evaluation.people import evaluate_people

    found = await evaluate_people(
        folder, settings=run.settings, choices=read_choices(settings), progress=run.progress
    )
    shares = {
        "gold in answer": found.gold_in_answer,
        "gold in top 3": found.gold_in_top3,
        "refused, answerable": found.refused_answerable,
        "answered, unanswerable": found.answered_unanswerable,
    }
    return found, ReportSummary(
        shares,
        head=("answerable", "number", "gold in answer", "gold in top 3", "refused"),
        rows=[(name, *each.values()) for name, each in found.groups.items()],
        misses=found.misses,
        text=f"{found.documents} documents ({len(found.failed)} failed), {found.questions} "
        f"questions, {_times(found)}",
    )


@app.command()
@evaluation
async def cache(
    run: EvaluationRun,
    folder: Folder,
    threshold: Annotated[
        float, typer.Option(min=0, max=1, help="Cosine from which questions may share an answer.")
    ] = 0.98,
) -> Measured:
    """Judge which questions may share an answer: hits on paraphrases, wrong hits on others."""
    from quoth.evaluation.cache import evaluate_cache

    found = await evaluate_cache(folder, settings=run.settings, threshold=threshold)
    return found, ReportSummary(
        head=("pairs", "hits"),
        rows=list(found.by_tag.items()),
        misses=found.wrong,
        text=f"At {found.threshold:g} with the guard: {found.hit_rate:.4f} of {found.same} "
        f"paraphrases hit, {found.false_hits} of {found.different} others do.",
    )


@app.command()
@evaluation
async def verify(
    run: EvaluationRun,
    folder: Folder,
    split: Annotated[str, typer.Option(help="The part of the set: heldout, dev or all.")] = "all",
) -> Measured:
    """Judge the check of answers: claims against their source or their evidence."""
    from quoth.evaluation.claims import evaluate_claims, has_claims
    from quoth.evaluation.verify import evaluate_verify

    if has_claims(folder):
        claims = await evaluate_claims(folder)
        return claims, _claims_summary(claims)
    found = await evaluate_verify(folder, split=split)
    return found, ReportSummary(
        {f"AUC, {name}": value for name, value in found.auc.items()},
        head=("statements", "number", "supported", "partly", "unsupported"),
        rows=[
            (name, each.statements, each.supported, each.partly, each.unsupported)
            for name, each in found.groups.items()
        ],
        misses=found.misses,
        text=f"{found.statements} statements ({found.split}); balanced accuracy against "
        f"contradictions {found.balanced_accuracy:.4f}, false alarms on quotations "
        f"{found.false_alarms:.4f}; {_times(found)}",
    )


def _claims_summary(found: Any) -> ReportSummary:
    return ReportSummary(
        {"true, supported": found.true_supported, "false, supported": found.false_supported},
        head=("change", "number", "supported"),
        rows=[(name, each.n, each.supported) for name, each in found.by_change.items()],
        misses=found.misses,
        text=f"{found.claims} claims, {found.true_supported:.4f} of the true and "
        f"{found.false_supported:.4f} of the false supported; {_times(found)}",
    )


@app.command()
@evaluation
async def ingest(run: EvaluationRun, folder: Folder) -> Measured:
    """Read every file of a folder and compare with its manifest.jsonl where there is one."""
    from quoth.evaluation.ingest import evaluate_ingest

    limits = run.settings
    found = await evaluate_ingest(
        folder, seconds=limits.parser_seconds, memory_mb=limits.parser_memory_mb
    )
    rows = [
        (
            each.file,
            each.status,
            each.code,
            each.pages,
            each.outline,
            f"{each.seconds:.2f}",
            None if each.peak_mb is None else f"{each.peak_mb:.0f}",
        )
        for each in found.files
    ]
    head = ("file", "status", "code", "pages", "outline", "s", "MB")
    return found, ReportSummary(head=head, rows=rows)


async def _evaluate(
    session: CliSession,
    measure: Callable[[EvaluationRun], Awaitable[Measured]],
    *,
    report: Path | None,
    baseline: Path | None,
) -> None:
    """Measure, compare, write and show; what cannot work is refused before anything is measured."""
    from quoth.evaluation.report import require_plots, write_report
    from quoth.evaluation.significance import compare, read_baseline, series_of
    from quoth.interfaces.cli.documents_view import reporting

    if report is not None:
        require_plots()
        if not report.parent.is_dir():
            raise InputError(f"There is no folder {report.parent} to write the report to.")
    before = None if baseline is None else read_baseline(baseline)
    with reporting(session, "Loading") as progress:
        found, summary = await measure(EvaluationRun(session.settings, progress))
    made: Json = {**to_json(found), **summary.figures}
    comparisons = () if before is None else compare(series_of(made), before)
    if report is not None:
        title = "quoth: evaluation"
        write_report(report, title=title, report=made, comparisons=comparisons, before=before)
        session.say(f"The report is in {report}.")
    if session.json:
        compared = {"comparison": [to_json(each) for each in comparisons]} if before else {}
        session.put({**made, **compared})
    else:
        show_summary(session, summary)
        if comparisons:
            show_comparisons(session, comparisons)


def _times(found: Any) -> str:
    """Say how long a question took in a report with ``latency_ms``."""
    return f"{found.latency_ms['p50']} ms (p50), {found.latency_ms['p95']} ms (p95)"
