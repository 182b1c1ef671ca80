"""Keywords that a language model adds to a window of a lecture, asked for before the window ends.

Switched on by ``QUOTH_LIVE_KEYWORDS``. A window that ends first is looked up without them.
"""

from __future__ import annotations

import asyncio
import logging

from quoth.core.errors import QuothError
from quoth.core.types import Query
from quoth.pipeline.budget import MeteredGenerator, UsageMeter
from quoth.pipeline.components import Components
from quoth.pipeline.egress import apply_privacy_settings, count_tokens
from quoth.query.expand import ask_for_wordings

log = logging.getLogger("quoth.live")

MIN_WORDS = 15
"""Words of an open window from which its keywords are asked for, once."""


class WindowKeywords:
    """The keywords of the windows of one session; one call to the model at a time."""

    def __init__(self) -> None:
        self._words: dict[int, str] = {}
        self._asked = -1
        self._task: asyncio.Task[None] | None = None

    def ask(self, parts: Components, index: int, text: str, *, language: str) -> None:
        """Begin to ask about an open window, unless it was asked about or another call goes on."""
        busy = self._task is not None and not self._task.done()
        if not parts.settings.live_keywords or busy or index <= self._asked:
            return
        if len(text.split()) >= MIN_WORDS:
            self._asked = index
            self._task = asyncio.create_task(self._ask(parts, index, text, language=language))

    def take(self, index: int) -> str:
        """Return the keywords of a window that have come by now, and forget those before it."""
        found = self._words.get(index, "")
        self._words = {key: words for key, words in self._words.items() if key > index}
        return found

    async def stop(self) -> None:
        """Cancel the request in progress."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _ask(self, parts: Components, index: int, text: str, *, language: str) -> None:
        try:
            allowed = await asyncio.to_thread(apply_privacy_settings, parts)
            if allowed.reader is None:
                return
            meter = UsageMeter()
            model = MeteredGenerator(allowed.reader, meter, stage="expand")
            query = Query(original=text, standalone=text, language=language)
            try:
                found = await ask_for_wordings(query, generator=model)
                self._words[index] = " ".join(found.keywords)
            finally:
                # Tokens of a call that failed, or that the end of the session cancels, count too.
                await asyncio.shield(asyncio.to_thread(count_tokens, parts, meter.tokens))
        except QuothError as error:
            log.warning("no_keywords", extra={"code": error.code})
