"""Segments of a spoken transcript, as every source of speech delivers them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace

from quoth.core.errors import InputError
from quoth.core.lecture import TranscriptSegment
from quoth.ingest.readers.captions import strip_sound_cues

MAX_CHARACTERS = 100_000
"""Characters of one segment; ten thousand words fit."""
MAX_SECONDS = 86_400.0
"""The latest time in a lecture that is taken: a day."""

SPEAKER = re.compile(r"^(?:>>\s*)?([A-ZÀ-Þ][A-ZÀ-Þ .'-]{1,30}):\s+")
_STARRED = re.compile(r"\*[^*]+\*")
_DASH = re.compile(r"^[-–]\s+")


Segments = Mapping[str, TranscriptSegment]
"""The newest revision of each segment, by id."""


def clean_segment(segment: TranscriptSegment) -> TranscriptSegment:
    """Return a segment without noise tags such as "[MUSIC]" and with one space between words.

    A text without a letter or digit, or all between asterisks as "*coughs*" is, has no words.
    A leading "PROFESSOR:" becomes the speaker. Raises InputError for impossible times and for a
    text beyond `MAX_CHARACTERS`.
    """
    start, end = segment.start, segment.end
    if not (math.isfinite(start) and math.isfinite(end)) or not 0 <= start <= MAX_SECONDS:
        raise InputError(f"A segment begins between 0 and {MAX_SECONDS:,.0f} s, not at {start} s.")
    if not start <= end <= MAX_SECONDS:
        raise InputError(f"The segment at {start:g} s ends at {end:g} s. Send times in seconds.")
    if len(segment.text) > MAX_CHARACTERS:
        raise InputError(
            f"The segment at {start:g} s has {len(segment.text):,} characters; the limit is "
            f"{MAX_CHARACTERS:,}. Send it in parts."
        )
    text = " ".join(strip_sound_cues(strip_sound_cues(segment.text)).split())
    speaker = segment.speaker
    if (label := SPEAKER.match(text)) is not None:
        speaker, text = speaker or label[1].title(), text[label.end() :]
    if _STARRED.fullmatch(text) or not any(map(str.isalnum, text)):
        text = ""
    return replace(segment, text=_DASH.sub("", text), speaker=speaker)


def newer(segment: TranscriptSegment, segments: Segments) -> bool:
    """Return whether a segment adds to those known: a new id, a later revision, or the final."""
    known = segments.get(segment.segment_id)
    if known is None:
        return True
    return (segment.final, segment.revision) > (known.final, known.revision)
