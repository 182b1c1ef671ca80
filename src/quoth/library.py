"""Synchronous facade: runs the engine on an event loop in a background thread."""

from __future__ import annotations

import asyncio
import shlex
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import AbstractAsyncContextManager, aclosing, suppress
from os import PathLike, fspath, getpid
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType
from typing import Any, TypeVar
from uuid import uuid4

from quoth.bootstrap import discard_line, open_engine
from quoth.core.command_line import command_line
from quoth.core.custom_metadata import check_metadata
from quoth.core.errors import InputError, NotFound
from quoth.core.events import Event
from quoth.core.load_settings import load_settings
from quoth.core.settings import Settings
from quoth.core.types import Answer, Citation, Document, Filter, Hit, Turn
from quoth.engine import Engine
from quoth.pipeline.commit import IngestProgress
from quoth.pipeline.given_metadata import DocumentMetadata
from quoth.pipeline.maintain import Health
from quoth.pipeline.remote import check_sources, is_address
from quoth.pipeline.retrieve import Request
from quoth.pipeline.uploads import find_document
from quoth.store.document_list import DocumentLists
from quoth.store.history import QuerySummary
from quoth.text.locators import cited_end

T = TypeVar("T")
Source = str | PathLike[str]
CLOSED = "This library is closed. Open it again with quoth.open()."
FORKED = "This library was opened before the process was forked. Open one here with quoth.open()."


class Library:
    """Documents in a folder, and answers from them.

    Works inside running event loops too (notebooks, servers). Close it, or use it as a context
    manager.
    """

    def __init__(
        self,
        home: Source | None = None,
        *,
        progress: Callable[[str], None] = discard_line,
        **settings: Any,
    ) -> None:
        given = load_settings({**settings, "home": home})
        self._session = uuid4().hex
        self._running: set[Future[Any]] = set()
        self._closed = False
        self._process = getpid()
        self._lock = threading.Lock()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="quoth", daemon=True)
        self._thread.start()
        self._opened: AbstractAsyncContextManager[Engine] = open_engine(given, progress=progress)
        try:
            self._engine = self._run(self._opened.__aenter__())
        except BaseException:
            self._stop()
            raise

    def add(
        self,
        *sources: Source,
        title: str | None = None,
        url: str | None = None,
        speaker: str | None = None,
        language: str | None = None,
        date: str | None = None,
        metadata: Mapping[str, object] | None = None,
    ) -> list[Document]:
        """Add files and folders; return one document per file, failed ones included.

        ``metadata`` are keys of your own, such as ``{"team": "legal", "year": 2024}``, by which
        questions can be filtered; they are added to those that the document has.
        Raises InputError for an empty name and for the address of a page.
        """
        custom = check_metadata(metadata or {})
        given = DocumentMetadata(title, url, speaker, language, date, custom=custom)
        paths = [_path(source, self._engine.parts.settings) for source in sources]
        return self._added(self._engine.add(paths, given=given))

    def add_text(
        self,
        text: str | bytes,
        *,
        name: str = "text.txt",
        title: str | None = None,
        url: str | None = None,
        speaker: str | None = None,
        language: str | None = None,
        date: str | None = None,
        metadata: Mapping[str, object] | None = None,
    ) -> Document:
        """Add a text, or the bytes of a file of any format; the library keeps a copy of it.

        ``name`` is its file name, whose ending names the format where the content does not. The
        same text added again is the same document; another one of that name is another document.
        ``metadata`` as `add` takes them.
        """
        data = text.encode("utf-8", "replace") if isinstance(text, str) else text
        if not isinstance(data, bytes) or not isinstance(name, str):
            raise InputError("A text is str or bytes, and its name is a str.")
        custom = check_metadata(metadata or {})
        given = DocumentMetadata(title, url, speaker, language, date, custom=custom)
        return self._added(self._engine.add_data(data, name=name, given=given))[0]

    def ask(
        self,
        question: str,
        *,
        history: Sequence[Turn] = (),
        collections: Sequence[str] = (),
        session: str | None = None,
        **choices: Any,
    ) -> Answer:
        """Answer a question; options are fields of `quoth.core.plan.Plan`.

        ``filters`` is a mapping such as ``{"page": "12-14", "meta.team": "legal"}``, as on the
        command line, or a sequence of `Filter`.
        ``history`` holds the turns so far, for questions such as "and the second one?". With
        ``cache="semantic"`` a cached answer to a paraphrase may be returned, within the same
        ``session``; without one the library is its own session.
        """
        request = self._request(
            question, history=history, collections=collections, session=session, choices=choices
        )
        return self._run(self._engine.answer(request))

    def ask_all(self, questions: Sequence[str], **choices: Any) -> list[Answer]:
        """Answer many questions concurrently, in their order; the first failure is raised."""
        if isinstance(questions, str):
            raise InputError("Several questions are a list. Answer one with ask().")
        requests = [self._request(question, choices=choices) for question in questions]
        return self._run(self._engine.answer_all(requests))

    def stream(
        self,
        question: str,
        *,
        history: Sequence[Turn] = (),
        collections: Sequence[str] = (),
        session: str | None = None,
        **choices: Any,
    ) -> Iterator[Event]:
        """Answer a question as `ask` does; yield each event when it comes, the answer last.

        Closing the iterator, or leaving its loop, stops the answer.
        """
        request = self._request(
            question, history=history, collections=collections, session=session, choices=choices
        )
        return self._iterate(self._engine.stream(request))

    def suggest(self, after: Answer | str = "", *, history: Sequence[Turn] = ()) -> tuple[str, ...]:
        """Suggest questions: follow-ups of an answer, or completions of a typed beginning.

        Questions of ``history``, the turns before the answer, are not suggested again.
        """
        return self._run(self._engine.suggest(after, history=history))

    def history(self, *, most: int = 20, collection: str | None = None) -> list[QuerySummary]:
        """List recorded questions, newest first; of all collections, or of one."""

        async def asked() -> list[QuerySummary]:
            catalogue = self._engine.parts.catalogue
            return await asyncio.to_thread(catalogue.asked, limit=most, collection=collection)

        return self._run(asked())

    def search(
        self,
        question: str,
        *,
        k: int | None = None,
        filters: Mapping[str, object] | Sequence[Filter] = (),
        collections: Sequence[str] = (),
        **choices: Any,
    ) -> tuple[Hit, ...]:
        """Rank passages for a question, best first; filters as `ask` takes them."""
        choices = {"final_k": k, "filters": filters, **choices}
        request = self._request(question, collections=collections, choices=choices)
        return self._run(self._engine.search(request))

    def documents(self) -> list[Document]:
        """List the documents of the collection."""
        return self._run(self._engine.documents())

    def text(self, document: Document | Citation | str) -> str:
        """Return the text of a document, in which citations count their characters.

        ``text(citation)[citation.snippet_start : citation.snippet_end]`` is the snippet, also where
        the document was replaced by one with the same text up to there. Takes a citation and what
        `remove` takes; raises NotFound.
        """

        async def read() -> str:
            catalogue = self._engine.parts.catalogue
            if isinstance(document, Citation):
                present, end = DocumentLists.of(catalogue).present, cited_end(document)
                cited = await asyncio.to_thread(present, document.document_id, end=end)
                found = cited.document_id
            else:
                found = await self._find(document)
            chunks = await asyncio.to_thread(catalogue.document_chunks, found)
            if not chunks:
                raise NotFound("This document holds no text, or is no longer there.")
            return "".join(chunk.text for chunk in chunks)

        return self._run(read())

    def set_metadata(self, document: Document | str, metadata: Mapping[str, object]) -> Document:
        """Replace the metadata of your own of a document, which is not read again; return it.

        Takes what `remove` takes; raises NotFound, and InputError for what is no metadata.
        """

        async def change() -> Document:
            found = await self._find(document)
            return await self._engine.set_metadata(found, metadata)

        return self._run(change())

    def remove(self, *documents: Document | str) -> list[str]:
        """Delete documents completely, by id, beginning of an id, title or file name; return ids.

        A name without a document is left out. Raises InputError where one fits several.
        """

        async def remove() -> list[str]:
            ids = set[str]()
            for each in documents:
                with suppress(NotFound):
                    ids.add(await self._find(each))
            return await self._engine.remove(sorted(ids))

        return self._run(remove())

    def remove_collection(self, name: str) -> None:
        """Delete a collection with its documents and its questions; raises NotFound."""
        self._run(self._engine.remove_collection(name))

    def reindex(self) -> None:
        """Rebuild the index, e.g. after a change of embedder; searches continue meanwhile."""

        async def rebuild() -> None:
            chosen = self._engine.parts.settings.embedder is not None
            async for _ in self._engine.reindex(change_embedder=chosen):
                pass

        self._run(rebuild())

    def health(self) -> Health:
        """Check configuration, catalogue and index."""
        return self._run(self._engine.health())

    def close(self) -> None:
        """Close all resources; a second call does nothing, nor does one in a forked process."""
        if getpid() != self._process:
            return  # The thread and what it has open belong to the process above.
        with self._lock:
            if self._closed:
                return
            self._closed = True
        for work in list(self._running):
            work.cancel()
        closing = self._opened.__aexit__(None, None, None)
        asyncio.run_coroutine_threadsafe(closing, self._loop).result()
        self._stop()

    def _request(
        self,
        question: str,
        *,
        choices: Mapping[str, Any],
        history: Sequence[Turn] = (),
        collections: Sequence[str] = (),
        session: str | None = None,
    ) -> Request:
        """Return the request; a single collection or filter stands for a list of it.

        Filters in a mapping are those of the command line.
        """
        if not isinstance(question, str):
            raise InputError(f"A question is a text, not {type(question).__name__}.")
        filters = choices.get("filters")
        written: tuple[str, ...] = ()
        if isinstance(filters, Mapping):
            if not all(isinstance(value, (str, int, float)) for value in filters.values()):
                raise InputError("A filter is a text or a number: {'kind': 'pdf,text', 'page': 12}")
            written = tuple(f"{key}={value}" for key, value in filters.items())
            choices = {**choices, "filters": None}
        elif isinstance(filters, Filter):
            choices = {**choices, "filters": (filters,)}
        return Request(
            question,
            choices,
            written,
            (collections,) if isinstance(collections, str) else tuple(collections),
            tuple(history),
            session=self._session if session is None else session,
        )

    async def _find(self, document: Document | str) -> str:
        if isinstance(document, Document):
            return document.document_id
        there = await self._engine.documents()
        return find_document(there, str(document), whole=True).document_id

    def _added(self, steps: AsyncGenerator[Document | IngestProgress, None]) -> list[Document]:
        async def collect() -> list[Document]:
            documents = [step async for step in steps if isinstance(step, Document)]
            await self._engine.settle()
            return documents

        return self._run(collect())

    def _iterate(self, events: AsyncGenerator[Event, None]) -> Iterator[Event]:
        waiting: SimpleQueue[Event | None] = SimpleQueue()

        async def collect() -> None:
            async with aclosing(events):
                async for event in events:
                    waiting.put(event)

        future = self._submit(collect())
        future.add_done_callback(lambda _done: waiting.put(None))
        try:
            while (event := waiting.get()) is not None:
                yield event
            self._result(future)
        finally:
            future.cancel()

    def _submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        if getpid() != self._process:  # A forked process has no thread that would run it.
            work.close()
            raise InputError(FORKED)
        with self._lock:
            if self._closed:
                work.close()
                raise InputError(CLOSED)
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
            self._running.add(future)
        future.add_done_callback(self._running.discard)
        return future

    def _result(self, future: Future[T]) -> T:
        try:
            return future.result()
        except CancelledError:
            if self._closed:
                raise InputError(CLOSED) from None
            raise

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        future = self._submit(work)
        try:
            return self._result(future)
        except BaseException:
            future.cancel()  # On Ctrl-C the work must not continue in the background.
            raise

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def __enter__(self) -> Library:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _path(source: Source, settings: Settings) -> Path:
    """Return the path of a source; raises InputError."""
    if not isinstance(source, (str, PathLike)):
        raise InputError(f"A file or folder is a text or a Path, not {type(source).__name__}.")
    check_sources([text := fspath(source)])
    if is_address(text):
        fetch = command_line(f"add {shlex.quote(text)}", settings)
        raise InputError(f"This adds files and folders. Fetch a page with: {fetch}")
    return Path(text)
