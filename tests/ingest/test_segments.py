"""Questions and demonstrations in talks: found where they are, and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from quoth.core.types import (
    Chunk,
    Seconds,
    SpanLocator,
)
from quoth.ingest.chunker import chunk
from quoth.ingest.enrich.segments import segment_starts, segments_of
from quoth.ingest.readers.registry import read
from tests.support.tables import rows

DATA = Path(__file__).parents[2].parent / "shared" / "data"
LINE = "The model learns from many examples, and that takes a while."


def talk(*lines: str, speakers: Sequence[str] = (), seconds: float = 60.0) -> list[Chunk]:
    """A transcript with one chunk per line, each as long as `seconds`."""
    made, at = [], 0
    for n, line in enumerate(lines):
        voice = speakers[n] if n < len(speakers) else None
        place = Seconds(n * seconds, (n + 1) * seconds, speaker=voice)
        end = at + len(line)
        places = (SpanLocator(at, end, place),)
        made.append(Chunk(f"c{n}", "d", n, at, end, line, place, "transcript", places=places))
        at = end
    return made


def spans(chunks: Sequence[Chunk]) -> list[tuple[str, int, int]]:
    return [(each.segment, each.first, each.last) for each in segments_of(chunks)]


def late(cue: str, *after: str) -> list[Chunk]:
    """A talk of which the cue stands in the seventh of ten chunks."""
    rest = [*after, *[LINE] * (3 - len(after))]
    return talk(*[LINE] * 6, cue, *rest)


# --- questions --------------------------------------------------------------------------------


@pytest.mark.parametrize("cue", rows("ingest", "segments.questions_last_to_the_end_of_the_talk"))
def test_questions_last_to_the_end_of_the_talk(cue: str) -> None:
    assert spans(late(cue)) == [("qa", 6, 9)]


@pytest.mark.parametrize(
    ("language", "cue", "found"),
    [
        ("de", "Wir haben noch etwas Zeit für Fragen.", [("qa", 6, 9)]),
        ("de", "Kommen wir nun zu Ihren Fragen.", [("qa", 6, 9)]),
        ("de", "Am Ende kommen wir zu Ihren Fragen.", []),
        ("de", "Das ist eine Frage der Zeit.", []),
        ("de", "Ich zeige Ihnen jetzt eine kurze Demo.", [("demo", 6, 9)]),
        ("es", "Pasamos ahora a sus preguntas.", [("qa", 6, 9)]),
        ("es", "Nos queda tiempo para algunas preguntas.", [("qa", 6, 9)]),
        ("es", "Al final pasamos a sus preguntas.", []),
        ("es", "Vamos a ver una breve demo.", [("demo", 6, 9)]),
    ],
)
def test_cues_are_heard_in_the_language_of_the_talk(
    language: str, cue: str, found: list[tuple[str, int, int]]
) -> None:
    assert spans([replace(each, language=language) for each in late(cue)]) == found


@pytest.mark.parametrize(
    ("language", "title", "segment"),
    [
        ("de", "Fragen und Antworten", "qa"),
        ("de", "Live-Vorführung", "demo"),
        ("es", "Preguntas y respuestas", "qa"),
        ("es", "Demostración en directo", "demo"),
        ("en", "Demo — the new scanner", "demo"),
    ],
)
def test_headings_name_segments_in_every_language(language: str, title: str, segment: str) -> None:
    chunks = [replace(each, language=language, section=(title,)) for each in talk(LINE)]
    assert spans(chunks) == [(segment, 0, 0)]


def test_questions_are_heard_in_captions_without_full_stops() -> None:
    cues = ["it does not know", "what it has not seen", "so", "now let's take", "some questions"]
    at, places = 0, []
    for n, cue in enumerate(cues):
        places.append(SpanLocator(at, at + len(cue), Seconds(n, n + 1)))
        at += len(cue) + 1
    chunks = talk(*[LINE] * 6, " ".join(cues), LINE)
    begun = chunks[6].start
    moved = [replace(p, start=p.start + begun, end=p.end + begun) for p in places]
    chunks[6] = replace(chunks[6], places=tuple(moved))
    assert spans(chunks) == [("qa", 6, 7)]


@pytest.mark.parametrize(
    ("line", "speaker"),
    [
        ("Are there any questions from the audience?", None),
        ("Et voilà. Are there any questions from the audience?", None),
        ("How deep is the sea?", "Audience"),
        ("Now let me show you a demo.", None),
    ],
)
def test_a_segment_begins_at_the_caption_of_its_first_cue(line: str, speaker: str | None) -> None:
    before = "Der Straße   entlang fährt man… Tout   était déjà là.\n\n"
    lines = [*[before] * 9, line, *["\n\nIt is."] * 2]
    whole = "".join(lines)
    places, at = [], 0
    for n, each in enumerate(lines):
        voice = speaker if each == line else "Ada"
        places.append(SpanLocator(at, at + len(each), Seconds(n, n + 1.0, speaker=voice)))
        at += len(each)
    where = Seconds(0, len(lines))
    only = Chunk("c", "d", 0, 0, at, whole, where, "transcript", places=tuple(places))
    assert segment_starts([only]) == (whole.index(line),)


def test_no_segment_begins_below_a_heading_or_in_a_book() -> None:
    (one,) = talk("Are there any questions from the audience?")
    assert segment_starts([replace(one, kind="book")]) == ()
    assert segment_starts([replace(one, section=("Q&A",))]) == ()
    assert segment_starts([]) == ()


def test_an_early_session_counts_when_more_questions_follow() -> None:
    lines = [LINE, LINE, "So let's take some questions.", LINE, LINE, LINE, "Good question."]
    lines += [LINE, LINE, "Any other questions?", LINE]
    assert spans(talk(*lines)) == [("qa", 2, 10)]


@pytest.mark.parametrize("line", rows("ingest", "segments.what_only_speaks_of_questions"))
def test_what_only_speaks_of_questions(line: str) -> None:
    assert spans(late(line)) == []


def test_an_announcement_at_the_beginning_is_passed_over() -> None:
    lines = [
        "First my talk, then we have time for questions.",
        *[LINE] * 12,
        "Good question.",
        LINE,
    ]
    assert spans(talk(*lines)) == []


# --- demonstrations ---------------------------------------------------------------------------


@pytest.mark.parametrize("cue", rows("ingest", "segments.a_demonstration_ends_with_the_slides"))
def test_a_demonstration_ends_with_the_slides(cue: str) -> None:
    lines = [LINE, LINE, cue, LINE, "OK, back to the slides.", LINE]
    assert spans(talk(*lines)) == [("demo", 2, 4)]


def test_a_demonstration_ends_where_questions_begin() -> None:
    lines = [*[LINE] * 5, "Let me show you a demo.", LINE, "Let's take some questions.", LINE]
    assert spans(talk(*lines)) == [("demo", 5, 6), ("qa", 7, 8)]


@pytest.mark.parametrize(
    "line",
    [
        "I won't show you a demo today.",
        "We'll see a demo later.",
        "We demonstrated that it works.",
        "Democracy needs demos in the street.",
    ],
)
def test_what_only_speaks_of_demonstrations(line: str) -> None:
    assert spans(talk(LINE, line, LINE)) == []


# --- headings ---------------------------------------------------------------------------------


def titled(*titles: str) -> list[Chunk]:
    place = Seconds(0, 1)
    return [
        Chunk(f"c{n}", "d", n, n, n + 1, "x", place, "markdown", section=("Talk", title))
        for n, title in enumerate(titles)
    ]


@pytest.mark.parametrize(
    "title", ["Q&A", "Q & A", "Questions and answers", "4. Q&A session", "Questions du public"]
)
def test_a_heading_names_questions(title: str) -> None:
    assert spans(titled("Intro", title, title, "End")) == [("qa", 1, 2)]


# --- any talk ---------------------------------------------------------------------------------


def of_file(file: Path) -> list[Chunk]:
    return chunk(
        read(file),
        document_id="d",
        chunk_id=str,
        count_tokens=lambda texts: [len(text) // 4 for text in texts],
        language="en",
    )


def test_lectures_have_their_rounds_of_questions() -> None:
    file = DATA / "sicp-lectures" / "srt" / "lec3a.srt"
    if not file.exists():
        pytest.skip("the lectures are not here")
    chunks = of_file(file)
    rounds = segments_of(chunks)
    assert [each.segment for each in rounds] == ["qa"]
    assert "let's take questions" in chunks[rounds[0].first].text.casefold()
