"""Transcripts of recorded lectures, and lines of JSON, as segments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from quoth.core.errors import InputError
from quoth.core.lecture import TranscriptSegment
from quoth.ingest.readers.captions import plain_caption
from quoth.ingest.readers.cue_parsers import Cue, read_json, read_lines
from quoth.ingest.readers.speaker_turns import voices
from quoth.live.segments import SPEAKER


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
    ordered = _with_speakers(sorted(cues, key=lambda cue: (cue.start, cue.end)))
    return [
        TranscriptSegment(
            f"s{at:06}", cue.start, max(cue.start, cue.end), cue.text, speaker=cue.speaker
        )
        for at, cue in enumerate(ordered)
    ]


def _with_speakers(cues: Sequence[Cue]) -> list[Cue]:
    """Return cues without tags, with the speaker whom a label names until the next one.

    Where one has a speaker of its own or in a tag, the others have none but that.
    """
    voiced = [
        replace(cue, text=plain_caption(voice.text), speaker=voice.speaker)
        for cue in cues
        for voice in voices(cue.text, speaker=cue.speaker)
    ]
    if any(cue.speaker for cue in voiced):
        return voiced
    found: list[Cue] = []
    speaker = None
    for cue in voiced:
        label = SPEAKER.match(cue.text.strip())
        if label is not None or cue.text.lstrip().startswith(">>"):
            speaker = label[1].title() if label else None
        found.append(replace(cue, speaker=speaker))
    return found


def from_row(row: Any) -> TranscriptSegment:
    """Read {start, end, text, segment_id?, revision?, final?, speaker?, language?}.

    Raises KeyError, TypeError or ValueError for another value.
    """
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


def growing_captions(text: str) -> list[TranscriptSegment]:
    """Return the captions of an SRT or WebVTT file that is still being written.

    A caption counts once an empty line or the next one follows it. Read again, a longer file gives
    the same segments and new ones; their times are their ids.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    whole = text[: text.rfind("\n\n") + 1]
    cues = _with_speakers(read_lines(whole, vtt=text.startswith("WEBVTT")) if whole else [])
    times = Counter[str]()
    found = []
    for cue in cues:
        name = f"c{cue.start:010.3f}-{cue.end:.3f}"
        times[name] += 1
        key = name if times[name] == 1 else f"{name}-{times[name]}"
        end = max(cue.start, cue.end)
        said = cue.text.strip()
        found.append(TranscriptSegment(key, cue.start, end, said, speaker=cue.speaker))
    return found


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
