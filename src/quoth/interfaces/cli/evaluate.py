"""`quoth eval`: measuring from the command line."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from quoth.core.errors import InputError
from quoth.core.types import Json
from quoth.interfaces.cli.session import (
    DONE,
    CliSession,
    read_choices,
    run,
)
from quoth.interfaces.cli.tables import (
    show_comparisons,
    show_rows,
    show_shares,
    times_of,
)
from quoth.text.json_codec import to_json

if TYPE_CHECKING:
    from quoth.evaluation.significance import Comparison, PerQuestion

app = typer.Typer(help="Measure on known questions and files.", no_args_is_help=True)

_COUNTS = ("cited", "selected")

Folder = Annotated[Path, typer.Argument(help="Folder with the evaluation set.")]
Report = Annotated[
    Path | None, typer.Option("--report", help="Write a page with plots, an HTML file.")
]
Baseline = Annotated[
    Path | None,
    typer.Option("--baseline", help="Compare question by question with a report saved by --json."),
]
Split = Annotated[str, typer.Option(help="The part of the set: heldout, or dev.")]
Choices = Annotated[
    list[str] | None, typer.Option("--set", help="plan.FIELD=VALUE, for an ablation.")
]
Progress = Callable[[str, int, int], None]


@app.command()
def retrieval(
    context: typer.Context,
    folder: Folder,
    queries: Annotated[
        Path | None, typer.Option(help="Folder with other questions, such as another language.")
    ] = None,
    settings: Choices = None,
    report: Report = None,
    baseline: Baseline = None,
) -> None:
    """Judge the rankings: nDCG, recall and MRR of each leg, their fusion and the whole chain."""
    session: CliSession = context.obj

    async def measure(progress: Progress) -> Any:
        from quoth.evaluation.retrieval import evaluate_retrieval

        return await evaluate_retrieval(
            folder,
            queries=queries,
            settings=session.settings,
            choices=read_choices(settings),
            progress=progress,
        )

    def show(found: Any) -> None:
        names = next(iter(found.legs.values()))
        table = Table("leg", *names, box=None)
        for leg, values in found.legs.items():
            table.add_row(leg, *(f"{value:.4f}" for value in values.values()))
        session.out.print(table)
        session.out.print(
            f"{found.documents} documents, {found.queries} questions, {times_of(found)}",
            highlight=False,
        )

    _evaluate(session, measure, show=show, report=report, baseline=baseline)


@app.command()
def understanding(
    context: typer.Context,
    folder: Folder,
    split: Split = "heldout",
    report: Report = None,
    baseline: Baseline = None,
) -> None:
    """Judge how questions are understood: filters, types, languages, follow-ups, time."""
    session: CliSession = context.obj

    async def measure(_progress: Progress) -> Any:
        from quoth.evaluation.understanding import evaluate_understanding

        return await evaluate_understanding(folder, split=split, settings=session.settings)

    def show(found: Any) -> None:
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
        show_shares(session, shares)
        show_rows(session, [to_json(each) for each in found.misses])
        session.out.print(
            f"{found.questions} questions ({found.split}), {times_of(found)}", highlight=False
        )

    _evaluate(session, measure, show=show, report=report, baseline=baseline)


@app.command()
def conversation(
    context: typer.Context,
    folder: Folder,
    corpus: Annotated[
        Path | None, typer.Option(help="Folder with the corpus, where it is another one.")
    ] = None,
    split: Split = "heldout",
    report: Report = None,
    baseline: Baseline = None,
) -> None:
    """Judge follow-ups: what the standalone question finds, against a rewrite by hand."""
    session: CliSession = context.obj

    async def measure(progress: Progress) -> Any:
        from quoth.evaluation.conversation import evaluate_conversations

        return await evaluate_conversations(
            folder, corpus=corpus, split=split, settings=session.settings, progress=progress
        )

    def show(found: Any) -> None:
        shares = {f"recall@5 of the {name}": value for name, value in found.recall_at_5.items()}
        shares |= {
            "standalone / rewrite": found.share_of_rewrite,
            "new topics kept": found.topics_kept,
            "follow-ups": found.followups,
        }
        show_shares(session, shares)
        show_rows(session, [to_json(each) for each in found.lost])
        session.out.print(f"{found.conversations} conversations ({found.split})", highlight=False)

    _evaluate(session, measure, show=show, report=report, baseline=baseline)


@app.command()
def answers(
    context: typer.Context,
    folder: Folder,
    settings: Choices = None,
    report: Report = None,
    baseline: Baseline = None,
) -> None:
    """Judge whole answers: what they cite against reference sentences, and when they are silent."""
    session: CliSession = context.obj

    async def measure(progress: Progress) -> Any:
        from quoth.evaluation.answers import evaluate_answers

        return await evaluate_answers(
            folder, settings=session.settings, choices=read_choices(settings), progress=progress
        )

    def show(found: Any) -> None:
        shares = dict(found.answerable)
        asked, cited, selected = (int(shares.pop("questions")), *map(shares.pop, _COUNTS))
        shares |= {"abstained": found.unanswerable["abstained"], "resolved": found.resolve_rate}
        show_shares(session, {name.replace("_", " "): value for name, value in shares.items()})
        show_rows(session, [to_json(each) for each in found.misses])
        session.out.print(
            f"{found.documents} documents, {asked} answerable questions and "
            f"{int(found.unanswerable['questions'])} others; {cited:.2f} sentences cited, "
            f"{selected:.2f} selected; {times_of(found)}",
            highlight=False,
        )

    _evaluate(session, measure, show=show, report=report, baseline=baseline)


@app.command()
def cache(
    context: typer.Context,
    folder: Folder,
    threshold: Annotated[
        float, typer.Option(min=0, max=1, help="Cosine from which questions may share an answer.")
    ] = 0.98,
    report: Report = None,
    baseline: Baseline = None,
) -> None:
    """Judge which questions may share an answer: hits on paraphrases, wrong hits on others."""
    session: CliSession = context.obj

    async def measure(_progress: Progress) -> Any:
        from quoth.evaluation.cache import evaluate_cache

        return await evaluate_cache(folder, settings=session.settings, threshold=threshold)

    def show(found: Any) -> None:
        table = Table("cosine", "guard", "hits on the same", "wrong hits", box=None)
        for each in found.sweep:
            guard = "with" if each.guarded else "without"
            rate = f"{each.hit_rate:.4f}"
            table.add_row(f"{each.threshold:.2f}", guard, rate, str(each.false_hits))
        session.out.print(table)
        show_rows(session, [to_json(each) for each in found.wrong])
        session.out.print(
            f"At {found.threshold:g} with the guard: {found.hit_rate:.4f} of {found.same} "
            f"paraphrases hit, {found.false_hits} of {found.different} others do.",
            highlight=False,
        )

    _evaluate(session, measure, show=show, report=report, baseline=baseline)


@app.command()
def verify(
    context: typer.Context,
    folder: Folder,
    split: Annotated[str, typer.Option(help="The part of the set: heldout, dev or all.")] = "all",
    report: Report = None,
    baseline: Baseline = None,
) -> None:
    """Judge the check of answers: claims against their evidence, quotations with one exchange."""
    session: CliSession = context.obj

    async def measure(_progress: Progress) -> Any:
        from quoth.evaluation.verify import evaluate_verify

        return await evaluate_verify(folder, split=split)

    def show(found: Any) -> None:
        show_shares(session, {f"AUC, {name}": value for name, value in found.auc.items()})
        table = Table("statements", "number", "supported", "partly", "unsupported", box=None)
        for name, each in found.groups.items():
            shares = (each.supported, each.partly, each.unsupported)
            table.add_row(name, str(each.statements), *(f"{share:.4f}" for share in shares))
        session.out.print(table)
        show_rows(session, [to_json(each) for each in found.misses])
        session.out.print(
            f"{found.statements} statements ({found.split}); balanced accuracy against "
            f"contradictions {found.balanced_accuracy:.4f}, false alarms on quotations "
            f"{found.false_alarms:.4f}; {times_of(found)}",
            highlight=False,
        )

    _evaluate(session, measure, show=show, report=report, baseline=baseline)


@app.command()
def ingest(
    context: typer.Context, folder: Folder, report: Report = None, baseline: Baseline = None
) -> None:
    """Read every file of a folder and compare with its manifest.jsonl where there is one."""
    session: CliSession = context.obj

    async def measure(_progress: Progress) -> Any:
        from quoth.evaluation.ingest import evaluate_ingest

        return await evaluate_ingest(
            folder,
            seconds=session.settings.parser_seconds,
            memory_mb=session.settings.parser_memory_mb,
        )

    def show(found: Any) -> None:
        table = Table("file", "status", "code", "pages", "outline", "s", "MB", box=None)
        for each in found.files:
            table.add_row(
                Text(each.file),
                each.status,
                each.code or "",
                "" if each.pages is None else str(each.pages),
                str(each.outline),
                f"{each.seconds:.2f}",
                "" if each.peak_mb is None else f"{each.peak_mb:.0f}",
            )
        session.out.print(table)

    _evaluate(session, measure, show=show, report=report, baseline=baseline)


def _evaluate(
    session: CliSession,
    measure: Callable[[Progress], Coroutine[Any, Any, Any]],
    *,
    show: Callable[[Any], None],
    report: Path | None,
    baseline: Path | None,
) -> None:
    """Measure, compare, write and show; what cannot work is refused before anything is measured."""
    from quoth.interfaces.cli.render import reporting

    async def work() -> int:
        before = _checked(report, baseline)
        with reporting(session, "Loading") as progress:
            found = await measure(progress)
        made: Json = to_json(found)
        comparisons = _compared(made, before)
        if report is not None:
            _write(report, session=session, made=made, comparisons=comparisons, before=before)
        if session.json:
            compared = {"comparison": [to_json(each) for each in comparisons]} if before else {}
            session.put({**made, **compared})
            return DONE
        show(found)
        if comparisons:
            show_comparisons(session, comparisons)
        return DONE

    run(session, work)


def _checked(report: Path | None, baseline: Path | None) -> PerQuestion | None:
    from quoth.evaluation.report import require_plots
    from quoth.evaluation.significance import read_baseline

    if report is not None:
        require_plots()
        if not report.parent.is_dir():
            raise InputError(f"There is no folder {report.parent} to write the report to.")
    return None if baseline is None else read_baseline(baseline)


def _compared(made: Json, before: PerQuestion | None) -> tuple[Comparison, ...]:
    from quoth.evaluation.significance import compare, series_of

    return () if before is None else compare(series_of(made), before)


def _write(
    path: Path,
    *,
    session: CliSession,
    made: Json,
    comparisons: Sequence[Comparison],
    before: PerQuestion | None,
) -> None:
    from quoth.evaluation.report import write_report

    write_report(
        path, title="quoth: evaluation", report=made, comparisons=comparisons, before=before
    )
    session.say(f"The report is in {path}.")
