"""Questions about those that the audience asked."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import quoth

LECTURE = "The harbour of Hull has cranes of 1936, and {n} ships — große und kleine — use it a day."
CUES = [
    "Henrik Lund: Does a harbour need an introduction?",
    *(LECTURE.format(n=n) for n in range(30, 45)),
    "Mira Okafor: Thank you. Are there any questions from the audience?",
    "Audience: How deep is the harbour?",
    "Henrik Lund: It has a depth of eleven metres at the quay.",
    "Audience: Who owns the cranes?",
    "Henrik Lund: The town has owned the cranes since 1950.",
]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[quoth.Library]:
    folder = tmp_path_factory.mktemp("talk")
    cues = (
        f"{at}\n00:{at:02}:00,000 --> 00:{at:02}:50,000\n{text}\n" for at, text in enumerate(CUES)
    )
    (folder / "harbour.srt").write_text("\n".join(cues), "utf-8")
    with quoth.open(folder / "home") as library:
        library.add(folder / "harbour.srt")
        yield library


@pytest.mark.parametrize("question", ["What did the audience ask?", "What is asked in the Q&A?"])
def test_the_questions_of_the_audience_are_quoted_and_nothing_before(
    library: quoth.Library, question: str
) -> None:
    quoted = [each.snippet for each in library.ask(question).citations]
    assert "How deep is the harbour?" in quoted
    assert "Who owns the cranes?" in quoted
    assert not any("introduction" in each or "ships" in each for each in quoted)


def test_a_summary_of_the_questions_is_made_of_the_answers(library: quoth.Library) -> None:
    answer = library.ask("Summarize the Q&A.")
    assert "eleven metres" in answer.text
    assert "ships" not in answer.text


@pytest.mark.parametrize(
    ("question", "speakers"),
    [
        ("What does Henrik Lund say about the cranes?", ("Henrik Lund",)),
        ("What did Henrik Lund say?", ("Henrik Lund",)),
        ("What does the audience say about the cranes?", ()),
    ],
)
def test_a_speaker_of_captions_is_searched_and_a_role_is_not(
    library: quoth.Library, question: str, speakers: tuple[str, ...]
) -> None:
    answer = library.ask(question)
    named = [each.values for each in answer.query.filters if each.field == "speaker"]
    assert named == ([speakers] if speakers else [])
    if speakers:
        assert answer.status == "answered"
        assert {each.locator.speaker for each in answer.citations} == {*speakers}


def test_a_summary_goes_on_in_the_document_of_the_question_before(library: quoth.Library) -> None:
    first = library.ask("Summarize the document harbour")
    assert library.ask(
        "Summarize it", history=[quoth.Turn(first.query.original, first.text)]
    ).citations
