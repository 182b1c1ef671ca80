"""Parsers of the caption formats SRT, WebVTT, SBV and JSON into cues."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

_CLOCK = r"(?:\d{1,6}:)?\d{1,4}:\d{1,2}(?:[.,]\d{1,9})?"
_ARROW = re.compile(rf"\s*({_CLOCK})\s*-{{1,2}}>\s*({_CLOCK})(?:\s.*)?$")
_COMMA = re.compile(r"\s*(\d{1,6}:\d{1,2}:\d{1,2}\.\d{1,3}),(\d{1,6}:\d{1,2}:\d{1,2}\.\d{1,3})\s*$")
_LISTS = (
    "segments",
    "events",
    "utterances",
    "transcript",
    "cues",
    "captions",
    "snippets",
    "chunks",
)
CHAPTERS = "chapters"
LONG_PART = 3.0
"""Seconds of a part of a cue, as of the shorter captions."""
PAUSE = 1.0
"""Seconds without words that end a part."""
_WORDS = ("punctuated_word", "word", "text")
_ASIDE = re.compile(r"[\[(♩♪♫♬]")
_SENTENCE_END = re.compile(r"[.!?…][\"'”’»)\]]*\s+")
MAX_OUTSIDE = 1.0
"""Seconds by which the time of a word may lie outside its cue."""
_TEXTS = ("text", "content", "utf8", "transcript", "body")


@dataclass(frozen=True, slots=True)
class Cue:
    """The words from `start` to `end`, in seconds; ``speaker`` only where a field names one."""

    start: float
    end: float
    text: str
    speaker: str | None = None


def timing(line: str) -> tuple[float, float] | None:
    """Parse the timing line of an SRT, VTT or SBV cue; None for any other line."""
    match = _ARROW.match(line) or _COMMA.match(line)
    return (seconds(match[1]), seconds(match[2])) if match else None


def seconds(clock: str) -> float:
    """Turn ``h:mm:ss.mmm``, ``mm:ss`` or plain seconds into seconds; else raises ValueError."""
    total = 0.0
    for part in clock.strip().replace(",", ".").split(":"):
        total = total * 60 + float(part)
    return total


def read_lines(text: str, *, vtt: bool) -> list[Cue]:
    """Read SRT, SBV or WebVTT.

    Cue numbers may be missing, and empty lines missing or too many. In WebVTT an empty line ends
    a cue; elsewhere only the next timing line does, and a number just above it is not text.
    """
    cues: list[Cue] = []
    when: tuple[float, float] | None = None
    lines: list[str] = []
    for line in text.split("\n"):
        found = timing(line)
        if found is None:
            if vtt and when is not None and not line:
                cues.append(Cue(*when, "\n".join(lines)))
                when, lines = None, []
            elif when is not None:
                lines.append(line)
            continue
        if when is not None:
            if lines and lines[-1].strip().isdigit():
                lines.pop()
            cues.append(Cue(*when, "\n".join(lines)))
        when, lines = found, []
    if when is not None:
        cues.append(Cue(*when, "\n".join(lines)))
    return cues


def vtt_language(text: str) -> str | None:
    """Return the language in the header of a WebVTT file."""
    header = text.split("\n\n", 1)[0]
    found = re.search(r"(?mi)^language:[ \t]*([\w-]+)", header)
    return found[1] if found else None


def read_json(text: str) -> tuple[list[Cue], dict[str, Any]] | None:
    """Read a JSON transcript: its cues, its other texts, and under `CHAPTERS` its chapters.

    Supported are the events of YouTube, the segments of Whisper and of podcasts, lists of objects
    with a text, a start and an end or duration, and the same line by line. Gives None when it is
    JSON of another sort; raises ValueError when it is not JSON.
    """
    values = parse_json(text)
    beside: dict[str, Any] = {}
    if isinstance(values, dict) and _cue(values) and not values.keys() & _LISTS:
        values = [values]  # JSON lines of one line.
    listed = isinstance(values, dict)
    if isinstance(values, dict):
        beside = {key: value for key, value in values.items() if isinstance(value, str)}
        beside[CHAPTERS] = _chapters(values.get(CHAPTERS))
        values = next((values[key] for key in _LISTS if isinstance(values.get(key), list)), None)
    if not isinstance(values, list):
        return None
    rows = [row for row in values if isinstance(row, dict)]
    cues = [part for row in rows if (cue := _cue(row)) for part in _by_words(cue, row)]
    timed = any(_start(row) is not None for row in rows)
    return (cues, beside) if timed or (listed and not values) else None


def _chapters(rows: object) -> tuple[tuple[float, str], ...]:
    """Read the chapters of a recording: where each begins, and its title."""
    chapters = [
        (start, row["title"])
        for row in (rows if isinstance(rows, list) else ())
        if isinstance(row, dict)
        and isinstance(row.get("title"), str)
        and (start := _start(row)) is not None
    ]
    return tuple(sorted(chapters))


def parse_json(text: str) -> Any:
    """Parse JSON or JSON lines; raises ValueError when it is neither."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("The JSON is nested too deeply.") from None
    except ValueError as error:
        lines = [line for line in text.split("\n") if line.strip()]
        if len(lines) < 2 or not lines[0].rstrip().endswith("}"):
            raise error
        return [json.loads(line) for line in lines]


def _cue(row: Mapping[str, Any]) -> Cue | None:
    start = _start(row)
    words = _text(row)
    if start is None or words is None:
        return None
    end = _end(row, start)
    speaker = row.get("speaker") or row.get("speaker_name")
    return Cue(start, end, words, speaker if isinstance(speaker, str) else None)


def _by_words(cue: Cue, row: Mapping[str, Any]) -> Iterator[Cue]:
    """Return the parts of a long cue whose row tells the time of every word; else the cue itself.

    A part ends with a sentence, before a pause, or after `LONG_PART` seconds, at white space.
    """
    times = _word_times(cue.text, row.get("words"))
    if not _are_of(cue, times) or cue.end - cue.start <= LONG_PART or _ASIDE.search(cue.text):
        yield cue
        return
    sentences = {found.end() for found in _SENTENCE_END.finditer(cue.text)}
    first, begin, before = 0, cue.start, cue.start
    for at, *outer in times:
        start, end = (min(max(time, begin), cue.end) for time in outer)
        ended = at in sentences or start - before >= PAUSE or end - begin > LONG_PART
        if ended and cue.text[max(first, at - 1) : at].isspace():
            yield replace(cue, start=begin, end=before, text=cue.text[first:at])
            first, begin = at, start
        before = max(end, before)
    yield replace(cue, start=begin, text=cue.text[first:])


def _are_of(cue: Cue, times: Sequence[tuple[int, float, float]]) -> bool:
    """Return whether there are times of words, in order and within the cue."""
    starts = [start for _, start, _ in times]
    first, last = cue.start - MAX_OUTSIDE, cue.end + MAX_OUTSIDE
    within = all(first <= start <= end <= last for _, start, end in times)
    return bool(times) and within and starts == sorted(starts)


def _word_times(text: str, words: object) -> list[tuple[int, float, float]]:
    """Return where each word begins in a text, and its times; none where the words are others."""
    times: list[tuple[int, float, float]] = []
    at = 0
    rows = [word for word in words if isinstance(word, dict)] if isinstance(words, list) else []
    for word in rows:
        spelled = next((word[key] for key in _WORDS if isinstance(word.get(key), str)), "").strip()
        start, end = (_number(word.get(key)) for key in ("start", "end"))
        before, at = at, text.find(spelled, at)
        if not spelled or at < 0 or text[before:at].strip():
            return []
        if start is not None and end is not None:
            times.append((at, start, end))
        at += len(spelled)
    return [] if text[at:].strip() else times


def _start(row: Mapping[str, Any]) -> float | None:
    if "tStartMs" in row:
        start = _number(row["tStartMs"])
        return None if start is None else start / 1000
    for key in ("start", "start_time", "startTime", "begin", "from"):
        if key in row:
            return _number(row[key])
    pair = row.get("timestamp")
    return _number(pair[0]) if isinstance(pair, list) and pair else None


def _end(row: Mapping[str, Any], start: float) -> float:
    end: float | None = None
    if "dDurationMs" in row:
        length = _number(row["dDurationMs"])
        end = None if length is None else start + length / 1000
    elif "duration" in row or "dur" in row:
        length = _number(row.get("duration", row.get("dur")))
        end = None if length is None else start + length
    for key in ("end", "end_time", "endTime", "to"):
        if key in row:
            end = _number(row[key])
    pair = row.get("timestamp")
    if isinstance(pair, list) and len(pair) > 1:
        end = _number(pair[1])
    return start if end is None else end


def _text(row: Mapping[str, Any]) -> str | None:
    pieces = row.get("segs")
    if isinstance(pieces, list):
        return "".join(_pieces(pieces))
    return next((row[key] for key in _TEXTS if isinstance(row.get(key), str)), None)


def _pieces(pieces: Sequence[Any]) -> Iterator[str]:
    for piece in pieces:
        if isinstance(piece, dict) and isinstance(piece.get("utf8"), str):
            yield piece["utf8"]


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = seconds(value) if isinstance(value, str) else float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) and number >= 0 else None
