"""`quoth export`: an answer to hand on."""

from __future__ import annotations

import asyncio
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from quoth.core.errors import InputError
from quoth.interfaces.cli.history import QueryId, record_from
from quoth.interfaces.cli.session import DONE, CliSession, catalogue_of, command


class ExportFormat(StrEnum):
    """What an answer is written as."""

    md = "md"
    html = "html"
    json = "json"
    csv = "csv"


Output = Annotated[Path | None, typer.Option("--output", "-o", help="File; else the terminal.")]


@command
async def export(
    session: CliSession,
    query_id: QueryId,
    form: Annotated[
        ExportFormat | None,
        typer.Option(
            "--format", help="Markdown, HTML, JSON or CSV; by the file's ending, else md."
        ),
    ] = None,
    output: Output = None,
) -> int:
    """Write an answer with its citations, sources and links as Markdown, HTML, JSON or CSV."""
    from quoth.history.export import exported

    with catalogue_of(session) as catalogue:
        record = await asyncio.to_thread(record_from, catalogue, query_id)
    chosen = form or (ExportFormat.json if session.json and output is None else by_ending(output))
    text = exported(record, chosen.value)
    if output is None:
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
    else:
        write(output, text)
        session.say(f"Wrote {output}.")
        if session.json:
            session.put({"query_id": record.query_id, "file": str(output)})
    return DONE


def by_ending(output: Path | None) -> ExportFormat:
    """Choose the form by a file's ending."""
    endings = {
        ".html": ExportFormat.html,
        ".htm": ExportFormat.html,
        ".json": ExportFormat.json,
        ".csv": ExportFormat.csv,
    }
    return endings.get("" if output is None else output.suffix.casefold(), ExportFormat.md)


def write(output: Path, text: str) -> None:
    """Write a text to a file; raises InputError."""
    try:
        output.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise InputError(f"{output} cannot be written: {error.strerror}.") from None
