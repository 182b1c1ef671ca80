"""The state of a lecture does not depend on the order in which segments and results arrive."""

from __future__ import annotations

import random
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from quoth.core.lecture import TranscriptSegment
from quoth.live.cards import CardRules, PageCandidate
from quoth.live.session import LectureProgress

RULES = CardRules(show_from=0.5)
SENTENCE = "We now look at page {} of the book and at what stands on it about evaluation there."


def _segments(pages: list[int]) -> list[TranscriptSegment]:
    return [
        TranscriptSegment(f"s{at:03}", at * 6.0, at * 6.0 + 5, SENTENCE.format(page))
        for at, page in enumerate(pages)
    ]


def _found(text: str) -> tuple[PageCandidate, ...]:
    """Every page that a text names, the more often the more probable."""
    words = text.split()
    pages = sorted({word for before, word in pairwise(words) if before == "page"})
    return tuple(
        PageCandidate(f"c{page}", "book", page, min(0.99, 0.4 + 0.3 * words.count(page)))
        for page in pages
    )


def _run(arriving: list[TranscriptSegment], shuffle: random.Random | None = None) -> object:
    lecture = LectureProgress()
    waiting: list[str] = []
    for segment in arriving:
        change = lecture.add(segment)
        waiting += [window.query for window in change.windows]
        while waiting and (shuffle is None or shuffle.random() < 0.5):
            query = waiting.pop(0 if shuffle is None else shuffle.randrange(len(waiting)))
            lecture.resolve(query, _found(query), rules=RULES)
    for query in (*waiting, *(window.query for window in lecture.close().windows)):
        lecture.resolve(query, _found(query), rules=RULES)
    cards = [[card.page for card in choice.cards] for choice in lecture.choices]
    return [window.text for window in lecture.windows], cards


@given(st.lists(st.integers(1, 5), min_size=1, max_size=30), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_permuted_and_doubled_segments_give_the_same_transcript_and_cards(
    pages: list[int], shuffle: random.Random
) -> None:
    segments = _segments(pages)
    arriving = [*segments, *segments[::2]]
    shuffle.shuffle(arriving)
    assert _run(arriving, shuffle) == _run(segments)


def test_two_hundred_segments_in_any_order() -> None:
    rng = random.Random(3)
    segments = _segments([rng.randint(1, 9) for _ in range(200)])
    arriving = [*segments, *segments[:50]]
    rng.shuffle(arriving)
    texts, cards = _run(segments)  # type: ignore[misc]
    assert len(texts) > 50
    assert sum(map(bool, cards)) > 10
    assert _run(arriving, rng) == (texts, cards)


def test_interim_segments_make_no_window_and_the_final_counts_once() -> None:
    lecture = LectureProgress()
    interim = TranscriptSegment("a", 0, 5, " ".join(["Word."] * 40), final=False)
    assert lecture.add(interim).windows == ()
    final = TranscriptSegment("a", 0, 5, " ".join(["Word."] * 40))
    assert len(lecture.add(final).windows) == 1
    assert not lecture.add(final).accepted
    assert not lecture.add(interim).accepted


def test_a_final_segment_without_words_can_be_revised() -> None:
    lecture = LectureProgress()
    for revision, text in enumerate(("", "", SENTENCE.format(1), "")):
        segment = TranscriptSegment("s1", 0.0, 5.0, text, revision=revision)
        assert lecture.add(segment).accepted
    assert lecture.finals == []


def test_a_revision_reopens_no_window_and_is_named() -> None:
    lecture = LectureProgress()
    segments = _segments([1, 2, 3, 4])
    for segment in segments:
        lecture.add(segment)
    before = list(lecture.windows)
    change = lecture.add(TranscriptSegment("s000", 0, 5, "No page at all here.", revision=1))
    assert lecture.windows == before
    assert [window.index for window in change.revised] == [0]
    assert "No page at all" in lecture.revised_query(before[0])
    assert lecture.add(TranscriptSegment("s000", 0, 5, "older", revision=0)).accepted is False
