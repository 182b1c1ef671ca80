"""Windows that the caller of a session numbers, looked up one by one."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from quoth.core.errors import Conflict
from quoth.core.lecture import LiveCitation, WindowRecord
from quoth.live.cards import CardRules, choose_cards
from quoth.live.events import CitationsFound, WindowCompleted
from quoth.pipeline.lecture import WindowLookup, cited_place
from quoth.pipeline.live_session import LiveSession
from quoth.store.rows import now


async def ask_window(
    session: LiveSession, window_index: int, text: str
) -> tuple[tuple[LiveCitation, ...], WindowLookup]:
    """Look up a window; the same again gives the stored result, whose look-up may be forgotten.

    Raises Conflict for another text under the same number, and where the session numbers them.
    """
    await session.claim("caller")
    known = await _known(session)
    if window_index not in known:
        found = session.lookups[text] = await session.look_up(text)
        async with session.asking:  # another call for this window may have been quicker
            known = await _known(session)
            if window_index not in known:
                cards = await _store(session, window_index, text, found=found, known=known)
                return cards, found
    record = known[window_index]
    if record.text != text:
        raise Conflict(f"Window {window_index} was asked with another text before.")
    return record.citations, session.lookups.get(text, WindowLookup())


async def _known(session: LiveSession) -> dict[int, WindowRecord]:
    windows = await asyncio.to_thread(session.store.windows, session.lecture.session_id)
    return {each.index: each for each in windows}


async def _store(
    session: LiveSession,
    window_index: int,
    text: str,
    *,
    found: WindowLookup,
    known: Mapping[int, WindowRecord],
) -> tuple[LiveCitation, ...]:
    """Choose the cards of a new window, store them, and tell the viewers."""
    before = known.get(window_index - 1)
    shown = {
        (card.document_id, cited_place(card)): card.relevance_score or 0.0
        for card in (before.citations if before else ())
    }
    rules = CardRules(show_from=found.show_from)
    choice = choose_cards(found.candidates, rules=rules, before=shown)
    cards = session.cite(choice, found, index=window_index, transcript_id="", text=text)
    record = WindowRecord(window_index, 0.0, 0.0, text, "", now(), cards)
    await asyncio.to_thread(session.store.put_windows, session.lecture.session_id, [record])
    session.cards[window_index] = cards
    session.events.put(WindowCompleted(window_index, 0.0, 0.0, ""))
    session.events.put(CitationsFound(window_index, cards))
    return cards
