"""`quoth add`: files, folders and pages of the web into the collection."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from quoth.interfaces.cli.session import (
    DONE,
    FAILED,
    CliSession,
    engine_of,
    run,
)
from quoth.text.json_codec import to_json

KEPT = "Stopped. Finished documents are stored; the same command continues from there."


def add(
    context: typer.Context,
    sources: Annotated[list[str], typer.Argument(help="Files, folders, and pages of the web.")],
    title: Annotated[str | None, typer.Option(help="Title, for a single file.")] = None,
    url: Annotated[str | None, typer.Option(help="Where the original is, such as a video.")] = None,
    speaker: Annotated[str | None, typer.Option(help="Who speaks.")] = None,
    language: Annotated[str | None, typer.Option(help="Language, such as en or fr.")] = None,
) -> None:
    """Add files, folders and pages to the collection; existing documents are skipped."""
    from quoth.interfaces.cli.render import adding
    from quoth.pipeline.add import DocumentMetadata
    from quoth.pipeline.add_urls import fetch_urls, is_address

    session: CliSession = context.obj
    given = DocumentMetadata(title=title, url=url, speaker=speaker, language=language)
    pages = [each for each in sources if is_address(each)]
    paths = [Path(each) for each in sources if not is_address(each)]

    async def work() -> int:
        async with engine_of(session) as engine:
            fetched = await fetch_urls(engine.parts, pages, given=given)
            steps = engine.add([*paths, *fetched], given=replace(given, files=fetched))
            async with aclosing(steps):
                documents = await adding(session, steps)
            await engine.settle(session.say)
        if session.json:
            session.put([to_json(each) for each in documents])
        failed = any(each.status == "failed" for each in documents)
        return FAILED if failed or not documents else DONE

    run(session, work, stopped=KEPT)
