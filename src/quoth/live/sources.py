"""Transcripts of recorded lectures, and messages of transcription services, as segments."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from quoth.core.errors import InputError
from quoth.core.lecture import TranscriptSegment
from quoth.ingest.readers.cue_parsers import Cue, read_json, read_lines

Message = Mapping[str, Any]


def read_transcript(path: Path) -> list[TranscriptSegment]:
    """Read an SRT, SBV, WebVTT or JSON transcript; raises InputError."""
    try:
        text = path.read_text("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except FileNotFoundError:
        raise InputError(f"There is no file {path}.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read as text: {error}.") from None
    cues = _parse(text, suffix=path.suffix.casefold())
    if not cues:
        raise InputError(f"{path} has no cue with a time. It is no SRT, WebVTT or JSON transcript.")
    return segments_of(cues)


def _parse(text: str, *, suffix: str) -> list[Cue]:
    if suffix in (".json", ".jsonl") or text.lstrip().startswith(("{", "[{")):
        try:
            found = read_json(text)
        except ValueError:
            found = None
        return found[0] if found else []
    return read_lines(text, vtt=text.startswith("WEBVTT"))


def segments_of(cues: list[Cue]) -> list[TranscriptSegment]:
    """Return cues as final segments, numbered in order of their times."""
    ordered = sorted(cues, key=lambda cue: (cue.start, cue.end))
    return [
        TranscriptSegment(
            f"s{at:06}", cue.start, max(cue.start, cue.end), cue.text, speaker=cue.speaker
        )
        for at, cue in enumerate(ordered)
    ]


def growing_cues(text: str, *, done: int = 0) -> list[TranscriptSegment]:
    """Return the segments of a growing SRT or WebVTT file behind those done, the last left out.

    The last cue may be half written; it comes with the next call, or with the end of the file.
    """
    segments = segments_of(read_lines(text.replace("\r", ""), vtt=text.startswith("WEBVTT")))
    return segments[done:-1] if len(segments) > done else []


def from_json_line(line: str) -> TranscriptSegment:
    """Read {start, end, text, segment_id?, revision?, final?, speaker?, language?}."""
    try:
        row = json.loads(line)
        start, end = float(row["start"]), float(row.get("end", row["start"]))
        return TranscriptSegment(
            str(row.get("segment_id") or f"t{start:010.2f}"),
            start,
            end,
            str(row["text"]),
            final=bool(row.get("final", True)),
            revision=int(row.get("revision", 0)),
            speaker=_text(row.get("speaker")),
            language=_text(row.get("language")),
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        raise InputError(
            f"This line is no segment: {line.strip()[:80]!r}. Write JSON with start, end and text."
        ) from None


def from_livekit(message: Message) -> Iterator[TranscriptSegment]:
    """Read a LiveKit text stream of the topic ``lk.transcription``; times are in milliseconds."""
    attributes = message.get("attributes") or {}
    start, end = _ms(message.get("start_time")), _ms(message.get("end_time"))
    yield TranscriptSegment(
        str(attributes["lk.segment_id"]),
        start,
        max(start, end),
        str(message["text"]),
        final=str(attributes.get("lk.transcription_final", "")).lower() == "true",
        revision=int(message.get("sequence", 0)),
        speaker=_text(attributes.get("lk.transcribed_track_id")),
        language=_text(message.get("language")),
    )


def from_deepgram(message: Message) -> Iterator[TranscriptSegment]:
    """Read a Deepgram ``Results`` message; services that answer alike send the same fields."""
    if message.get("type", "Results") != "Results":
        return
    alternative = message["channel"]["alternatives"][0]
    start, length = float(message["start"]), float(message["duration"])
    if alternative.get("transcript"):
        yield TranscriptSegment(
            f"d{start:010.2f}",
            start,
            start + length,
            str(alternative["transcript"]),
            final=bool(message.get("is_final")),
            revision=round(length * 1000),
        )


def from_openai(message: Message) -> Iterator[TranscriptSegment]:
    """Read a transcription event of OpenAI Realtime.

    The service gives no times with the text: a caller adds ``start`` and ``end`` in seconds, as
    measured when the sound of the item was sent.
    """
    kind = str(message.get("type", ""))
    if not kind.startswith("conversation.item.input_audio_transcription."):
        return
    final = kind.endswith(".completed")
    text = message.get("transcript") if final else message.get("delta")
    if text:
        start, end = float(message.get("start", 0.0)), float(message.get("end", 0.0))
        yield TranscriptSegment(
            str(message["item_id"]),
            start,
            max(start, end),
            str(text),
            final=final,
            revision=int(message.get("sequence", 0)),
        )


def from_zoom(message: Message) -> Iterator[TranscriptSegment]:
    """Read a transcript message of Zoom RTMS (message type 17); the time is in milliseconds."""
    content = message.get("content") or {}
    if message.get("msg_type") != 17 or not content.get("data"):
        return
    at = _ms(content.get("timestamp"))
    yield TranscriptSegment(
        f"z{content.get('user_id', 0)}-{at:.3f}",
        at,
        max(at, _ms(content.get("end_time"))),
        str(content["data"]),
        speaker=_text(content.get("user_name")),
    )


ADAPTERS: Mapping[str, Callable[[Message], Iterator[TranscriptSegment]]] = {
    "livekit": from_livekit,
    "deepgram": from_deepgram,
    "openai": from_openai,
    "zoom": from_zoom,
}


def read_message(service: str, message: Message) -> list[TranscriptSegment]:
    """Return the segments of a service's message; raises InputError."""
    if service not in ADAPTERS:
        raise InputError(f"There is no adapter '{service}'. They are: {', '.join(ADAPTERS)}.")
    try:
        return list(ADAPTERS[service](message))
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        raise InputError(f"This is no transcript message of {service}.") from None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _ms(value: object) -> float:
    return float(value) / 1000 if isinstance(value, int | float | str) and value != "" else 0.0
