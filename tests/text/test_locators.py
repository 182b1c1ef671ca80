"""Places are merged, named and linked to."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import pytest

from quoth.core.types import (
    Box,
    Chars,
    Filter,
    Locator,
    Pages,
    Seconds,
    SpanLocator,
    Unit,
)
from quoth.text.links import TEXT_MARK, find_fragment, link, text_fragment
from quoth.text.locators import clip, filters_from_moment, label, locate
from tests.support.passages import document_at

TALK = (
    SpanLocator(0, 10, Seconds(1.0, 3.0, "Ann")),
    SpanLocator(11, 31, Seconds(3.0, 13.0, "Ann")),
    SpanLocator(32, 40, Seconds(13.0, 15.0, "Bo")),
    SpanLocator(41, 61, Seconds(100.0, 400.0, "Bo")),
)
BOOK = (
    SpanLocator(0, 10, Pages(16, 16, "14", "14", "2.4", (Box(16, 50.0, 700.0, 150.0, 710.0),))),
    SpanLocator(10, 20, Pages(16, 16, "14", "14", "2.4", (Box(16, 151.0, 700.0, 250.0, 710.0),))),
    SpanLocator(
        21, 30, Pages(17, 17, "15", "15", "2.5", (Box(17, 50.0, 700.0, 150.0, 710.0),)), "-"
    ),
)
ROW = Chars(0, 1, unit="row", label_first="3", label_last="3")
FILE = "/talks/Été 1.srt"
VIDEO = "https://www.youtube.com/watch?v=00GKzGyWFEs"


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (0, 10, Seconds(1.0, 3.0, "Ann")),
        (2, 5, Seconds(1.0, 3.0, "Ann")),
        (5, 20, Seconds(1.0, 7.5, "Ann")),
        (16, 21, Seconds(5.5, 8.0, "Ann")),
        (12, 14, Seconds(3.5, 4.5, "Ann")),
        (16, 40, Seconds(5.5, 15.0, None)),
        (45, 50, Seconds(100.0, 400.0, "Bo")),
        (10, 11, Seconds(1.0, 3.0, "Ann")),
    ],
)
def test_seconds(start: int, end: int, expected: Seconds) -> None:
    assert locate(TALK, start, end) == expected


@pytest.mark.parametrize(("unit", "last"), [("line", "9"), ("cell", "9"), ("row", "2")])
def test_lines_count_through_the_sections_of_a_file_and_rows_anew_in_each_sheet(
    unit: Unit, last: str
) -> None:
    places = [
        SpanLocator(0, 5, Chars(0, 5, "Bees", None, "chars", unit, "2", "2")),
        SpanLocator(5, 9, Chars(5, 9, "Bees ▸ Honey", None, "chars", unit, "9", "9")),
    ]
    found = locate(places, 0, 9)
    assert isinstance(found, Chars)
    assert (found.label_first, found.label_last) == ("2", last)
    # Each file of an archive has lines of its own.
    files = [
        replace(each, locator=replace(each.locator, anchor=str(each.start))) for each in places
    ]
    found = locate(files, 0, 9)
    assert isinstance(found, Chars)
    assert found.label_last == "2"


def test_pages_merge_the_boxes_of_a_line() -> None:
    assert locate(BOOK, 0, 20) == Pages(
        *(16, 16, "14", "14", "2.4", (Box(16, 50.0, 700.0, 250.0, 710.0),))
    )


def test_pages_of_a_span_over_two_pages() -> None:
    found = locate(BOOK, 15, 25)
    assert isinstance(found, Pages)
    assert (found.first, found.last, found.label_first, found.label_last) == (16, 17, "14", "15")
    assert (found.section, len(found.boxes)) == ("2.4", 2)


def test_a_clipped_line_has_a_narrower_box_and_no_hyphen() -> None:
    place = clip(BOOK[2], 21, 26)
    assert isinstance(place.locator, Pages)
    assert (place.start, place.end, place.hyphen) == (21, 26, "")
    assert place.locator.boxes == (Box(17, 50.0, 700.0, 100.0, 710.0),)


def test_chars_are_exact() -> None:
    places = (
        SpanLocator(0, 10, Chars(0, 10, "A", "a")),
        SpanLocator(12, 20, Chars(12, 20, "B", "b")),
    )
    assert locate(places, 3, 15) == Chars(3, 15, "A", "a")


def test_no_places() -> None:
    with pytest.raises(ValueError, match="without places"):
        locate((), 0, 1)


@pytest.mark.parametrize(
    ("locator", "expected"),
    [
        (Pages(170, 170, "142", "142"), "p. 142 (PDF page 170)"),
        (Pages(14, 15, "14", "15"), "p. 14–15"),
        (Pages(14, 14, "14", "14"), "p. 14"),
        (Pages(16, 17, "ii", "iii"), "p. ii–iii (PDF pages 16–17)"),
        (Pages(3, 3, "", ""), "p. 3"),
        (Seconds(725.9, 751.0), "12:05–12:31"),
        (Seconds(725.9, 751.0, "Ada", estimated=True), "≈12:05–12:31 · Ada"),
        (Seconds(5.0, 5.4), "0:05"),
        (Seconds(5.0, 9.0, "Ada, Bo"), "0:05–0:09 · Ada, Bo"),
        (Seconds(3599.0, 3725.0), "59:59–1:02:05"),
        (Chars(0, 5, "A ▸ B"), "A ▸ B"),
        (Chars(0, 5), ""),
    ],
)
def test_labels(locator: Locator, expected: str) -> None:
    assert label(locator) == expected


@pytest.mark.parametrize(
    ("locator", "url", "source", "seconds", "expected"),
    [
        (Seconds(12.9, 20), VIDEO, FILE, 60.0, f"{VIDEO}&t=12"),
        (Seconds(12.9, 20), "https://youtu.be/00GKzGyWFEs?t=5", FILE, None, f"{VIDEO}&t=12"),
        (Seconds(80.0, 90), VIDEO, FILE, 60.5, f"{VIDEO}&t=60"),
        (
            Seconds(12.9, 20),
            "https://www.dailymotion.com/video/x84sh87?start=5",
            FILE,
            None,
            "https://www.dailymotion.com/video/x84sh87?start=12",
        ),
        (
            Seconds(12.9, 20),
            "https://dai.ly/x84sh87",
            FILE,
            None,
            "https://www.dailymotion.com/video/x84sh87?start=12",
        ),
        (
            Seconds(12.9, 20),
            "https://video.e.org/w/kkGMgK9ZtnKfYAgnEtQxbv",
            FILE,
            None,
            "https://video.e.org/w/kkGMgK9ZtnKfYAgnEtQxbv?start=12",
        ),
        (
            Seconds(12.9, 20),
            "https://e.org/videos/watch/9c9de5e8-0a1e-484a-b099-e80766180a6d?start=1m",
            FILE,
            None,
            "https://e.org/videos/watch/9c9de5e8-0a1e-484a-b099-e80766180a6d?start=12",
        ),
        (
            Seconds(12.9, 20),
            "https://vimeo.com/97276391",
            "",
            None,
            "https://vimeo.com/97276391#t=12",
        ),
        (Seconds(12.9, 20), "https://e.org/a b.mp3#x", "", None, "https://e.org/a%20b.mp3#t=12"),
        (Seconds(12.9, 20), None, FILE, None, "file:///talks/%C3%89t%C3%A9%201.srt#t=12"),
        (Pages(16, 17, "14", "15"), None, "/b/c.pdf", None, "file:///b/c.pdf#page=16"),
        (
            Pages(16, 16, "14", "14"),
            "https://e.org/c.pdf",
            "/b",
            None,
            "https://e.org/c.pdf#page=16",
        ),
        (Chars(0, 1, None, "ça-va"), "https://e.org/x", "", None, "https://e.org/x#%C3%A7a-va"),
        (Chars(0, 1), None, "/b/c.md", None, "file:///b/c.md"),
        (ROW, None, "/b/c.csv", None, "file:///b/c.csv#row=3"),
        (
            replace(ROW, section="Été & co #1"),
            None,
            "/b/c.xlsx",
            None,
            "file:///b/c.xlsx#sheet=%C3%89t%C3%A9%20%26%20co%20%231&row=3",
        ),
        (Chars(0, 1), "javascript:alert(1)", "", None, None),
        (Chars(0, 1), None, "", None, None),
    ],
)
def test_links(
    locator: Locator, url: str | None, source: str, seconds: float | None, expected: str | None
) -> None:
    assert link(locator, document_at(source, url=url, seconds=seconds)) == expected


_ID = "kkGMgK9ZtnKfYAgnEtQxbv"
_UUID = "9c9de5e8-0a1e-484a-b099-e80766180a6d"


@pytest.mark.parametrize(
    ("address", "opened"),
    [
        (f"https://v.e.org/w/{_ID}?token=a%20b&start=5", f"/w/{_ID}?token=a%20b&start=12"),
        (f"https://v.e.org/w/{_ID}?start=5&stop=9#x", f"/w/{_ID}?stop=9&start=12"),
        (f"https://v.e.org/w/{_ID}/", f"/w/{_ID}?start=12"),
        (f"HTTPS://V.e.org/w/{_ID};threadId=3", f"/w/{_ID}?start=12"),
        (f"https://v.e.org/videos/embed/{_UUID}", f"/videos/embed/{_UUID}?start=12"),
        (
            f"https://v.e.org/videos/watch/{_UUID.upper()}",
            f"/videos/watch/{_UUID.upper()}?start=12",
        ),
        ("https://m.dailymotion.com/video/x84sh87", "/video/x84sh87?start=12"),
        ("https://www.Dailymotion.com/embed/video/x84sh87?autoplay=1", "/video/x84sh87?start=12"),
        ("https://notdailymotion.com/video/x84sh87", "/video/x84sh87#t=12"),
        ("https://dailymotion.com.e.org/video/x84sh87", "/video/x84sh87#t=12"),
        (f"https://v.e.org/w/{_ID}/more", f"/w/{_ID}/more#t=12"),
    ],
)
def test_a_video_opens_from_every_usual_address(address: str, opened: str) -> None:
    found = link(Seconds(12.9, 20), document_at("", url=address)) or ""
    assert found.lower().startswith("https://")
    assert found[found.index("/", len("https://")) :] == opened


@pytest.mark.parametrize("recording", ["talk.mp4", "talk.en.MP3"])
def test_captions_beside_a_recording_open_that(tmp_path: Path, recording: str) -> None:
    captions = replace(document_at(str(tmp_path / "talk.en.srt")), kind="transcript")
    assert link(Seconds(12.9, 20), captions) == f"{tmp_path.as_uri()}/talk.en.srt#t=12"
    (tmp_path / recording).touch()
    assert link(Seconds(12.9, 20), captions) == f"{tmp_path.as_uri()}/{recording}#t=12"
    assert link(Seconds(12.9, 20), replace(captions, url=VIDEO)) == f"{VIDEO}&t=12"


def test_a_moment_is_the_minute_from_it_on() -> None:
    moment = Filter("seconds", "overlaps", (720.0, 720.0))
    others = (Filter("seconds", "overlaps", (60.0, 90.0)), Filter("page", "overlaps", (3.0, 3.0)))
    lengthened, *rest = filters_from_moment((moment, *others))
    assert lengthened.values == (720.0, 780.0)
    assert tuple(rest) == others


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "- Power (POW) - its magic\n- Charisma",
            "Power%20%28POW%29%20%2D%20its%20magic",
        ),
        ("2.1.1. Character Stats", "2.1.1.%20Character%20Stats"),
        ("Speed | Power", ""),
    ],
)
def test_a_link_to_a_page_names_the_words_without_marks_of_lists(text: str, words: str) -> None:
    opened = link(Chars(0, 1), document_at("", url="http://a.example/b"), text=text)
    assert opened == "http://a.example/b" + (f"#:~:text={words}" if words else "")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "The lens\n\nThe Fresnel lens was ground in Paris.",
            "The Fresnel lens was ground in Paris.",
        ),
        (
            "One two three four five six.\nEnd of it all here.",
            "One two three four five six.,End of it all here.",
        ),
        ("A\nB C", "B C"),
    ],
)
def test_words_that_name_a_text_are_of_one_block(text: str, words: str) -> None:
    assert unquote(text_fragment(text).removeprefix(TEXT_MARK)) == words


def test_a_sentence_of_japanese_that_stands_twice_is_found_by_what_is_before_it() -> None:
    before = "今日は晴れです。明日は雨です。昨日は雪でした。\nまた、"
    text = "今日は晴れです。"
    directive = text_fragment(text, before=before).removeprefix(TEXT_MARK)
    assert find_fragment(before + text, directive) == (len(before), len(before + text))


def test_words_before_that_are_none_are_found_nowhere_at_once() -> None:
    began = time.perf_counter()
    assert find_fragment(" " * 30_000, "-,zzz") is None
    assert time.perf_counter() - began < 1


@pytest.mark.parametrize(
    ("before", "text", "words"),
    [
        ("Boats go.", "He went home.", "He went home."),
        ("He went home. Then he ate. ", "He went home.", "ate.-,He went home."),
        ("- Mode: owner r\n\nSecond part\n\n", "- Mode: owner r", "part-,Mode: owner r"),
        ("- Mode: owner read\n\nSecond\n\n", "- Mode: owner r", "Mode: owner r"),
        ("- a b c\n- Mode x y\n- d b c\n", "- Mode x y", "d b c-,Mode x y"),
        ("A\n\nMode x y\n\nA\n\n", "Mode x y", "Mode x y"),
    ],
)
def test_words_that_a_page_has_before_are_named_with_those_that_precede_them(
    before: str, text: str, words: str
) -> None:
    directive = text_fragment(text, before=before).removeprefix(TEXT_MARK)
    assert unquote(directive) == words
    whole = before + text
    start = whole.rindex(words.split("-,")[-1])
    if "-," in words:
        assert find_fragment(whole, directive) == (start, len(whole))
