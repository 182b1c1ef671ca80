"""Sound and video files: their suffixes, and the captions beside them."""

from __future__ import annotations

from pathlib import Path

from quoth.text.recordings import LANGUAGE_CODE, MEDIA_TYPES

MEDIA_SUFFIXES = frozenset(MEDIA_TYPES)
CAPTION_SUFFIXES = (".vtt", ".srt", ".sbv", ".json3")


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
            if not middle or LANGUAGE_CODE.fullmatch(middle):
                return each
    return None
