"""Filters on a speaker: alone, among others, and in no recording."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import quoth
from quoth.core.types import Candidate, Filter, Seconds, Variant
from quoth.retrieval.search import said_by, within_speakers
from quoth.text.locators import SEVERAL, speaker_filters
from tests.support.passages import passage


def test_passages_with_several_speakers_are_searched_beside_those_of_one() -> None:
    kind, asked = Filter("kind", "in", ("transcript",)), Filter("speaker", "in", ("Ada", "Eve"))
    assert speaker_filters((asked, kind)) == (asked,)
    alone, among = within_speakers([Variant("zinc")], (asked,), authors={})
    assert (alone.name, alone.filters) == ("", (asked,))
    assert (among.name, among.filters) == (
        "several speakers",
        (Filter("speaker", "in", (SEVERAL,)),),
    )


async def test_only_passages_in_which_the_speaker_speaks_stay() -> None:
    (chunk,) = passage("Tin.\nZinc.", cues=True).chunks
    names = (("Ada", "Eve"), ("Bob", None), ("Eve", "Eve"))
    chunks = {
        f"c{number}": replace(
            chunk,
            places=tuple(
                replace(place, locator=Seconds(0, 1, name))
                for place, name in zip(chunk.places, pair, strict=True)
            ),
        )
        for number, pair in enumerate(names)
    }
    found = [Candidate(f"c{number}", 1.0, "rrf") for number in range(4)]
    kept = await said_by(
        found, [Filter("speaker", "in", ("Eve",))], authors={}, fetch=lambda _: chunks
    )
    assert [each.chunk_id for each in kept] == ["c0", "c2"]
    both = [Filter("speaker", "in", (name,)) for name in ("Ada", "Eve")]
    assert [
        each.chunk_id for each in await said_by(found, both, authors={}, fetch=lambda _: chunks)
    ] == ["c0"]


PANEL = """WEBVTT

00:01.000 --> 00:04.000
<v Eve Li>Zinc melts at 420 degrees, as we all know.

00:05.000 --> 00:09.000
<v Ada Berg>Zinc protects a roof from rust for forty years.

00:10.000 --> 00:14.000
<v Eve Li>Forty years of zinc are a long time.
"""


def test_who_is_asked_for_is_found_among_others(tmp_path: Path) -> None:
    (tmp_path / "panel.vtt").write_text(PANEL)
    alone = "1\n00:00:01,000 --> 00:00:04,000\nTin is soft and white as snow.\n"
    (tmp_path / "tin.srt").write_text(alone)
    with quoth.open(tmp_path / "home", embedder="fake") as library:
        library.add(tmp_path / "panel.vtt")
        library.add(tmp_path / "tin.srt", speaker="Ada Berg")
        asked = library.ask("What did Ada Berg say about zinc?")
        filtered = library.ask("What of zinc and a roof?", filters={"speaker": "Ada Berg"})
        timed = library.ask("What?", filters={"speaker": "Ada Berg", "time": "0:06"})
    assert timed.citations[0].snippet.startswith("Zinc protects a roof")
    for answer in (asked, filtered):
        (cited,) = answer.citations
        assert cited.snippet == "Zinc protects a roof from rust for forty years."
        assert isinstance(cited.locator, Seconds)
        assert (cited.locator.speaker, cited.locator.start) == ("Ada Berg", 5.0)


def test_what_an_author_wrote_is_found_beside_what_is_said(tmp_path: Path) -> None:
    (tmp_path / "panel.vtt").write_text(PANEL)
    for name, author in (("roofs", "Ada Berg"), ("pipes", "Noor Vos")):
        text = f"---\nauthor: {author}\n---\n# On {name}\n\nZinc keeps {name} from rust.\n"
        (tmp_path / f"{name}.md").write_text(text)
    with quoth.open(tmp_path / "home", embedder="fake") as library:
        library.add(tmp_path)
        hits = library.search("What of zinc and rust?", filters={"speaker": "Ada Berg"})
        asked = library.ask("What does Noor Vos say about zinc and rust?")
        there = library.ask("What?", filters={"speaker": "Ada Berg", "section": "On roofs"})
    assert {hit.document for hit in hits} == {"On roofs", "panel"}
    assert asked.text == "Zinc keeps pipes from rust. [1]"
    assert not any("Nothing was found" in warning for warning in asked.warnings)
    assert there.citations[0].snippet == "On roofs\n\nZinc keeps roofs from rust."


def test_recordings_without_speakers_hide_no_speaker(tmp_path: Path) -> None:
    cues = (f"00:{at // 60:02}:{at % 60:02}.000 --> 00:{at // 60:02}:{at % 60:02}.900\n"
            f"Zinc protects a roof from rust, part {at}.\n" for at in range(600))  # fmt: skip
    (tmp_path / "long.vtt").write_text("WEBVTT\n\n" + "\n".join(cues))
    (tmp_path / "panel.vtt").write_text(PANEL)
    choices = {"candidates_per_leg": 5}
    with quoth.open(tmp_path / "home", embedder="fake", chunk_tokens=32) as library:
        library.add(tmp_path)
        asked = "What of zinc and a roof?"
        hits = library.search(asked, filters={"speaker": "Ada Berg"}, **choices)
    assert {hit.document for hit in hits} == {"panel"}
