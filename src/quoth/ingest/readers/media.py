"""Sound and video files: their suffixes, and the captions beside them."""

from __future__ import annotations

import re
from pathlib import Path

MEDIA_SUFFIXES = frozenset(
    (".mp3", ".m4a", ".wav", ".ogg", ".oga", ".opus", ".flac", ".mp4", ".mkv", ".webm", ".mov")
)
CAPTION_SUFFIXES = (".vtt", ".srt", ".sbv", ".json3")
_LANGUAGE = re.compile(r"\.[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")


def captions_beside(path: Path) -> Path | None:
    """Return the captions of a recording: ``talk.srt`` or ``talk.en.srt`` beside ``talk.mp4``."""
    try:
        there = sorted(path.parent.iterdir())
    except OSError:
        return None
    for suffix in CAPTION_SUFFIXES:
        for each in there:
            if each.suffix.lower() != suffix or not each.name.startswith(path.stem):
                continue
            middle = each.stem[len(path.stem) :]
            if not middle or _LANGUAGE.fullmatch(middle):
                return each
    return None
