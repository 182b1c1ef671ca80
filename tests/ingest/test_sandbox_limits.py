"""What a document says of itself cannot outgrow its text."""

from __future__ import annotations

from pathlib import Path

import pytest

from quoth.core.types import Chars, Seconds
from quoth.ingest.readers.registry import read
from quoth.ingest.sandbox.limits import MAX_ANCHOR_LENGTH, MAX_NAME_LENGTH, MAX_TITLE_LENGTH

LONG = "word " * 20_000
FILES = {
    "page.html": f"<title>{LONG}</title><h1 id='{'x' * 5000}'>{LONG}</h1><p>Honey.</p>",
    "page.md": f"# {LONG}\n\n## {LONG}\n\nHoney.\n",
    "talk.vtt": f"WEBVTT\n\n00:01.000 --> 00:09.000\n<v {LONG}>Honey.\n",
    "notes.txt": f"---\ntitle: {LONG}\nspeaker: {LONG}\n---\nHoney.\n",
}


@pytest.mark.parametrize("name", FILES)
def test_titles_headings_and_names_are_cut(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_text(FILES[name])
    found = read(file)
    assert len(found.title) <= MAX_TITLE_LENGTH
    assert len(found.speaker or "") <= MAX_NAME_LENGTH
    assert "Honey." in found.text
    for section in found.sections:
        assert all(len(part) <= MAX_TITLE_LENGTH for part in section.path)
        assert len(section.anchor or "") <= MAX_ANCHOR_LENGTH
    for place in found.places:
        assert len(place.locator.section or "") <= 3 * MAX_TITLE_LENGTH
        if isinstance(place.locator, Seconds):
            assert len(place.locator.speaker or "") <= MAX_NAME_LENGTH
        if isinstance(place.locator, Chars):
            assert len(place.locator.anchor or "") <= MAX_ANCHOR_LENGTH


def test_the_text_itself_stays_whole(tmp_path: Path) -> None:
    file = tmp_path / "page.md"
    file.write_text(FILES["page.md"])
    assert read(file).text.count("word") == 40_000
