"""Windows of a lecture: examples by hand, and properties for any stream of segments."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.core.errors import InputError
from quoth.core.lecture import TranscriptSegment
from quoth.live.segments import clean_segment, newer
from quoth.live.windows import (
    MAX_CARRIED,
    MAX_WORDS,
    MIN_WORDS,
    QUERY_WORDS,
    LectureWindow,
    cut_windows,
    ends_sentence,
    pieces_of,
)

WORDS = ["list", "so", "donc", "the", "Dr.", "e.g.", "3.5", "wait...", "proof", "ends.", "Why?"]


@st.composite
def lectures(draw: st.DrawFn) -> list[TranscriptSegment]:
    """Segments with pauses, with and without punctuation, of one word to very many."""
    made, at = [], 0.0
    for number in range(draw(st.integers(1, 25))):
        size = draw(st.sampled_from([1, 3, 9, 20, 200]))
        text = " ".join(draw(st.lists(st.sampled_from(WORDS), min_size=size, max_size=size)))
        at += draw(st.sampled_from([0.0, 0.4, 2.5]))
        made.append(TranscriptSegment(f"s{number}", at, at + size / 2.5, text))
        at = made[-1].end
    return made


def _fresh(windows: list[LectureWindow]) -> list[str]:
    return " ".join(p.text for window in windows for p in window.pieces[window.carried :]).split()


@given(lectures())
def test_windows_cover_the_lecture_repeat_the_last_sentence_and_keep_their_bounds(
    segments: list[TranscriptSegment],
) -> None:
    windows, rest = cut_windows(segments, closed=True)
    assert _fresh(windows) == " ".join(segment.text for segment in segments).split()
    assert [window.index for window in windows] == list(range(len(windows)))
    assert len(rest) == windows[-1].carried or len(rest) <= len(windows[-1].pieces)
    for before, after in pairwise(windows):
        carried = after.pieces[: after.carried]
        assert carried == before.pieces[len(before.pieces) - after.carried :]
        assert sum(piece.words for piece in carried) <= MAX_CARRIED
        assert len(before.text.split()) >= MIN_WORDS
    assert all(len(window.text.split()) <= MAX_WORDS for window in windows)


@given(lectures(), st.randoms(use_true_random=False))
def test_order_of_arrival_and_repetition_do_not_matter(
    segments: list[TranscriptSegment], shuffle: random.Random
) -> None:
    arriving = [*segments, *segments[::3]]
    shuffle.shuffle(arriving)
    known: dict[str, TranscriptSegment] = {}
    for segment in arriving:
        if newer(segment, known):
            known[segment.segment_id] = segment
    assert cut_windows(sorted(known.values(), key=lambda each: each.place)) == cut_windows(segments)


@given(lectures(), st.integers(0, 24))
def test_windows_continue_behind_one_that_is_complete(
    segments: list[TranscriptSegment], cut: int
) -> None:
    first, _ = cut_windows(segments[:cut])
    if first:
        rest, _ = cut_windows(segments, after=first[-1])
        assert [*first, *rest] == cut_windows(segments)[0]


def test_a_window_ends_with_its_second_sentence_of_thirty_words() -> None:
    one = "The fundamental theorem of calculus links the derivative and the integral of a function."
    two = "It says, roughly, that each of them undoes the other for continuous functions."
    three = "You will find the proof by Dr. Newton in the book, on p. 142, with 3.5 exercises."
    segments = [TranscriptSegment("a", 0, 20, f"{one} {two} {three}")]
    windows, rest = cut_windows(segments)
    assert [window.text for window in windows] == [f"{one} {two} {three}"]
    assert [piece.text for piece in rest] == [three]
    segments += [TranscriptSegment("b", 30, 40, "Now we draw the two curves on the board.")]
    *_, last = cut_windows(segments, closed=True)[0]
    # It begins with the sentence that it repeats, and with the second of what is new.
    assert last.text.startswith(three)
    assert last.start == 30


def test_without_punctuation_pauses_openings_and_length_end_windows() -> None:
    words = "we take the list and walk down its spine until nothing is left".split()
    segments = []
    for number in range(12):
        start = number * 5.0 + (3.0 if number > 4 else 0.0)
        opening = "so " if number == 9 else ""
        segments.append(
            TranscriptSegment(f"s{number}", start, start + 5, opening + " ".join(words))
        )
    windows, _ = cut_windows(segments)
    ends = [window.segment_ids[-1] for window in windows]
    assert "s4" in ends  # the pause
    assert "s8" in ends  # before "so"
    assert all(len(window.text.split()) <= MAX_WORDS for window in windows)


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("and that is all.", True),
        ("is that so?", True),
        ("as shown by Dr.", False),
        ("voir le livre de M.", False),
        ("on p.", False),
        ("it costs 3.", False),
        ("well...", False),
        ("for example, e.g.", False),
        ("the theorem of Prof.", False),
        ("c'est fini !", True),
        ("and so on, etc.", False),
        ("I said no", False),
    ],
)
def test_the_end_of_a_sentence_is_known_without_what_follows(text: str, ends: bool) -> None:
    assert ends_sentence(text) is ends


def test_noise_is_no_text_and_a_label_is_the_speaker() -> None:
    noise = clean_segment(TranscriptSegment("a", 0, 1, "[MUSIC PLAYING] (laughs)"))
    assert (noise.text, pieces_of(noise)) == ("", [])
    labelled = clean_segment(TranscriptSegment("a", 0, 1, "PROFESSOR:  Hello\nthere."))
    assert (labelled.speaker, labelled.text) == ("Professor", "Hello there.")


@pytest.mark.parametrize(
    "segment",
    [
        TranscriptSegment("a", -1, 2, "x"),
        TranscriptSegment("a", 5, 2, "x"),
        TranscriptSegment("a", 0, float("nan"), "x"),
        TranscriptSegment("a", 1e9, 1e9, "x"),
        TranscriptSegment("a", 0, 1, "x" * 100_001),
    ],
)
def test_impossible_segments_are_refused(segment: TranscriptSegment) -> None:
    with pytest.raises(InputError):
        clean_segment(segment)


def test_ten_thousand_words_at_once_are_windows_of_the_usual_size() -> None:
    windows, _ = cut_windows([TranscriptSegment("a", 0, 4000, "word " * 10_000)], closed=True)
    assert len(windows) > 60
    assert all(len(window.text.split()) <= MAX_WORDS for window in windows)


LECTURE = Path(__file__).parents[3] / "shared/data/sicp-lectures/srt/lec1a.srt"


@pytest.mark.skipif(not LECTURE.is_file(), reason="the lectures are not here")
def test_a_real_lecture_makes_windows_of_two_or_three_sentences() -> None:
    from quoth.ingest.readers.cue_parsers import read_lines

    cues = read_lines(LECTURE.read_text("utf-8").replace("\r", ""), vtt=False)
    segments = [
        clean_segment(TranscriptSegment(f"{at:05}", cue.start, cue.end, cue.text))
        for at, cue in enumerate(cues)
    ]
    windows, _ = cut_windows(segments, closed=True)
    sizes = [len(window.text.split()) for window in windows]
    assert 80 < len(windows) < 400
    assert max(sizes) <= MAX_WORDS
    assert sorted(sizes)[len(sizes) // 2] >= 45


def test_a_short_window_is_looked_up_with_the_words_before_it() -> None:
    segments = [
        TranscriptSegment(f"s{at:02}", at * 5.0, at * 5.0 + 5, f"{'word ' * 19}{at}.")
        for at in range(12)
    ]
    windows, _open = cut_windows(segments)
    words = " ".join(segment.text for segment in segments).split()
    for window in windows:
        query = window.query.split()
        end = words.index(window.text.split()[-1]) + 1
        assert query == words[max(0, end - len(query)) : end]
        assert len(query) == min(end, max(QUERY_WORDS, len(window.text.split())))


@pytest.mark.parametrize(
    ("language", "opening"), [("en", "so"), ("fr", "voilà"), ("de", "zunächst"), ("es", "ahora")]
)
def test_a_word_that_begins_what_comes_next_opens_a_window(language: str, opening: str) -> None:
    said = [" ".join(["wax"] * 46), f"{opening} we go on"]
    lecture = [
        TranscriptSegment(str(at), at * 9.0, at * 9.0 + 9.0, text, language=language)
        for at, text in enumerate(said)
    ]
    made, _open = cut_windows(lecture)
    assert [each.text for each in made] == said[:1]
    assert not cut_windows([lecture[0], replace(lecture[1], text="wax we go on")])[0]
