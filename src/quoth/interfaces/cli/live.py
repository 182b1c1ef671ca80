"""`quoth live`: a transcript as it is spoken, and the citations as they come."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from quoth.core.errors import InputError
from quoth.core.lecture import SpeechFormat
from quoth.interfaces.cli.session import (
    DONE,
    FAILED,
    CliSession,
    at_stop_signals,
    command,
    engine_of,
)
from quoth.text.json_codec import to_json
from quoth.text.locators import format_timestamp, label

if TYPE_CHECKING:
    from quoth.core.lecture import LiveCitation, SpeechState
    from quoth.core.types import Document
    from quoth.live.events import LiveEvent
    from quoth.pipeline.live_session import LiveSession

MAX_SNIPPET = 150
"""Characters of a cited passage that are shown."""

Speak = Callable[["LiveSession"], Coroutine[Any, Any, None]]
File = Annotated[
    str | None,
    typer.Argument(help="SRT, WebVTT, JSON lines, or a recording; - reads JSON lines."),
]
Microphone = Annotated[
    bool, typer.Option("--microphone", help="Transcribe this machine's microphone.")
]
Speed = Annotated[float, typer.Option(min=0.1, max=10_000, help="Times as fast as it was spoken.")]
Follow = Annotated[
    bool, typer.Option(help="Read captions or JSON lines that are still being written, to Ctrl-C.")
]
Form = Annotated[SpeechFormat, typer.Option("--format", help="Whose messages the JSON lines are.")]
Against = Annotated[
    str | None, typer.Option(help="Collection with the documents to cite; else --collection.")
]

Documents = Annotated[
    list[str] | None,
    typer.Option("--document", help="Cite only this one, by id or title; may be repeated."),
]
Keep = Annotated[
    str | None, typer.Option(help="Collection that the transcript is added to at the end.")
]
Title = Annotated[
    str | None, typer.Option(help="Title of the lecture; else that of the file, or its name.")
]


@command
async def live(
    session: CliSession,
    file: File = None,
    speed: Speed = 1.0,
    microphone: Microphone = False,
    follow: Follow = False,
    form: Form = "quoth",
    against: Against = None,
    document: Documents = None,
    keep: Keep = None,
    title: Title = None,
) -> int:
    """Replay or pipe a transcript, or transcribe speech, and print citations as they come.

    A person sees what is said with the cards below; --json writes every event as a line. The
    exit code is 1 where nothing was cited. The session is kept, as in the service; sound is not.
    Ctrl-C ends the lecture. --keep adds captions as the file that they are: a --title is lost when
    that is added again, unless it stands in the metadata beside it (day.srt.meta.json).
    """
    from quoth.history.talk import keep_as_talk
    from quoth.pipeline.live_session import LiveSession
    from quoth.store.lectures import Lectures

    collection = against or session.settings.collection
    speak = await _speaker(
        session, file, speed=speed, microphone=microphone, follow=follow, form=form
    )
    async with engine_of(session) as engine:
        there = await engine.documents(collection=collection)
        await asyncio.to_thread(engine.parts.catalogue.collection, collection)
        single = [_document(there, name) for name in document or ()]
        lecture = await asyncio.to_thread(
            Lectures.of(engine.parts.catalogue).start,
            title=await asyncio.to_thread(_title, title, file),
            collections=[] if single else [collection],
            documents=single,
        )
        running = LiveSession(engine.parts, lecture)
        shown = asyncio.create_task(_show(session, running))
        try:
            is_whole = await _until_stopped(speak(running))
            await running.end()
            count = await shown
            if keep is not None:
                captions = _captions(file) if is_whole else None
                talk = await keep_as_talk(
                    engine, lecture.session_id, collection=keep, captions=captions
                )
                session.say(f"Kept as '{talk.title}' in the collection '{keep}'.")
            return DONE if count else FAILED
        finally:
            shown.cancel()
            await running.stop()
            if not running.progress.segments:  # it failed at its start, or nothing was said
                await asyncio.to_thread(running.store.delete, lecture.session_id)


def _captions(file: str | None) -> Path | None:
    """Return the file where it is one of captions."""
    from quoth.interfaces.cli.live_input import CAPTIONS

    return Path(file).resolve() if file and file.lower().endswith(CAPTIONS) else None


def _title(given: str | None, file: str | None) -> str:
    """Return the given title, else that which the metadata beside a file name, else its name."""
    from quoth.ingest.readers.metadata import file_title, read_beside

    if given or file is None or file == "-":
        return given or "Lecture"
    return read_beside(Path(file))[0].title or file_title(Path(file).name)


async def _until_stopped(speaking: Coroutine[Any, Any, None]) -> bool:
    """Wait for what speaks to its end, and return True; Ctrl-C and SIGTERM end the lecture, not
    the command.
    """
    task = asyncio.create_task(speaking)
    with at_stop_signals(task.cancel), suppress(asyncio.CancelledError):
        await task
    return not task.cancelled()


def _document(there: Sequence[Document], name: str) -> str:
    """Return the id of a document by id or title, also of one that is being added."""
    exact = [each for each in there if each.document_id == name]
    found = exact or [each for each in there if each.title.casefold() == name.casefold()]
    if len(found) != 1:
        raise InputError(
            f"{len(found) or 'No'} documents are called '{name}'. "
            "Give the id of one that `quoth list` names."
        )
    return found[0].document_id


async def _speaker(
    session: CliSession,
    file: str | None,
    *,
    speed: float,
    microphone: bool,
    follow: bool,
    form: SpeechFormat,
) -> Speak:
    """Return what speaks into the session; raises InputError."""
    from quoth.ingest.readers.media import MEDIA_SUFFIXES
    from quoth.interfaces.cli.live_input import (
        LineReader,
        followed,
        piped,
        replayed,
        speak_file,
        speak_microphone,
    )

    if microphone == (file is not None):
        raise InputError(
            "Name a transcript or a recording, - for JSON lines from another program, or "
            "--microphone."
        )
    if file is None:
        return partial(speak_microphone, session)
    if Path(file).suffix.lower() in MEDIA_SUFFIXES:
        return partial(speak_file, session, Path(file), speed=speed)
    if file == "-":
        segments = piped(LineReader(form, session.warn))
    elif follow:
        segments = followed(Path(file), LineReader(form, session.warn))
    else:
        segments = await replayed(Path(file), speed=speed)

    async def replay(running: LiveSession) -> None:
        async for segment in segments:
            await running.push([segment])
            if speed >= 100:
                await running.finish()  # faster than it can be looked up: nothing is left out

    return replay


async def _show(session: CliSession, running: LiveSession) -> int:
    """Show events until the session ends; return the number of citations."""
    count = 0
    async for _number, event in running.events.read():
        if event.event == "citations" and not event.early:
            count += len(event.citations)
        if session.json:
            session.put(to_json(event))
        else:
            _show_event(session, event)
    return count


def _show_event(session: CliSession, event: LiveEvent) -> None:
    if event.event == "segment" and event.segment.final:
        at = format_timestamp(event.segment.start)
        session.out.print(Text.assemble((f"{at:>7}  ", "dim"), event.segment.text))
    elif event.event == "citations" and not event.early:
        for citation in event.citations:
            session.out.print(_card(citation))
    elif event.event == "slow":
        session.say("Finding citations…")
    elif event.event == "speech":
        _show_speech(session, event.speech)
    elif event.event == "stale":
        session.say(f"Window {event.window_index}: a citation lost its support.")


def _show_speech(session: CliSession, speech: SpeechState) -> None:
    if speech.state == "listening":
        session.say(f"This lecture is being transcribed ({speech.model}). The sound is not kept.")
    elif speech.state == "lagging":
        session.say(f"Recognition is {speech.lag_s:g} s behind and goes on with {speech.model}.")
    elif speech.state == "silent":
        session.say("Nobody has been heard for ten minutes. Is this the right microphone?")


def _card(citation: LiveCitation) -> Text:
    place = label(citation.locator)
    heading = f" · {citation.section_heading}" if citation.section_heading else ""
    return Text.assemble(
        (f"       [{citation.rank}] ", "bold cyan"),
        (f"{citation.document_name} · {place}{heading}\n", "cyan"),
        (f"           “{shorten(citation.snippet, MAX_SNIPPET, placeholder=' …')}”", "dim"),
    )
