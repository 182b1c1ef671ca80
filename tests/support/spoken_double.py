"""Transcribes as the real module does, from a text file: a sentence for each ten seconds.

The file's second line may name a flag file; where that is there, the fourth minute fails.
"""

from __future__ import annotations

from pathlib import Path

from quoth.core.errors import DocumentError
from quoth.core.types import Json


def transcribe_stretch(path: Path, request: Json) -> Json:
    """Return the sentences of a stretch, the last one cut off."""
    minutes, flag = path.read_text().split("\n")[:2]
    total, start = 60.0 * int(minutes), request["start"]
    if start >= 180 and flag and Path(flag).exists():
        raise DocumentError("parser_timeout", "It took too long.")
    end = min(total, start + request["length"])
    times = range(int(start), int(end), 10)
    segments = [
        {"start": float(at), "end": at + 9.0, "text": f"This is said at {at}.", "words": []}
        for at in times
    ]
    following = None if end >= total else segments.pop()["start"]
    return {"segments": segments, "next": following, "seconds": total, "language": "en"}
