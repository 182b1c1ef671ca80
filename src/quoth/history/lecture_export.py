"""Live sessions to hand on: captions, citations and notes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum

from quoth.core.lecture import Lecture, LiveCitation, TranscriptSegment, WindowRecord
from quoth.core.translations import interface_languages
from quoth.text.html_page import render_page
from quoth.text.language import detect_query_language
from quoth.text.locators import ARROW, format_timestamp, label
from quoth.text.markdown import escape_markdown, markdown_link

VTT_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


class LectureFormat(StrEnum):
    """What a session is written as."""

    vtt = "vtt"
    md = "md"
    html = "html"


def as_vtt(
    lecture: Lecture, segments: Sequence[TranscriptSegment], windows: Sequence[WindowRecord]
) -> str:
    """Write captions, and the citations of each window as a note behind its last caption."""
    cited = {window.transcript_id: window for window in windows if window.citations}
    parts = [f"WEBVTT - {_caption(lecture.title)}\n"]
    for segment in segments:
        times = f"{_clock(segment.start)} --> {_clock(segment.end)}"
        voice = f"<v {_caption(segment.speaker)}>" if segment.speaker else ""
        parts.append(f"{times}\n{voice}{_caption(segment.text)}\n")
        if (window := cited.get(segment.segment_id)) is not None:
            lines = [f"[{each.number}] {_place(each)}" for each in window.citations]
            note = _one_line(" ".join(lines)).replace("-->", "→")
            parts.append(f"NOTE {note}\n")
    return "\n".join(parts)


def as_markdown(
    lecture: Lecture, segments: Sequence[TranscriptSegment], windows: Sequence[WindowRecord]
) -> str:
    """Write what was said by window, with the citations below."""
    parts = [f"# {escape_markdown(lecture.title)}\n"]
    said = _by_window(segments, windows)
    for window, text in said:
        parts.append(f"**{format_timestamp(window.start)}** {escape_markdown(text)}\n")
        for each in window.citations:
            place = markdown_link(_address(each), _source(each))
            parts.append(f"> [{each.number}] {place}: “{escape_markdown(each.snippet)}”\n")
    return "\n".join(parts)


def as_html(
    lecture: Lecture, segments: Sequence[TranscriptSegment], windows: Sequence[WindowRecord]
) -> str:
    """Write the same as a page of its own, without scripts."""
    passages = [
        (
            format_timestamp(window.start),
            text,
            [
                (card.number, _place(card), " ".join(card.snippet.split()))
                for card in window.citations
            ],
        )
        for window, text in _by_window(segments, windows)
    ]
    return render_page(
        "lecture.html",
        package="quoth.history",
        title=lecture.title,
        language=lecture.language or _language(segments),
        passages=passages,
    )


def _by_window(
    segments: Sequence[TranscriptSegment], windows: Sequence[WindowRecord]
) -> list[tuple[WindowRecord, str]]:
    """Return each window with the segments that end within it, so that none stands twice."""
    rest = list(segments)
    rows: list[tuple[WindowRecord, str]] = []
    for window in windows:
        own = [each for each in rest if each.end <= window.end + 0.001]
        rest = rest[len(own) :]
        rows.append((window, _spoken(own) or window.text))
    if rest and windows:
        last, text = rows[-1]
        rows[-1] = (last, f"{text} {_spoken(rest)}")
    return rows


def _spoken(segments: Sequence[TranscriptSegment]) -> str:
    """Return what is said, with the speaker where that is another one."""
    speakers = [None, *(each.speaker for each in segments)]
    return " ".join(
        f"{each.speaker}: {each.text}" if each.speaker not in (None, before) else each.text
        for each, before in zip(segments, speakers, strict=False)
    )


def _language(segments: Sequence[TranscriptSegment]) -> str:
    said = " ".join(each.text for each in segments)
    return detect_query_language(said, among=interface_languages(), fallback="en")


def _place(citation: LiveCitation) -> str:
    address = _address(citation)
    return f"{_source(citation)} <{address}>" if address else _source(citation)


def _source(citation: LiveCitation) -> str:
    place, heading = label(citation.locator), citation.section_heading
    said = heading in place.split(ARROW)
    return ", ".join(filter(None, (citation.document_name, place, "" if said else heading)))


def _address(citation: LiveCitation) -> str | None:
    """Return the link of a citation, unless it is a file of the service."""
    link = citation.link or ""
    return link if link.startswith(("http://", "https://")) else None


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _clock(seconds: float) -> str:
    whole, thousandths = divmod(round(seconds * 1000), 1000)
    return f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}.{thousandths:03}"


Export = Callable[[Lecture, Sequence[TranscriptSegment], Sequence[WindowRecord]], str]
EXPORTS: Mapping[LectureFormat, tuple[str, Export]] = {
    LectureFormat.vtt: ("text/vtt; charset=utf-8", as_vtt),
    LectureFormat.md: ("text/markdown; charset=utf-8", as_markdown),
    LectureFormat.html: ("text/html; charset=utf-8", as_html),
}


def _caption(text: str) -> str:
    """Return a text as one line of WebVTT, whose three signs of markup are escaped."""
    return _one_line(text).translate(VTT_ESCAPES)
