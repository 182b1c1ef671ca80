"""Synchronous facade: runs the engine on an event loop in a background thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from os import PathLike, fspath
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar
from uuid import uuid4

from quoth.bootstrap import discard_line, open_engine
from quoth.core.errors import InputError, NotFound
from quoth.core.events import Event
from quoth.core.load_settings import load_settings
from quoth.core.types import (
    Answer,
    Document,
    Filter,
    Hit,
    Turn,
)
from quoth.engine import Engine
from quoth.pipeline.add import DocumentMetadata
from quoth.pipeline.maintain import Health
from quoth.pipeline.remote import check_sources, is_address
from quoth.pipeline.retrieve import Request
from quoth.pipeline.uploads import find_document
from quoth.store.history import QuerySummary

T = TypeVar("T")
Source = str | PathLike[str]


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
    ) -> list[Document]:
        """Add files and folders; return one document per file, failed ones included.

        Raises InputError for an empty name and for the address of a page.
        """
        given = DocumentMetadata(title=title, url=url, speaker=speaker, language=language)
        paths = [_path(source) for source in sources]

        async def collect() -> list[Document]:
            steps = self._engine.add(paths, given=given)
            documents = [step async for step in steps if isinstance(step, Document)]
            await self._engine.settle()
            return documents

        return self._run(collect())

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

        ``history`` holds the turns so far, for questions such as "and the second one?". With
        ``cache="semantic"`` a cached answer to a paraphrase may be returned, within the same
        ``session``; without one the library is its own session.
        """
        request = self._request(
            question, history=history, collections=collections, session=session, choices=choices
        )
        return self._run(self._engine.answer(request))

    def ask_all(self, questions: Sequence[str], **choices: Any) -> list[Answer]:
        """Answer many questions concurrently, in their order."""
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
    ) -> list[Event]:
        """Answer a question as `ask` does; yield the events in order."""
        request = self._request(
            question, history=history, collections=collections, session=session, choices=choices
        )

        async def collect() -> list[Event]:
            return [event async for event in self._engine.stream(request)]

        return self._run(collect())

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
        filters: Sequence[Filter] = (),
        collections: Sequence[str] = (),
        **choices: Any,
    ) -> tuple[Hit, ...]:
        """Rank passages for a question, best first."""
        choices = {"final_k": k, "filters": tuple(filters), **choices}
        request = Request(question, choices, collections=tuple(collections))
        return self._run(self._engine.search(request))

    def documents(self) -> list[Document]:
        """List the documents of the collection."""
        return self._run(self._engine.documents())

    def remove(self, *documents: str) -> list[str]:
        """Delete documents completely, by id, beginning of an id, title or file name; return ids.

        A name without a document is left out. Raises InputError where one fits several.
        """
        there, ids = self.documents(), set[str]()
        for each in documents:
            with suppress(NotFound):
                ids.add(find_document(there, each, whole=True).document_id)
        return self._run(self._engine.remove(sorted(ids)))

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
        """Close all resources; a second call does nothing."""
        if self._thread.is_alive():
            self._run(self._opened.__aexit__(None, None, None))
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
        return Request(
            question,
            choices,
            (),
            tuple(collections),
            tuple(history),
            session=self._session if session is None else session,
        )

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        if self._loop.is_closed():
            work.close()
            raise InputError("This library is closed. Open it again with quoth.open().")
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
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


def _path(source: Source) -> Path:
    """Return the path of a source; raises InputError."""
    text = fspath(source)
    check_sources([text])
    if is_address(text):
        raise InputError(f"This adds files and folders. Fetch a page with: quoth add {text}")
    return Path(text)
