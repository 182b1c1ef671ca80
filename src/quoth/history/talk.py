"""A live session as a document: its transcript can be asked, and its moments are addresses."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from quoth.core.errors import Conflict, InputError
from quoth.core.lecture import Lecture, WindowRecord
from quoth.core.types import Chunk, Document, Seconds
from quoth.engine import Engine
from quoth.history.lecture_export import as_vtt
from quoth.pipeline.given_metadata import DocumentMetadata
from quoth.pipeline.uploads import require_room
from quoth.store.blobs import clean_name
from quoth.store.catalogue import Catalogue
from quoth.store.document_list import DocumentLists
from quoth.store.lectures import Lectures


@dataclass(frozen=True, slots=True)
class ExplainedMoment:
    """The words of a session, from `start` to `end` seconds, that cite a document.

    ``address`` opens them in the talk that the session became, else the session.
    """

    session_id: str
    title: str
    start: float
    end: float
    text: str
    address: str


async def keep_as_talk(
    engine: Engine, session_id: str, *, collection: str, captions: Path | None = None
) -> Document:
    """Add what was said in a session so far to a collection, as captions.

    ``captions`` is the file that holds them already. It takes the place of what was added earlier;
    the same again changes nothing. Raises Conflict where nothing was said or an open session cites
    the collection, InputError where the transcript cannot be read, and what `Engine.add` raises.
    """
    parts = engine.parts
    store = Lectures.of(parts.catalogue)
    lecture = await asyncio.to_thread(store.lecture, session_id)
    segments = await asyncio.to_thread(store.segments, session_id)
    if lecture.state != "ended" and collection in lecture.collections:
        raise Conflict(
            f"This session cites the collection '{collection}'. Keep it in another one, or end it."
        )
    if not segments:
        raise Conflict("Nothing was said in this session: there is no talk to keep.")
    given = DocumentMetadata(title=lecture.title, language=lecture.language)
    if captions is not None:
        adding = engine.add([captions], given=given, collection=collection)
    else:
        content = as_vtt(lecture, segments, ()).encode()
        await asyncio.to_thread(require_room, parts, size=len(content))
        name = clean_name(f"{lecture.title}.vtt")
        adding = engine.add_data(content, name=name, given=given, collection=collection)
    async with aclosing(adding) as steps:
        [document] = [step async for step in steps if isinstance(step, Document)]
    if document.error is not None:
        raise InputError(document.error.message)
    earlier = await asyncio.to_thread(store.talk_of, session_id)
    for document_id, home in earlier.items():
        if document_id != document.document_id:
            new = document.document_id
            await asyncio.to_thread(parts.catalogue.lead_to, old=document_id, new=new)
            await engine.remove([document_id], collection=home)
    await asyncio.to_thread(store.change, session_id, document_id=document.document_id)
    return document


async def update_talk(engine: Engine, session_id: str) -> Lecture:
    """Add what was said since a session was added as a talk, if it was; return the session."""
    store = Lectures.of(engine.parts.catalogue)
    for home in (await asyncio.to_thread(store.talk_of, session_id)).values():
        await keep_as_talk(engine, session_id, collection=home)
    return await asyncio.to_thread(store.lecture, session_id)


def explained_moments(
    catalogue: Catalogue, document_id: str, *, page_number: int | None = None
) -> list[ExplainedMoment]:
    """List the moments of all sessions that cite a document, or one PDF page of it.

    Also those that cite a document which it replaced.
    """
    ids = [document_id, *DocumentLists.of(catalogue).earlier_ids(document_id)]
    found = Lectures.of(catalogue).explained(ids, page_number=page_number)
    talks = {lecture.document_id for lecture, _ in found if lecture.document_id}
    chunks = {talk: catalogue.document_chunks(talk) for talk in talks}
    return [
        ExplainedMoment(
            lecture.session_id,
            lecture.title,
            window.start,
            window.end,
            window.text,
            _address(lecture, window, chunks.get(lecture.document_id or "", ())),
        )
        for lecture, window in found
    ]


def _address(lecture: Lecture, window: WindowRecord, chunks: Sequence[Chunk]) -> str:
    cues = [
        place
        for chunk in chunks
        for place in chunk.places
        if isinstance(place.locator, Seconds)
        and place.locator.end > window.start
        and place.locator.start < window.end
    ]
    if not cues:
        return f"/live/{lecture.session_id}"
    return f"/d/{lecture.document_id}?start={cues[0].start}&end={cues[-1].end}"
