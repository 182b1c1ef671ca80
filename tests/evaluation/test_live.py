"""`quoth eval live` and `quoth eval stream`, on lectures and a book of the sample collection."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from quoth.core.errors import InputError
from quoth.core.settings import Settings
from quoth.evaluation.live import evaluate_live, load_windows
from quoth.evaluation.live_stream import evaluate_stream
from tests.support.cli import quoth

SAMPLE = Path(__file__).parents[2] / "examples" / "hf-course"
BOOK = SAMPLE / "books" / "course.fr.pdf"


def no_progress(_what: str, _at: int, _of: int) -> None:
    """Take no notice."""


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Settings of one library, to which the book is added once."""
    return Settings(home=tmp_path_factory.mktemp("lectures"), embedder="fake")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One lecture in two languages, two windows, and no book."""
    for language in ("en", "fr"):
        talk = next((SAMPLE / "talks" / language).glob("*.srt"))
        there = tmp_path / "set" / "srt" / language
        there.mkdir(parents=True)
        shutil.copy(talk, there / "00.srt")
    windows = [
        {"id": "w1", "lecture": "00", "lang": "fr", "kind": "on-book", "pdf_pages": {"fr": [2]}},
        {"id": "w2", "lecture": "00", "lang": "fr", "kind": "off-book", "source": "songs"},
        {"id": "w3", "lecture": "00", "lang": "en", "kind": "off-book"},
    ]
    rows = [json.dumps(each | {"text": "Un modèle de langue prédit le mot."}) for each in windows]
    (tmp_path / "set" / "windows.jsonl").write_text("\n".join(rows), "utf-8")
    return tmp_path / "set"


async def test_lectures_of_one_language_are_replayed(folder: Path, settings: Settings) -> None:
    found = await evaluate_stream(
        folder,
        book=BOOK,
        language="fr",
        book_language=None,
        settings=settings,
        progress=no_progress,
    )
    ((name, counted),) = found.lectures.items()
    assert name == "srt/fr/00"
    assert found.windows == counted["windows"] > 1
    assert found.cards == counted["cards"]
    assert len(found.waits_s) >= bool(found.cards)
    assert (found.merged, found.latency_ms["p50"] > 0) == (0, True)


def test_the_hits_of_windows_are_figures_of_their_own(folder: Path, settings: Settings) -> None:
    words = ("eval", "live", str(folder), "--book", str(BOOK), "--lang", "fr")
    said = quoth(settings.home, "--json", *words).json
    assert {"hit@1", "hit@3"} <= said.keys()
    assert said["hits"] == {name: said[name] for name in ("hit@1", "hit@3")}
    assert said["hit@1"] <= said["hit@3"] <= 1


async def test_windows_of_one_language_are_judged(folder: Path, settings: Settings) -> None:
    found = await evaluate_live(
        folder,
        book=BOOK,
        language="fr",
        book_language=None,
        settings=settings,
        progress=no_progress,
    )
    assert (found.windows, found.on_book, found.off_book) == (2, 1, 1)
    assert found.shown == round(found.coverage + 1 - found.silence)
    assert set(found.sources) == {"songs"}


def test_a_window_of_the_book_must_name_a_page_of_it(folder: Path) -> None:
    with pytest.raises(InputError, match="names no page of this book"):
        load_windows(folder, language="fr", book_language="en")
