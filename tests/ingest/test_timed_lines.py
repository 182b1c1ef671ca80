"""Transcripts in plain text with a time to each turn."""

from __future__ import annotations

from pathlib import Path

import pytest

from quoth.core.types import Seconds
from quoth.ingest.readers.registry import read

TURNS = """\
Genetics seminar

[00:00:05] Prof. Martin: Welcome to all of you.
[00:00:12] Dr Whitfield: Thank you. I speak about peas.
and about colours.
[00:12:33] Prof. Martin: How many plants were there?
"""
NAMES = """\
Ada Lovelace   0:03
Good morning, we begin.

Charles Babbage   0:11
The engine is ready.

Ada Lovelace   1:04:30
Then that was all for today.
"""
BOLD = """\
# Débat

**[00:00:05] Prof. Martin:** Who agrees?

**Emre Çelik** [00:00:09]: I do not agree at all.

[00:01:10] **Prof. Martin:** Then we stop here.
"""
PASTED = "0:00\nhello everyone and welcome\n0:04\ntoday we speak about bees\n1:02\nthat was all\n"


def test_another_speaker_may_begin_a_line_without_a_time(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(
        "[0:12] Chair: Good morning to all.\nMs Ada Hill: The budget is 40 euros.\n"
        "[5:00] Chair: Then we go on.\n[9:00] Chair: That was all for today.\n",
        encoding="utf-8",
    )
    reading = read(path)
    said = {
        reading.text[each.start : each.end]: each.locator.speaker
        for each in reading.places
        if isinstance(each.locator, Seconds)
    }
    assert said["Good morning to all."] == "Chair"
    assert said["The budget is 40 euros."] == "Ms Ada Hill"


def test_a_speaker_without_a_name_may_have_a_number(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(
        "Speaker 1  0:03\nGood morning to all.\n\nUnknown Speaker  0:12\nWho goes first now?\n\n"
        "Speaker 1  1:02:10\nThat was all for today.\n"
    )
    reading = read(path)
    assert reading.text == "Good morning to all.\n\nWho goes first now?\n\nThat was all for today."
    names = [each.locator.speaker for each in reading.places if isinstance(each.locator, Seconds)]
    assert names == ["Speaker 1", "Unknown Speaker", "Speaker 1"]


def test_the_speaker_may_stand_alone_beside_the_time(tmp_path: Path) -> None:
    text = NAMES
    for name, clock in (("Ada Lovelace", "0:03"), ("Charles Babbage", "0:11")):
        text = text.replace(f"{name}   {clock}", f"{clock} {name}")
    path = tmp_path / "a.txt"
    path.write_text(text.replace("Ada Lovelace   1:04:30", "1:04:30 Ada Lovelace"), "utf-8")
    (first, *_) = read(path).places
    assert isinstance(first.locator, Seconds)
    assert (first.locator.start, first.locator.speaker) == (3, "Ada Lovelace")


@pytest.mark.parametrize(
    "form",
    ["[00:{0}] {1}: {2}", "{1} (0:{0}): {2}", "{1} (0:{0})\n{2}\n", "[00:{0} - 00:59:59] {1}: {2}"],
)
def test_a_part_of_a_recording_may_begin_at_any_time(tmp_path: Path, form: str) -> None:
    turns = [
        ("12:05", "Ann", "Welcome back. We look at the budget of the harbour in detail."),
        ("12:10", "Bob", "The dredging costs four million euros, more than was planned."),
        ("12:15", "Ann", "Why is that so much more? We had an offer of three million."),
    ]
    path = tmp_path / "a.txt"
    path.write_text("\n".join(form.format(*turn) for turn in turns), encoding="utf-8")
    reading = read(path)
    found = [
        (each.locator.start, each.locator.speaker, reading.text[each.start : each.end])
        for each in reading.places
        if isinstance(each.locator, Seconds)
    ]
    seconds = (725, 730, 735)
    assert found == [(at, who, said) for at, (_, who, said) in zip(seconds, turns, strict=True)]


@pytest.mark.parametrize(
    ("text", "name", "title", "said"),
    [
        (
            TURNS,
            "a.txt",
            "Genetics seminar",
            [
                (5, "Prof. Martin", "Welcome to all of you."),
                (12, "Dr Whitfield", "Thank you. I speak about peas. and about colours."),
                (753, "Prof. Martin", "How many plants were there?"),
            ],
        ),
        (
            NAMES,
            "b.md",
            "b",
            [
                (3, "Ada Lovelace", "Good morning, we begin."),
                (11, "Charles Babbage", "The engine is ready."),
                (3870, "Ada Lovelace", "Then that was all for today."),
            ],
        ),
        (
            BOLD,
            "d.md",
            "Débat",
            [
                (5, "Prof. Martin", "Who agrees?"),
                (9, "Emre Çelik", "I do not agree at all."),
                (70, "Prof. Martin", "Then we stop here."),
            ],
        ),
        (
            PASTED,
            "c.txt",
            "c",
            [
                (0, None, "hello everyone and welcome"),
                (4, None, "today we speak about bees"),
                (62, None, "that was all"),
            ],
        ),
    ],
)
def test_each_turn_has_its_second_and_speaker(
    tmp_path: Path, text: str, name: str, title: str, said: list[tuple[float, str | None, str]]
) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    reading = read(path)
    assert (reading.kind, reading.title, reading.warnings) == ("transcript", title, ())
    found = []
    for place in reading.places:
        assert isinstance(place.locator, Seconds)
        words = reading.text[place.start : place.end]
        found.append((place.locator.start, place.locator.speaker, words))
    assert found == said
    assert reading.seconds is not None
    assert said[-1][0] < reading.seconds < said[-1][0] + 5


@pytest.mark.parametrize(
    "text",
    [
        "09:00 Registration and coffee\n09:30 The first talk of the day\n10:00 A break for all\n",
        "09:00 Ann Lee: The first talk of it\n09:30 Bob: A second talk\n10:00 Ann Lee: The end\n",
        "3:45 Smith\n3:47 Jones\n3:52 Lee\n",
        "1:01 In the beginning was the word.\n1:02 It was there.\n1:03 And it was good.\n",
        "At 0:30 the van began to move.\n\nAt 1:10 it stood.\n\nAt 2:45 the van burned.\n",
        "00:00:01 server started\n00:00:05 a request from one\n00:03:11 a request again\n",
        "[0:30] The first of them.\n[1:10] x = 2**3**2\n[2:00] No more of it.\n\n## End\n\nDone.\n",
        "Prep time 0:15\nCook time 0:45\nTotal time 1:00\n\nMix the flour with two eggs.\n",
        "[0:10] One two three.\n[0:05] Four five six.\n[0:20] Seven eight nine.\n",
        "Ann Lee (14:02): Has anyone looked at the invoice of the harbour?\n"
        "Bob Ray (14:07): Yes, it was paid on Monday, I think.\n"
        "Ann Lee (14:15): Thank you, then I shall close it.\n",
        "[12:05] Ann: Are you coming to the harbour tonight?\n"
        "[12:09] Bob: Yes, I am leaving in ten minutes or so.\n"
        "[12:21] Ann: Good, we have kept a chair for you.\n",
        "[14:02:11] Ann: Does the new build work for anyone here?\n"
        "[14:02:19] Bob: It does, but the tests take twice as long as before.\n"
        "[14:02:27] Ann: That is because of the cache, I shall have a look.\n",
        "[00:02:11] Ann: Does the new build work for anyone here?\n"
        "[00:02:29] Bob: It does, but the tests take twice as long as before.\n"
        "[00:02:47] Ann: That is because of the cache, I shall have a look.\n",
        "14:02 Ann: The chair opens the meeting and reads the agenda.\n"
        "14:05 Bob: The budget of the harbour is put to the vote.\n"
        "14:20 Ann: The chair closes the meeting and thanks all.\n",
        "We met at 0:10\n" + "and then we went on.\n" * 40 + "until 0:20\nor was it 0:30\n",
    ],
    ids=[
        "programme",
        "talks",
        "results",
        "verses",
        "report",
        "log",
        "notes",
        "recipe",
        "disorder",
        "Slack",
        "WhatsApp",
        "IRC",
        "IRC after midnight",
        "minutes",
        "prose",
    ],
)
def test_other_texts_with_times_are_no_transcripts(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.txt"
    path.write_text(text, encoding="utf-8")
    assert read(path).kind == "text"
