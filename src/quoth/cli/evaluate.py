"""`quoth eval`: measuring from the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from quoth.cli.run import DONE, Session, run
from quoth.codec import to_json
from quoth.errors import InputError

app = typer.Typer(help="Measure on known questions and files.", no_args_is_help=True)

Folder = Annotated[Path, typer.Argument(help="Folder with the evaluation set.")]


@app.command()
def retrieval(
    context: typer.Context,
    folder: Folder,
    queries: Annotated[
        Path | None, typer.Option(help="Folder with other questions, such as another language.")
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="plan.FIELD=VALUE, for an ablation.")
    ] = None,
) -> None:
    """Judge the rankings: nDCG, recall and MRR of each leg, their fusion and the whole chain."""
    from quoth.cli.render import progress_bar

    session: Session = context.obj

    async def work() -> int:
        from quoth.evaluation.retrieval import evaluate_retrieval

        with progress_bar(session) as bar:
            task = bar.add_task("Loading", total=None)
            report = await evaluate_retrieval(
                folder,
                queries=queries,
                settings=session.settings,
                choices=read_choices(settings or []),
                progress=lambda what, done, of: bar.update(
                    task, description=what, completed=done, total=of
                ),
            )
        if session.json:
            session.put(to_json(report))
            return DONE
        names = next(iter(report.legs.values()))
        table = Table("leg", *names, box=None)
        for leg, values in report.legs.items():
            table.add_row(leg, *(f"{value:.4f}" for value in values.values()))
        session.out.print(table)
        session.out.print(
            f"{report.documents} documents, {report.queries} questions, "
            f"{report.latency_ms['p50']} ms (p50), {report.latency_ms['p95']} ms (p95)",
            highlight=False,
        )
        return DONE

    run(session, work)


@app.command()
def ingest(context: typer.Context, folder: Folder) -> None:
    """Read every file of a folder and compare with its manifest.jsonl where there is one."""
    session: Session = context.obj

    async def work() -> int:
        from quoth.evaluation.ingest import evaluate_ingest

        report = await evaluate_ingest(
            folder,
            seconds=session.settings.parser_seconds,
            memory_mb=session.settings.parser_memory_mb,
        )
        if session.json:
            session.put(to_json(report))
            return DONE
        table = Table("file", "status", "code", "pages", "outline", "s", "MB", box=None)
        for each in report.files:
            table.add_row(
                Text(each.file),
                each.status,
                each.code or "",
                "" if each.pages is None else str(each.pages),
                str(each.outline),
                f"{each.seconds:.2f}",
                f"{each.peak_mb:.0f}",
            )
        session.out.print(table)
        return DONE

    run(session, work)


def read_choices(texts: list[str]) -> dict[str, Any]:
    """Read ``plan.FIELD=VALUE`` settings; raises InputError."""
    choices: dict[str, Any] = {}
    for text in texts:
        name, found, value = text.removeprefix("plan.").partition("=")
        if not found or not text.startswith("plan."):
            raise InputError(f"'{text}' is not a setting. Write --set plan.FIELD=VALUE.")
        choices[name] = _value(value)
    return choices


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"none": None, "true": True, "false": False}.get(text.casefold(), text)
