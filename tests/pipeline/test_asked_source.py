"""Questions for the place of their answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import quoth

TALK = """1
00:00:01,000 --> 00:00:20,000
Good morning. This talk is about the harbour of Hull and about those who work there.

2
00:00:21,000 --> 00:00:40,000
The cranes of the harbour were built in 1936 by a company from Leeds. {cranes}

3
00:01:05,000 --> 00:01:20,000
The tides lift every ship by six metres twice a day, because the bay is narrow.

4
00:01:21,000 --> 00:01:40,000
The pilots live on the island and come with a small boat.
""".format(cranes="Each of them weighs nine tons and is painted in green every second summer. " * 6)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[quoth.Library]:
    folder = tmp_path_factory.mktemp("talk")
    (folder / "harbour.srt").write_text(TALK, "utf-8")
    with quoth.open(folder / "home") as library:
        library.add(folder / "harbour.srt")
        yield library


@pytest.mark.parametrize(
    "question",
    [
        "At what minute do the tides lift every ship?",
        "At which second does she speak about the tides?",
        "Where in the talk are the tides mentioned?",
        "At what time in the harbour recording do the tides lift a ship?",
    ],
)
def test_the_places_stand_above_what_is_quoted(library: quoth.Library, question: str) -> None:
    answer = library.ask(question)
    assert answer.status == "answered"
    assert answer.text.startswith("1. harbour · 1:05–1:20\n")
    first = answer.sentences[0]
    assert answer.text[first.start : first.end].startswith("The tides lift every ship")


@pytest.mark.parametrize(
    "question",
    [
        "When were the cranes built?",
        "How often do the tides lift every ship?",
        "At what time of day do the tides lift every ship?",
        "Which second crane was built in 1936?",
    ],
)
def test_other_questions_have_their_quotations_alone(library: quoth.Library, question: str) -> None:
    assert not library.ask(question).text.startswith("1. ")


def test_what_others_say_between_is_not_quoted_as_of_the_person_asked_about(tmp_path: Path) -> None:
    said = [
        ("Kenji Ito", "A night train emits few emissions, far fewer than any plane does."),
        ("Jules Marchetti", "The track access charge in France is our greatest cost."),
        ("Kenji Ito", "The greatest emissions are those of the empty southbound train."),
    ]
    cues = (
        f"00:00:{at}0.000 --> 00:00:{at}9.000\n<v {name}>{text}\n"
        for at, (name, text) in enumerate(said)
    )
    (tmp_path / "panel.vtt").write_text("WEBVTT\n\n" + "\n".join(cues), "utf-8")
    with quoth.open(tmp_path / "home") as library:
        library.add(tmp_path / "panel.vtt")
        answer = library.ask("What does Kenji Ito say about emissions?")
    assert {each.snippet for each in answer.citations} == {said[0][1], said[2][1]}
