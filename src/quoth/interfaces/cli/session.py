"""What every command shares: the settings, errors and their exit codes, opening the engine."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import shlex
import signal
import sys
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial, wraps
from inspect import Signature, iscoroutine, signature
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from quoth.core.command_line import command_line
from quoth.core.errors import ConfigError, InputError, QuothError
from quoth.core.plan import ModeName, Policy
from quoth.operations.logging import configure_logging
from quoth.text.json_codec import to_json

if TYPE_CHECKING:
    from quoth.core.settings import Settings
    from quoth.core.types import Document
    from quoth.engine import Engine
    from quoth.store.catalogue import Catalogue


On = Annotated[
    str | None,
    typer.Option(
        "--on",
        metavar="ray[://HOST:PORT]",
        help="Read and embed documents on a Ray cluster; ray starts one on this machine.",
    ),
]
DONE, FAILED, USAGE, CONFIGURATION = 0, 1, 2, 3
INTERRUPTED = 130
STOPPED = "Stopped."
_QUOTED = r"""(?P<quoted>“[^“”]*”|«[^«»]*»|"[^"]*"|(?<!\w)'(?!quoth \w+')[^']*'(?!\w))"""


@dataclass(frozen=True, slots=True)
class CliSession:
    """The global options of one call; questions may go to several ``collections``."""

    settings: Settings
    json: bool
    quiet: bool
    out: Screen
    err: Screen
    collections: tuple[str, ...] = ()

    def say(self, line: str) -> None:
        """Tell a person something that is not the result."""
        if not self.quiet:
            self.err.print_message(line)

    def warn(self, line: str) -> None:
        """Say what failed; --quiet does not silence it."""
        self.err.print_message(line, style="red")

    def show(self, value: Any, render: Callable[[CliSession, Any], None]) -> None:
        """Write a result as JSON for a program, or let ``render`` show it to a person."""
        if not self.json:
            render(self, value)
        elif isinstance(value, list | tuple):
            self.put([to_json(row) for row in value])
        else:
            self.put(to_json(value))

    def put(self, value: Any) -> None:
        """Write one JSON value as a line of the machine output."""
        put(value)


_CONTROLS = dict.fromkeys({*range(32), *range(127, 160)} - {*b"\t\n"}, "\ufffd")


class Screen(Console):
    """A console that lets `command` handle a closed pipe.

    Its messages name commands as they work when they are copied: where the caller names the home
    folder, these ``commands`` do, too.
    """

    home = ""
    commands: Collection[str] = ()

    def in_home(self, message: str) -> str:
        """Return a message whose commands, but no quoted texts, name the caller's home folder."""
        if not self.home:
            return message
        options = r"(?:--[a-z-]+ (?:'[^']*'|[^'\s]\S*) ){0,9}"
        named = rf"\bquoth (?={options}(?:{'|'.join(self.commands)})(?![\w-]))"
        home = f"quoth --home {shlex.quote(self.home)} "
        return re.sub(rf"{_QUOTED}|{named}", lambda m: m[0] if m["quoted"] else home, message)

    def print_message(self, message: str, *, style: str | None = None) -> None:
        """Print a message with its commands as they work for the caller."""
        self.print_line(self.in_home(message), style=style)

    def print_line(self, text: str | Text, *, style: str | None = None) -> None:
        """Print a text as it is: neither wrapped nor coloured, and without markup.

        Control characters, such as those of a file's name, are shown as U+FFFD: a terminal would
        obey them.
        """
        text = Text(text) if isinstance(text, str) else text.copy()
        text.plain = text.plain.translate(_CONTROLS)  # the same length keeps the styles in place
        self.print(text, highlight=False, markup=False, style=style, soft_wrap=True)

    def on_broken_pipe(self) -> None:
        """Pass the error on; the library would end the process with a failure."""
        raise BrokenPipeError


def put(value: Any) -> None:
    """Write a value to stdout as one line of JSON, in escapes where the encoding lacks a sign."""
    line = json.dumps(value, ensure_ascii=False)
    try:
        line.encode(sys.stdout.encoding)
    except UnicodeEncodeError:
        line = json.dumps(value)
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def on_cluster(session: CliSession, on: str | None) -> CliSession:
    """Return the session whose documents are read and embedded on a cluster, if one is named."""
    if on is None:
        return session
    if on != "ray" and not on.startswith("ray://"):
        raise typer.BadParameter("Write it as ray or ray://HOST:PORT.", param_hint="--on")
    return replace(session, settings=session.settings.model_copy(update={"on": on}))


@asynccontextmanager
async def engine_of(session: CliSession) -> AsyncIterator[Engine]:
    """Open the engine, telling what a first start builds."""
    from quoth.bootstrap import open_engine

    async with open_engine(session.settings, progress=session.say) as engine:
        yield engine


@contextmanager
def catalogue_of(session: CliSession) -> Iterator[Catalogue]:
    """Open the catalogue alone: what only reads it needs no model and no index."""
    from quoth.store.catalogue import Catalogue
    from quoth.store.database import open_database

    settings = session.settings
    database = open_database(settings.catalogue)
    catalogue = Catalogue(database, tenant=settings.tenant)
    try:
        yield catalogue
    finally:
        catalogue.close()


def stored_documents(session: CliSession) -> list[Document]:
    """Return the documents of the collection; raises NotFound for an unknown one."""
    from quoth.pipeline.uploads import documents_in

    with catalogue_of(session) as catalogue:
        return documents_in(catalogue, session.settings.collection)


def nothing_here(session: CliSession) -> str:
    """Say that nothing was added yet, and how to."""
    return f"Nothing here yet. Add something with: {command_line('add PATH', session.settings)}"


def quantity(number: int, one: str, several: str = "") -> str:
    """Return a number with its noun: "1 file", "2 files"; ``several`` for another plural."""
    return f"{number:,} {one if number == 1 else several or one + 's'}"


def command(
    work: Callable[..., Any] | None = None, *, stopped: str = STOPPED
) -> Callable[..., Any]:
    """Make a typer command of a function, plain or async, whose first parameter is ``session``.

    It receives the `CliSession` of the call and returns the exit code, with which the process ends,
    or None for 0. ``stopped`` is the message after Ctrl-C.
    """
    if work is None:
        return partial(command, stopped=stopped)

    @wraps(work)
    def start(**given: Any) -> None:
        session: CliSession = given.pop("session").obj
        try:
            outcome = work(session, **given)
            code = asyncio.run(outcome) if iscoroutine(outcome) else outcome
        except KeyboardInterrupt:
            session.err.print(f"\n{stopped}")
            code = INTERRUPTED
        except QuothError as error:
            code = report(error, err=session.err, as_json=session.json)
        except BrokenPipeError:
            # The reader of our output has left: nothing more to say, and no traceback either.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = DONE
        raise typer.Exit(code or DONE)

    # Typer reads the parameters from these, and passes its context where one is annotated so.
    first, *others = signature(work, eval_str=True).parameters.values()
    parameters = [first.replace(annotation=typer.Context), *others]
    start.__annotations__ = {each.name: each.annotation for each in parameters}
    start.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return start


@contextmanager
def at_stop_signals(act: Callable[[], object]) -> Iterator[None]:
    """Call a function at SIGINT and SIGTERM, in the running event loop.

    Windows has no such handlers; Ctrl-C ends the command at once there.
    """
    loop, signals = asyncio.get_running_loop(), (signal.SIGINT, signal.SIGTERM)
    for each in signals:
        with suppress(NotImplementedError):
            loop.add_signal_handler(each, act)
    try:
        yield
    finally:
        for each in signals:
            with suppress(NotImplementedError):
                loop.remove_signal_handler(each)


def report(error: QuothError, *, err: Screen, as_json: bool) -> int:
    """Show an error and give its exit code."""
    if as_json:
        put(error_message(error))
    err.print_message(str(error), style="red")
    if isinstance(error, ConfigError):
        return CONFIGURATION
    return USAGE if isinstance(error, InputError) else FAILED


def error_message(error: QuothError) -> dict[str, Any]:
    """The error as RFC 9457 problem details, which are also the last event of a stream."""
    return {
        "event": "error",
        "type": f"urn:quoth:problem:{error.code}",
        "code": error.code,
        "title": (type(error).__doc__ or "").strip().split("\n")[0],
        "detail": str(error),
        "request_id": None,
    }


def read_choices(texts: Sequence[str] | None, **given: Any) -> dict[str, Any]:
    """Read ``plan.FIELD=VALUE`` settings; raises InputError.

    ``given`` are fields that have an option of their own, which counts where it was used.
    """
    choices: dict[str, Any] = {}
    for text in texts or ():
        name, found, value = text.removeprefix("plan.").partition("=")
        if not found or not text.startswith("plan."):
            raise InputError(f"'{text}' is not a setting. Write --set plan.FIELD=VALUE.")
        choices[name] = _value(value)
    return choices | {name: value for name, value in given.items() if value is not None}


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"none": None, "true": True, "false": False}.get(text.casefold(), text)


def show_warnings() -> None:
    """Let warnings and errors of this process go to stderr, safe to read and without keys."""
    if not logging.getLogger().handlers:
        configure_logging(as_json=False, level=logging.WARNING)


# --- options that several commands have in common -------------------------------------------


Question = Annotated[
    list[str],
    typer.Argument(help="The question, with or without quotes; - reads it from standard input."),
]
Filters = Annotated[
    list[str] | None,
    typer.Option(
        "--filter",
        help="Only what matches KEY=VALUE; may be given again. KEY=any or none drops what the "
        "question itself says about where to look.",
    ),
]
Choices = Annotated[
    list[str] | None, typer.Option("--set", help="plan.FIELD=VALUE, for this question.")
]

Llm = Annotated[
    str | None,
    typer.Option(help="Language models as PROVIDER:MODEL, or none for verbatim sentences."),
]
Policies = Annotated[
    Policy | None, typer.Option(help="What happens to a sentence without support.")
]
Modes = Annotated[
    ModeName | None,
    typer.Option(
        case_sensitive=False,
        help="Which retrievers search; dense and vector mean semantic, bm25 and fts mean keyword.",
    ),
]
MaxMs = Annotated[int | None, typer.Option(help="Milliseconds the answer may take.")]
MaxUsd = Annotated[float | None, typer.Option(help="Dollars the answer may cost.")]


def question_of(words: Sequence[str]) -> str:
    """Return the question that the words of the command line make; raises InputError for none."""
    question = sys.stdin.read() if list(words) == ["-"] else " ".join(words)
    if not question.strip():
        raise InputError("There is no question. Write it behind the command.")
    return question.strip()


def answering(
    policy: Policy | None, max_ms: int | None, max_usd: float | None, llm: str | None
) -> dict[str, Any]:
    """Return the fields of the plan that options of their own choose."""
    return {
        "policy": policy,
        "deadline_ms": None if max_ms is None else float(max_ms),
        "max_usd": max_usd,
        "generate": False if llm == "none" else None,
    }


def with_model(session: CliSession, llm: str | None) -> CliSession:
    """Return the session with the language models that this call names."""
    if llm is None:
        return session
    chosen = {"generator": llm} | ({"small_llm": llm} if llm == "none" else {})
    return replace(session, settings=session.settings.model_copy(update=chosen))
