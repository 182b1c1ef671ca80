"""Speakers of texts without times: minutes, interviews, plays."""

from __future__ import annotations

from pathlib import Path

import pytest

import quoth
from quoth.core.types import Chars, ParsedDocument
from quoth.ingest.readers.registry import read
from quoth.text.locators import label

MINUTES = """# Meeting of 3 March

Present: Ann Moore, KG, Josh Dean

## Tail calls

**KG:** I think that tail calls belong into the language, since two engines have them.

Nobody needs them more than those who write interpreters.

**Ann Moore (chair):** We should ask the engines first. Who has asked them so far?

**KG:** I asked them in January, and one of them is willing to build it this year.

**Ann Moore (chair):** Then we can come back to it in May with a written proposal, I suppose.

## Resolution

The proposal stays at stage one.

## Dates

**Josh Dean:** I would like to have the new calendar in the next release of the runtime.

**KG:** We cannot promise that before the tests of the old calendar are finished.

**Josh Dean:** My team writes the tests for it until the end of the month.
"""

FRENCH = """Compte rendu

Présents : M. Dupont, Mme Lefèvre, M. Roux

M. Dupont : Nous avons reçu les devis de trois entreprises pour le toit de la salle des fêtes.

Mme Lefèvre : Je préfère attendre la subvention de la région. Qui est pour cela ?

M. Dupont : Je comprends, mais la pluie entre déjà dans la bibliothèque depuis le mois de mai.

Mme Lefèvre : Nous pouvons louer une bâche, qui coûte deux cents euros pour tout l'hiver.

M. Dupont : Je propose donc de voter sur la location de la bâche dès ce soir.

Mme Lefèvre : Notre groupe votera pour, à condition que le devis soit revu au printemps.
"""

INTERVIEW = """Im Gespräch: Frau Weber und Herr Krause über das Moor

Weber: Ich bin hier geboren, und mein Vater hat den Torf noch mit der Hand gestochen. Stimmt das?

Krause: Das stimmt, ich habe ihm als Kind dabei geholfen, und es war eine harte Arbeit.

Weber: Was ist aus dem Moor geworden, nachdem die Fabrik in der Stadt geschlossen wurde?

Krause: Mein Bruder hat es gekauft und die Gräben geschlossen, damit das Wasser steigt.

Leserfrage: Ich wüsste gern, ob man dort heute spazieren gehen kann und wann.

Krause: Man kann es, und ich gehe jeden Sonntag mit dem Hund um den See.

Weber: Dann danke ich für das Gespräch und wünsche dem Moor noch viele Jahre.
"""

GUIDE = """# What to do when it does not start

Symptom: The lamp is dark although the plug stands in a socket that works.

Cause: The fuse in the base has blown, mostly after a storm or a short circuit.

Remedy: Open the base, take out the fuse and put in a new one of two amperes.

Symptom: The lamp flickers as soon as another machine is switched on in the room.

Cause: The cable is loose where it enters the base, or the bulb is an old one.

Remedy: Fasten the screw at the side with a coin until the cable does not move.
"""


def _read(folder: Path, text: str, *, name: str = "minutes.md") -> ParsedDocument:
    path = folder / name
    path.write_text(text, "utf-8")
    return read(path)


def _speakers(reading: ParsedDocument) -> dict[str, str | None]:
    return {
        reading.text[each.start : each.end].strip(): each.locator.speaker for each in reading.places
    }


def test_minutes_have_the_speaker_of_every_turn(tmp_path: Path) -> None:
    reading = _read(tmp_path, MINUTES)
    said = _speakers(reading)
    by = {text.split("\n")[0][:25]: speaker for text, speaker in said.items()}
    assert by["KG: I think that tail cal"] == "KG"
    assert by["Nobody needs them more th"] is None  # It may be narration.
    assert by["Ann Moore (chair): We sho"] == "Ann Moore"
    assert by["The proposal stays at sta"] is None
    assert by["Present: Ann Moore, KG, J"] is None
    place = next(each.locator for each in reading.places if each.locator.speaker == "KG")
    assert isinstance(place, Chars)
    assert label(place).endswith(" · KG")


@pytest.mark.parametrize("name", ["compte-rendu.txt", "compte-rendu.md", "compte-rendu.html"])
def test_french_minutes_have_speakers_in_every_format(tmp_path: Path, name: str) -> None:
    text = FRENCH
    if name.endswith(".html"):
        text = "".join(f"<p>{each}</p>" for each in FRENCH.split("\n\n"))
    speakers = set(_speakers(_read(tmp_path, text, name=name)).values())
    assert {"M. Dupont", "Mme Lefèvre"} <= speakers


def test_another_label_is_no_part_of_a_turn(tmp_path: Path) -> None:
    said = _speakers(_read(tmp_path, INTERVIEW, name="moor.txt"))
    by = {text.partition(":")[0]: speaker for text, speaker in said.items()}
    assert (by["Weber"], by["Krause"], by["Leserfrage"]) == ("Weber", "Krause", None)


def test_turns_of_one_paragraph_are_parted(tmp_path: Path) -> None:
    text = FRENCH.replace("\n\n", "\n").replace(" : ", f" : {'Il fait chaud ici. ' * 4}")
    said = _speakers(_read(tmp_path, text, name="compte-rendu.txt"))
    assert sum(speaker == "M. Dupont" for speaker in said.values()) == 3


FIELDS = {
    "recipes": ("Ingredients", "Method", "Variation"),
    "release notes": ("Added", "Changed", "Fixed"),
    "a diary": ("Monday", "Tuesday", "Wednesday"),
    "letters": ("London", "Paris", "Rome"),
}
GERMAN = """# Beweise

Annahme: Ich nehme an, dass die Annahme für jede Zahl gilt, die größer als eine andere ist.

Beweis: Mein Beweis folgt dem Beweis von Euklid, den ich im ersten Kapitel beschrieben habe.

"""


def _fields(names: tuple[str, ...]) -> str:
    lines = (
        f"{name}: I would use my own one here, since it lasted for all of the years ({at})."
        for at in range(4)
        for name in names
    )
    return "\n\n".join(lines)


@pytest.mark.parametrize(
    "text",
    [
        *(pytest.param(_fields(names), id=kind) for kind, names in FIELDS.items()),
        pytest.param(GERMAN * 4, id="German nouns"),
        pytest.param(GUIDE, id="the parts of a guide"),
        pytest.param(MINUTES.split("## Dates")[0].replace("I ", "They "), id="too few turns"),
        pytest.param("\n\n".join(f"Ann: {n}\n\nBob: no" for n in range(9)), id="lines of a form"),
    ],
)
def test_what_is_no_dialogue_has_no_speakers(tmp_path: Path, text: str) -> None:
    assert set(_speakers(_read(tmp_path, text)).values()) == {None}


def test_a_turn_ends_with_its_paragraph_where_no_other_one_follows(tmp_path: Path) -> None:
    end = "\nThe reporter left the hall at nine.\n"
    said = _speakers(_read(tmp_path, MINUTES + end))
    assert said["The reporter left the hall at nine."] is None
    table = "\n| Item | Votes |\n|---|---|\n| Calendar | 7 |\n\n"
    said = _speakers(
        _read(tmp_path, MINUTES.replace("**KG:** We cannot", f"{table}**KG:** We cannot"))
    )
    assert said["Item: Calendar | Votes: 7"] is None


def test_a_name_that_is_a_word_too_is_one_for_who_says_i(tmp_path: Path) -> None:
    text = MINUTES.replace("Josh Dean", "Rose").replace("interpreters", "interpreters of a rose")
    assert "Rose" in _speakers(_read(tmp_path, text)).values()


def test_the_labels_of_a_program_are_no_speakers(tmp_path: Path) -> None:
    text = "\n".join(f"# {line}" if line else "" for line in MINUTES.replace("**", "").split("\n"))
    assert set(_speakers(_read(tmp_path, f"x = 1\n{text}", name="notes.py")).values()) == {None}


def test_an_answer_names_who_says_it(tmp_path: Path) -> None:
    (tmp_path / "minutes.md").write_text(MINUTES, "utf-8")
    with quoth.open(tmp_path / "home") as library:
        library.add(tmp_path / "minutes.md")
        answer = library.ask("What does Josh Dean say about the calendar?")
        first = answer.citations[0]
        assert first.snippet.startswith("Josh Dean: ")
        assert label(first.locator).startswith("Meeting of 3 March ▸ Dates · Josh Dean")
