"""Transcripts of recorded lectures, and lines of JSON, as segments."""

from __future__ import annotations

import json
from pathlib import Path

from quoth.core.errors import InputError
from quoth.core.lecture import TranscriptSegment
from quoth.ingest.readers.cue_parsers import Cue, read_json, read_lines


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


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
