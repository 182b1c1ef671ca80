"""The commands: parse, call the engine, show the result."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from itertools import islice, takewhile
from typing import Annotated, Any

import typer
from rich.console import Console
from typer.core import TyperGroup

from quoth import __version__
from quoth.core.errors import ConfigError, InputError
from quoth.interfaces.cli import audit, backup, evaluate_live, keys, uploads
from quoth.interfaces.cli.add import add, sync, watch
from quoth.interfaces.cli.chainlit import chainlit
from quoth.interfaces.cli.doctor import doctor, profiles, purge, repair
from quoth.interfaces.cli.documents import (
    collections,
    list_documents,
    reindex,
    remove,
    set_metadata,
)
from quoth.interfaces.cli.history import explain, export, history
from quoth.interfaces.cli.live import live
from quoth.interfaces.cli.models import models
from quoth.interfaces.cli.replay import replay
from quoth.interfaces.cli.serve import mcp, serve, worker
from quoth.interfaces.cli.session import (
    DONE,
    FAILED,
    Choices,
    CliSession,
    Filters,
    Llm,
    MaxMs,
    MaxUsd,
    Modes,
    Policies,
    Question,
    Screen,
    answering,
    command,
    engine_of,
    error_message,
    put,
    question_of,
    read_choices,
    report,
    show_warnings,
    with_model,
)
from quoth.interfaces.cli.show import open_reference, show
from quoth.interfaces.cli.tune import tune

UsageError: Any = typer.BadParameter.__base__
"""What is raised for a wrong command line; typer exports no name for it."""
FLAGS = ("--json", "--quiet", "-q")
VALUED = (
    *("--home", "--collection", "--profile", "--embedder", "--store", "--reranker"),
    *("--small-llm", "--page-embedder"),
)


class GlobalOptionsGroup(TyperGroup):
    """The group of all commands; global options may also stand behind the command.

    With ``--json`` wrong usage is reported on stdout, too.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line, global options first."""
        as_json = "--json" in takewhile("--".__ne__, args)
        ctx.with_resource(_reported(as_json=as_json))  # for what the command finds wrong
        with _reported(as_json=as_json):
            return super().parse_args(ctx, globals_first(args))


@contextmanager
def _reported(*, as_json: bool) -> Iterator[None]:
    try:
        yield
    except UsageError as error:
        if as_json and (message := error.format_message()):
            put(error_message(InputError(message)))
        raise


def globals_first(words: Sequence[str]) -> list[str]:
    """Put the global options in front; behind a ``--`` there are none."""
    front: list[str] = []
    rest: list[str] = []
    coming = iter(words)
    for word in coming:
        name, assigned, _value = word.partition("=")
        if word == "--":
            rest += [word, *coming]
        elif name in VALUED:
            front += [word] if assigned else [word, *islice(coming, 1)]
        else:
            (front if word in FLAGS else rest).append(word)
    return front + rest


app = typer.Typer(
    name="quoth",
    cls=GlobalOptionsGroup,
    help="Answers questions from talks, books and documents, and proves every sentence.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        Console().print(f"quoth {__version__}", highlight=False)
        raise typer.Exit


def _names(context: typer.Context) -> Sequence[str]:
    group: Any = context.command
    return tuple(group.commands)


@app.callback()
def start(  # noqa: PLR0913 - one for each global option
    context: typer.Context,
    home: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="Folder of the library; default $QUOTH_HOME."),
    ] = None,
    collection: Annotated[
        list[str] | None,
        typer.Option(help="Collection to work on; ask, chat and search take several."),
    ] = None,
    profile: Annotated[str | None, typer.Option(help="Named set of defaults.")] = None,
    embedder: Annotated[
        str | None, typer.Option(help="Embedder by name, or a folder with an ONNX model.")
    ] = None,
    store: Annotated[str | None, typer.Option(help="Vector store as NAME or NAME@ADDRESS.")] = None,
    reranker: Annotated[
        str | None, typer.Option(help="Rerankers by name or folder, set apart by commas, or none.")
    ] = None,
    small_llm: Annotated[
        str | None,
        typer.Option(help="Small language model that reads and rewords queries, or none."),
    ] = None,
    page_embedder: Annotated[
        str | None, typer.Option(help="Folder of a CLIP or SigLIP model for pictures of pages.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Machine output on stdout, all else on stderr.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only results and errors.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Read the settings for whichever command follows."""
    from quoth.core.load_settings import load_settings

    show_warnings()
    out, err = Screen(), Screen(stderr=True)
    for screen in (out, err):
        screen.home, screen.commands = home or "", _names(context)
    try:
        names = tuple(dict.fromkeys(collection or ()))
        if len(names) > 1 and context.invoked_subcommand not in ("ask", "chat", "search"):
            raise InputError("Only ask, chat and search take several collections. Name one.")
        settings = load_settings(
            {
                "home": home,
                "collection": names[0] if names else None,
                "profile": profile,
                "embedder": embedder,
                "reranker": reranker,
                "small_llm": small_llm,
                "page_embedder": page_embedder,
                "store": store,
            }
        )
    except (ConfigError, InputError) as error:
        raise typer.Exit(report(error, err=err, as_json=as_json)) from None
    context.obj = CliSession(settings, as_json, quiet, out, err, names)


app.command()(add)
app.command()(sync)
app.command()(watch)


app.command("list")(list_documents)
app.command()(collections)
app.command()(remove)
app.command()(show)
app.command("open")(open_reference)


@app.command()
@command
async def search(
    session: CliSession,
    question: Question,
    k: Annotated[int | None, typer.Option("-k", help="How many passages.")] = None,
    mode: Modes = None,
    filters: Filters = None,
    settings: Choices = None,
) -> int:
    """Show the passages that match best, ranked; exit code 1 where there are none."""
    from quoth.answering.answerability import describe_degradation
    from quoth.core.trace import Trace
    from quoth.core.translations import translate
    from quoth.interfaces.cli.render import hit_list
    from quoth.pipeline.retrieve import Request

    trace = Trace()
    request = Request(
        question_of(question),
        choices=read_choices(settings, final_k=k, mode=mode),
        filters=tuple(filters or ()),
        collections=session.collections,
    )
    async with engine_of(session) as engine:
        found = await engine.retrieve(request, trace=trace)
    session.show(found.hits, hit_list)
    language = found.query.language
    degraded = (describe_degradation(line, language=language) for line in trace.degraded)
    for line in (*found.warnings, *degraded):
        session.say(translate("interfaces.note", language, text=line))
    return DONE if found.hits else FAILED


@app.command()
@command
async def ask(
    session: CliSession,
    question: Question,
    stream: Annotated[
        bool | None,
        typer.Option(
            "--stream/--no-stream",
            help="Show the answer as it comes; a terminal does, --json if asked to.",
        ),
    ] = None,
    llm: Llm = None,
    policy: Policies = None,
    max_ms: MaxMs = None,
    max_usd: MaxUsd = None,
    mode: Modes = None,
    filters: Filters = None,
    settings: Choices = None,
) -> int:
    """Answer a question; every sentence cites the exact place it comes from.

    The exit code is 1 where nothing was found that answers it.
    """
    from quoth.interfaces.cli.ask import show_answer
    from quoth.pipeline.retrieve import Request

    request = Request(
        question_of(question),
        choices=read_choices(settings, mode=mode, **answering(policy, max_ms, max_usd, llm)),
        filters=tuple(filters or ()),
        collections=session.collections,
    )
    session = with_model(session, llm)
    async with engine_of(session) as engine:
        events = engine.stream(request, cached=False)  # the process ends with this answer
        answer = await show_answer(session, events, question=request.question, stream=stream)
    return DONE if answer.citations else FAILED


@app.command()
@command
def chat(
    session: CliSession,
    resumed: Annotated[
        bool, typer.Option("--continue", "-c", help="Go on with the last conversation.")
    ] = False,
    llm: Llm = None,
    policy: Policies = None,
    max_ms: MaxMs = None,
    max_usd: MaxUsd = None,
    filters: Filters = None,
    settings: Choices = None,
) -> int:
    """Talk with the collection: each question is read with the turns before it."""
    from quoth.interfaces.cli.chat import chat as converse

    choices = read_choices(settings, **answering(policy, max_ms, max_usd, llm))
    return converse(
        with_model(session, llm), choices=choices, filters=tuple(filters or ()), resumed=resumed
    )


app.command()(live)
app.command("set")(set_metadata)
app.command()(reindex)
app.command()(models)
app.command()(doctor)
app.command()(repair)
app.command()(profiles)
app.command()(tune)
app.command()(history)
app.command()(export)
app.command()(replay)
app.command()(explain)
app.command()(serve)
app.command()(worker)
app.command("work", hidden=True)(worker)  # Its name before.
app.command()(mcp)
app.command()(chainlit)
app.command()(purge)
app.add_typer(keys.app, name="keys")
app.add_typer(audit.app, name="audit")
app.command()(uploads.tenants)
app.add_typer(uploads.app, name="uploads")
app.add_typer(backup.app, name="backup")
app.add_typer(evaluate_live.app, name="eval")


def main() -> None:
    """Run the command line; the files that it writes are for this user only."""
    os.umask(0o077)
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a sign the terminal lacks is no reason to stop
    app()
