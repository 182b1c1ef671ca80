"""A running lecture on a real library: windows are looked up, stored, and restored."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from quoth.core.errors import Busy, Conflict, InputError
from quoth.core.lecture import Lecture, LiveCitation, TranscriptSegment
from quoth.core.types import Document
from quoth.engine import Engine
from quoth.live.queue import MAX_WAITING
from quoth.pipeline import live_language_model, live_session
from quoth.pipeline.asked_window import ask_window
from quoth.pipeline.components import Components
from quoth.pipeline.lecture import WindowLookup, look_up_for
from quoth.pipeline.live_language_model import TranslatedCaptions
from quoth.pipeline.live_session import LiveSession
from quoth.store.lectures import Lectures
from quoth.store.privacy_settings import DailyUsage
from quoth.testing import ScriptedGenerator
from tests.support.busy import writers
from tests.support.failing_backends import SlowEmbedder
from tests.support.lectures import TOPICS, spoken, write_book
from tests.support.small_library import add, open_tour

TITLES = ("Queens", "Wax", "Dances", "Mites", "Honey", "Drones", "Winter", "Pollen", "Stings")


@pytest_asyncio.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    """An engine with the book."""
    async with open_tour(tmp_path / "home") as opened:
        await add(opened, write_book(tmp_path / "sources"))
        yield opened


def _session(engine: Engine, *, collections: tuple[str, ...] = ("default",)) -> LiveSession:
    store = Lectures.of(engine.parts.catalogue)
    return LiveSession(engine.parts, store.start(title="Bees", collections=collections))


def _shown(cards: list[LiveCitation]) -> list[tuple[int, int, str | None]]:
    return [(card.window_index, card.rank, card.section_heading) for card in cards]


async def _run(session: LiveSession, segments: list[TranscriptSegment]) -> list[LiveCitation]:
    for segment in segments:
        await session.push([segment])
    await session.end()
    await session.stop()
    return session.store.citations(session.lecture.session_id)


async def test_a_lecture_is_cited_stored_and_the_same_in_any_order(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = _session(engine)
    cards = await _run(session, spoken(*TITLES))
    assert {card.section_heading for card in cards} & set(TITLES)
    for card in cards:
        document = engine.parts.catalogue.document_chunks(card.document_id)
        text = "".join(chunk.text for chunk in document)
        assert text[card.snippet_start : card.snippet_end] == card.snippet
        assert 0.5 < (card.relevance_score or 0) <= 1
        assert len(card.snippet) <= 200
    names = [event.event for _, event in session.events.after(0)]
    assert names[-1] == "end"
    assert names.count("segment") == len(TITLES)
    windows = session.store.windows(session.lecture.session_id)
    assert len(windows) == len(session.progress.windows)

    shuffled = [*spoken(*TITLES), *spoken(*TITLES)[::2]]
    random.Random(5).shuffle(shuffled)
    again = await _run(_session(engine), shuffled)
    assert _shown(again) == _shown(cards)
    # A window whose passages are forgotten is looked up again.
    monkeypatch.setattr(live_session, "MAX_LOOKUPS", 1)
    assert _shown(await _run(_session(engine), shuffled)) == _shown(cards)


async def test_a_session_goes_on_after_a_restart(engine: Engine) -> None:
    whole = await _run(_session(engine), spoken(*TITLES))
    first = _session(engine)
    for segment in spoken(*TITLES)[:4]:
        await first.push([segment])
    await first.finish()
    await first.stop()
    store = Lectures.of(engine.parts.catalogue)
    key = first.lecture.session_id
    second = LiveSession(engine.parts, store.lecture(key))
    await second.load()
    before = {card.id for card in store.citations(first.lecture.session_id)}
    cards = await _run(second, spoken(*TITLES))
    assert before <= {card.id for card in cards}
    assert [_shown([card])[0][2] for card in cards] == [_shown([card])[0][2] for card in whole]
    assert sorted(card.number for card in cards) == list(range(1, len(cards) + 1))


async def test_off_topic_speech_and_a_session_without_documents_are_silent(engine: Engine) -> None:
    talk = "I had a coffee on the way here and the train was late again because of the rain. "
    coffee = [TranscriptSegment(f"s{at}", at * 9.0, at * 9.0 + 8, talk * 2) for at in range(4)]
    assert await _run(_session(engine), coffee) == []
    assert await _run(_session(engine, collections=()), spoken(*TITLES)) == []


async def test_the_caller_numbers_windows_or_the_session_does_and_never_both(
    engine: Engine,
) -> None:
    session = _session(engine)
    text = spoken("Honey")[0].text
    cards = (await ask_window(session, 7, text))[0]
    assert (await ask_window(session, 7, text))[0] == cards
    assert [card.window_index for card in cards] == [7] * len(cards)
    with pytest.raises(Conflict, match="another text"):
        await ask_window(session, 7, text + " More.")
    with pytest.raises(Conflict, match="the caller numbers"):
        await session.push(spoken("Honey"))
    pushed = _session(engine)
    await pushed.push(spoken("Honey"))
    with pytest.raises(Conflict, match="the session numbers"):
        await ask_window(pushed, 0, text)
    await pushed.end()
    with pytest.raises(Conflict, match="ended"):
        await pushed.push(spoken("Wax"))
    await pushed.stop()


async def test_a_revision_that_takes_the_support_away_makes_cards_stale(engine: Engine) -> None:
    session = _session(engine)
    segments = spoken(*TITLES)
    for segment in segments:
        await session.push([segment])
    await session.finish()
    card = session.store.citations(session.lecture.session_id)[0]
    ids = session.progress.windows[card.window_index].segment_ids
    words = "I had a coffee on the way here and the train was late again. " * 3
    for segment in segments:
        if segment.segment_id in ids:
            await session.push([replace(segment, text=words, revision=1)])
    await session.finish()
    await session.stop()
    after = session.store.citations(session.lecture.session_id)
    assert next(each for each in after if each.id == card.id).stale
    assert "stale" in [event.event for _, event in session.events.after(0)]


async def test_slow_retrieval_delays_no_segment_and_fills_no_queue(engine: Engine) -> None:
    slow = replace(engine.parts, embedder=SlowEmbedder(0.05))
    lecture = Lectures.of(engine.parts.catalogue).start(title="Bees", collections=["default"])
    session = LiveSession(slow, lecture)
    longest = 0
    for segment in spoken(*TITLES * 4):
        await session.push([segment])
        longest = max(longest, session.waiting)
    assert 0 < longest <= MAX_WAITING
    assert session.merged > 0
    await session.end()
    await session.stop()
    assert session.store.citations(lecture.session_id)
    assert len(session.store.windows(lecture.session_id)) == len(session.progress.windows)


async def test_bad_segments_are_refused_and_noise_is_nothing(engine: Engine) -> None:
    session = _session(engine)
    with pytest.raises(InputError):
        await session.push([TranscriptSegment("a", 5, 1, "backwards")])
    for at, noise in enumerate(("[MUSIC]", "", "(laughs)", "*coughs*", "...", "♪")):
        await session.push([TranscriptSegment(f"n{at}", 0, 1, noise)])
    await session.push([TranscriptSegment("d", 2, 900, "word " * 2_000)])
    await session.end()
    await session.stop()
    assert [each.segment_id for each in session.store.segments(session.lecture.session_id)] == ["d"]
    assert len(session.store.windows(session.lecture.session_id)) > 10


async def test_nothing_is_lost_while_others_write_to_the_catalogue(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_session, "WRITE_PAUSES_S", (0.01,) * 3)
    session = _session(engine)
    segments = spoken(*TITLES)
    await session.push(segments[:1])
    with writers(engine.parts.catalogue.database):
        with pytest.raises(Busy):
            await session.push(segments)
        with pytest.raises(Busy):
            await session.end()
    assert session.lecture.state == "open"
    assert await session.push(segments) == len(segments) - 1
    await session.end()
    await session.stop()
    key = session.lecture.session_id
    assert [each.text for each in session.store.segments(key)] == [each.text for each in segments]
    assert session.store.lecture(key).state == "ended"
    windows = session.store.windows(key)
    assert [each.text for each in windows] == [each.text for each in session.progress.windows]
    assert session.store.citations(key)


async def test_windows_that_a_stop_cut_off_are_looked_up_when_the_session_is_loaded(
    engine: Engine,
) -> None:
    first = _session(engine)
    await first.push(spoken(*TITLES))
    await first.stop()
    second = LiveSession(engine.parts, first.store.lecture(first.lecture.session_id))
    await second.load()
    await second.finish()
    await second.stop()
    assert second.store.citations(first.lecture.session_id)


async def test_viewers_read_every_event_once_from_where_they_left_with_one_retrieval(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    lookups = []

    async def count(
        parts: Components, lecture: Lecture, text: str, *, keywords: str
    ) -> WindowLookup:
        lookups.append(text)
        return await look_up_for(parts, lecture, text, keywords=keywords)

    monkeypatch.setattr(live_session, "look_up_for", count)
    store = Lectures.of(engine.parts.catalogue)
    lecture = store.start(title="Bees", collections=["default"])
    session = LiveSession(engine.parts, lecture, early=False)

    async def view(after: int | None) -> list[int]:
        return [number async for number, _ in session.events.read(after)]

    early = [asyncio.create_task(view(None)) for _ in range(200)]
    await _run(session, spoken("Honey", "Wax"))
    numbers = (await asyncio.gather(*early))[0]
    assert all(task.result() == numbers for task in early)
    assert numbers == sorted(set(numbers))
    assert len(lookups) == len(session.progress.windows)
    assert await view(numbers[2]) == numbers[3:]


async def test_keywords_of_a_language_model_are_used_where_they_come_in_time(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    used: set[str] = set()

    async def note(
        parts: Components, lecture: Lecture, text: str, *, keywords: str
    ) -> WindowLookup:
        used.add(keywords)
        return await look_up_for(parts, lecture, text, keywords=keywords)

    monkeypatch.setattr(live_session, "look_up_for", note)
    monkeypatch.setattr(live_language_model, "MIN_WORDS", 5)
    reply = '{"wordings": [], "keywords": ["varroa brood"]}'
    for on, pause, expected in (
        (False, 0.0, {""}),
        (True, 0.0, {"", "varroa brood"}),
        (True, 60.0, {""}),  # not waited for
    ):
        used.clear()
        session = _session(engine)
        model = ScriptedGenerator(reply, pause_s=pause)
        chosen = {"live_keywords": on, "tokens_per_day": 1_000_000}
        settings = engine.parts.settings.model_copy(update=chosen)
        counted = DailyUsage.of(engine.parts.catalogue).tokens()
        session.parts = replace(engine.parts, generator=model, settings=settings)
        for segment in spoken("Queens", "Wax", "Dances"):
            for part, text in enumerate(segment.text.split(" and ", 1)):
                key = f"{segment.segment_id}-{part}"
                await session.push([replace(segment, segment_id=key, text=text)])
                await session.finish()
        await session.end()
        await session.stop()
        assert (used, bool(model.told)) == (expected, on)
        # Tokens of a call that the end of the session cancelled count too.
        assert (DailyUsage.of(engine.parts.catalogue).tokens() > counted) is on
    text = spoken("Honey")[0].text
    alone = await look_up_for(engine.parts, session.lecture, text)
    wider = await look_up_for(engine.parts, session.lecture, text, keywords=TOPICS["Mites"])
    assert wider.candidates != alone.candidates


async def test_documents_come_and_go_while_the_lecture_is_spoken(tmp_path: Path) -> None:
    async with open_tour(tmp_path / "home") as engine:
        session = _session(engine, collections=("bees",))
        for segment in spoken("Queens", "Wax"):  # the book is still being taken in
            await session.push([segment])
        await session.finish()
        key = session.lecture.session_id
        assert session.store.citations(key) == []
        book = write_book(tmp_path / "sources")
        steps = [step async for step in engine.add([book], collection="bees")]
        [document] = [step for step in steps if isinstance(step, Document)]
        for segment in spoken("Honey", "Mites", "Drones", start=100.0):
            await session.push([segment])
        await session.finish()
        cards = session.store.citations(key)
        assert {card.document_id for card in cards} == {document.document_id}
        await engine.remove([document.document_id], collection="bees")
        for segment in spoken("Winter", "Pollen", start=300.0):
            await session.push([segment])
        await session.end()
        await session.stop()
        assert len(session.store.segments(key)) == 7
        assert [card.id for card in session.store.citations(key)] == [card.id for card in cards]


async def test_single_documents_are_cited_and_those_that_are_gone_are_silent(
    engine: Engine, tmp_path: Path
) -> None:
    other = tmp_path / "sources" / "notes.md"
    parts = [f"## {title}\n\n{text} Again." for title, text in TOPICS.items()]
    other.write_text("# Notes\n\n" + "\n\n".join(parts), "utf-8")
    await add(engine, other)
    notes = next(each for each in await engine.documents() if each.title == "Notes")
    store = Lectures.of(engine.parts.catalogue)
    lecture = store.start(title="Bees", documents=[notes.document_id])
    assert store.lecture(lecture.session_id) == lecture
    session = LiveSession(engine.parts, lecture)
    for segment in spoken(*TITLES[:5]):
        await session.push([segment])
    await session.finish()
    cards = store.citations(lecture.session_id)
    assert {card.document_id for card in cards} == {notes.document_id}
    await engine.remove([notes.document_id])
    for segment in spoken(*TITLES[5:], start=300.0):
        await session.push([segment])
    await session.end()
    await session.stop()
    kept = [each.window_index for each in store.citations(lecture.session_id)]
    assert all(session.progress.windows[index].start < 300.0 for index in kept)
    assert len(store.segments(lecture.session_id)) == len(TITLES)


async def test_a_document_is_cited_beside_a_collection_with_the_best_of_both_first(
    engine: Engine, tmp_path: Path
) -> None:
    steps = [step async for step in engine.add([write_book(tmp_path / "more")], collection="more")]
    [book] = [step for step in steps if isinstance(step, Document)]
    store = Lectures.of(engine.parts.catalogue)
    assert store.homes([book.document_id, "none"]) == {book.document_id: "more"}
    lecture = store.start(title="Bees", collections=["default"], documents=[book.document_id])
    found = await look_up_for(engine.parts, lecture, spoken("Honey")[0].text)
    assert {each.document_id for each in found.candidates} > {book.document_id}
    assert {each.chunk_id for each in found.candidates} <= found.passages.keys()
    assert store.change(lecture.session_id, documents=[]).documents == ()
    # A collection that is gone, or empty, does not silence the other one.
    await engine.remove([book.document_id], collection="more")
    both = store.start(title="Bees", collections=["default", "more", "never made"])
    assert (await look_up_for(engine.parts, both, spoken("Honey")[0].text)).candidates


async def test_two_tabs_two_languages_and_the_future_lose_nothing(engine: Engine) -> None:
    session = _session(engine)
    french = "Les abeilles dansent pour montrer aux autres où se trouvent les fleurs. " * 3
    mixed = [
        *spoken("Queens", "Wax"),
        TranscriptSegment("later", 80_000.0, 80_010.0, "This comes in the evening.", language="en"),
        TranscriptSegment("fr", 30.0, 40.0, french, language="fr"),
        *spoken("Honey", "Mites", start=50.0),
    ]
    await asyncio.gather(*(session.push([segment]) for _ in range(2) for segment in mixed))
    await session.end()
    await session.stop()
    stored = session.store.segments(session.lecture.session_id)
    assert [each.segment_id for each in stored] == [
        each.segment_id for each in sorted(mixed, key=lambda each: each.place)
    ]
    said = " ".join(window.text for window in session.store.windows(session.lecture.session_id))
    assert all(each.text[:40] in said for each in mixed)
    assert session.store.citations(session.lecture.session_id)


async def test_a_session_whose_end_was_cancelled_can_be_ended_again(engine: Engine) -> None:
    slow = _session(engine)
    slow.parts = replace(engine.parts, embedder=SlowEmbedder(0.5))
    await slow.push(spoken("Queens", "Wax"))
    ending = asyncio.create_task(slow.end())
    await asyncio.sleep(0.05)
    ending.cancel()
    await asyncio.gather(ending, return_exceptions=True)
    assert ending.cancelled()
    await slow.end()
    await slow.stop()
    assert slow.store.lecture(slow.lecture.session_id).state == "ended"


async def test_windows_of_the_same_words_have_captions_with_their_own_numbers(
    engine: Engine,
) -> None:
    parts = replace(engine.parts, generator=ScriptedGenerator("Encore."))
    session = LiveSession(parts, _session(engine).lecture)
    said = spoken("Queens")[0]
    for at in range(4):
        again = replace(said, segment_id=f"s{at}", start=at * 30.0, end=at * 30.0 + 20)
        session.progress.add(again)
    session.progress.close()
    windows = session.progress.windows
    assert len(windows) > len({each.text for each in windows})
    captions = TranslatedCaptions()
    for each in windows:
        made = await captions.caption(parts, each, language="fr", opens=True)
        assert made.window_index == each.index
