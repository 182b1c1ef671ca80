"""Messages of speech services as segments: one function for each form, and a table of them.

Documented by the providers: Deepgram's streaming results (also what Telnyx and others send), the
transcription events of OpenAI's Realtime API and servers compatible with it, LiveKit's text stream
``lk.transcription`` and its older segments, and the transcripts of Zoom's Realtime Media Streams.
Messages about other things have no segments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cachetools import FIFOCache

from quoth.core.errors import InputError
from quoth.core.lecture import SpeechFormat, TranscriptSegment
from quoth.core.types import Json
from quoth.live.sources import from_row

MAX_REMEMBERED = 1000
"""Segments whose beginning or words are remembered until they are final; also streams."""
REPEATED_S = 5.0
"""Seconds that a connection may begin before the last words and still go on with their stream."""


@dataclass(slots=True)
class _Heard:
    """What earlier messages said of a segment: when it begins and ends, and its words."""

    start: float | None = None
    end: float | None = None
    text: str = ""
    revision: int = 0


@dataclass(frozen=True, slots=True)
class _Stream:
    """Sound whose times begin at zero, which is ``offset`` seconds of the lecture."""

    number: int
    offset: float

    def key(self, name: str) -> str:
        """Return the id of a segment; those of the first stream are as the provider names them."""
        return f"{self.number}-{name}" if self.number else name


@dataclass(slots=True)
class TranscriptSource:
    """Reads the messages of a session's provider, over any number of connections.

    Times go on behind ``behind``, what was said before. A provider that connects again and begins
    its times anew goes on behind its last words.
    """

    form: SpeechFormat = "quoth"
    behind: float = 0.0
    _origin: float | None = None
    _latest_told: float = 0.0
    _streams: FIFOCache[str, _Stream] = field(default_factory=lambda: FIFOCache(MAX_REMEMBERED))
    _heard: FIFOCache[str, _Heard] = field(default_factory=lambda: FIFOCache(MAX_REMEMBERED))
    _connection: str = ""

    def read(self, message: Any, *, connection: str = "") -> list[TranscriptSegment]:
        """Return the segments of a message; raises InputError for one that is damaged."""
        self._connection = connection
        try:
            return _READERS[self.form](self, message)
        except (KeyError, TypeError, ValueError, OverflowError, AttributeError, IndexError):
            raise InputError(f"This is no message of the form '{self.form}'.") from None

    def heard(self, key: str) -> _Heard:
        """Return what is remembered of a segment."""
        return self._heard.setdefault(key, _Heard())

    def since_first(self, seconds: float) -> float:
        """Return the seconds of the lecture, whose clock begins with the first time told."""
        if self._origin is None:
            self._origin = seconds - self.behind
        return max(0.0, seconds - self._origin)

    def stream(self, at: float, *, name: str | None = None) -> _Stream:
        """Return the stream that a message of ``at`` seconds belongs to.

        ``name`` is what the provider calls it. Without one each connection is a stream of its own,
        unless its first time goes on where the last one ended.
        """
        known = name or f"connection {self._connection}"
        if known not in self._streams:
            earlier = list(self._streams.values())
            last = earlier[-1] if earlier else None
            goes_on = last and not name and at >= self._latest_told - REPEATED_S
            number = last.number + 1 if last else 0
            new = last if last and goes_on else _Stream(number, self.behind)
            self._latest_told = at
            self._streams[known] = new
        return self._streams[known]

    def told(self, at: float) -> None:
        """Note the last time that a stream told."""
        self._latest_told = max(self._latest_told, at)

    def segment(
        self,
        key: str,
        heard: _Heard,
        text: str,
        *,
        final: bool,
        speaker: str | None = None,
        language: str | None = None,
    ) -> TranscriptSegment:
        """Return the next revision of a segment; one that is final is forgotten.

        One without times follows what was said before.
        """
        start = heard.start = self.behind if heard.start is None else heard.start
        end = start if heard.end is None else max(start, heard.end)
        self.behind = max(self.behind, end)
        revision, heard.revision = heard.revision, heard.revision + 1
        if final:
            self._heard.pop(key, None)
        return TranscriptSegment(
            key, round(start, 3), round(end, 3), text.strip(), final=final, revision=revision,
            speaker=speaker, language=language,
        )  # fmt: skip


def _own(source: TranscriptSource, message: Any) -> list[TranscriptSegment]:
    """Read {segment_id, revision, start, end, text, final, speaker, language}, or a list."""
    del source
    rows: Sequence[Any] = message.get("segments", [message])
    return [from_row(row) for row in rows]


def _deepgram(source: TranscriptSource, message: Json) -> list[TranscriptSegment]:
    """Read {"type": "Results", start, duration, is_final, channel: {alternatives: […]}}.

    Interim results repeat the stretch from ``start``, so its time names the segment.
    """
    if message.get("type", "Results") != "Results":
        return []
    said = message["channel"]["alternatives"][0]
    channel = int((message.get("channel_index") or [0])[0])
    start, end = float(message["start"]), float(message["start"]) + float(message["duration"])
    stream = source.stream(start, name=(message.get("metadata") or {}).get("request_id"))
    source.told(end)
    final = bool(message.get("is_final"))
    key = stream.key(f"d{channel}-{start:010.2f}")
    heard = source.heard(key)
    text = str(said["transcript"])
    if not text.strip() and not heard.revision:
        heard.revision = 1
        return []
    words = said.get("words") or []
    if words:
        start, end = float(words[0]["start"]), float(words[-1]["end"])
    heard.start, heard.end = stream.offset + start, stream.offset + end
    speakers = {word.get("speaker") for word in words} - {None}
    speaker = f"Speaker {speakers.pop() + 1}" if len(speakers) == 1 else None
    language = _language((said.get("languages") or [None])[0])
    return [source.segment(key, heard, text, final=final, speaker=speaker, language=language)]


def _openai(source: TranscriptSource, message: Json) -> list[TranscriptSegment]:
    """Read the events of input audio: its begin and end, transcription deltas, and their end.

    Items may be completed in another order than they were spoken.
    """
    kind = str(message["type"])
    if "item_id" not in message:
        return []
    key = str(message["item_id"])
    heard = source.heard(key)
    if kind == "input_audio_buffer.speech_started":
        heard.start = _since_stream(source, message["audio_start_ms"])
    elif kind == "input_audio_buffer.speech_stopped":
        heard.end = _since_stream(source, message["audio_end_ms"])
    elif kind.endswith("input_audio_transcription.delta"):
        heard.text += str(message.get("delta") or "")
        return [source.segment(key, heard, heard.text, final=False)]
    elif kind.endswith("input_audio_transcription.completed"):
        return [source.segment(key, heard, str(message["transcript"]), final=True)]
    return []


def _since_stream(source: TranscriptSource, milliseconds: Any) -> float:
    at = float(milliseconds) / 1000
    stream = source.stream(at)
    source.told(at)
    return stream.offset + at


def _livekit(source: TranscriptSource, message: Json) -> list[TranscriptSegment]:
    """Read a text stream {text, attributes, timestamp, participant} or {"segments": […]}, in ms.

    The same segment again replaces its words.
    """
    who = message.get("participant") or message.get("transcribedParticipantIdentity")
    if "segments" in message:
        rows = [_livekit_row(row) for row in message["segments"]]
    else:
        about = message["attributes"]
        at = float(message["timestamp"])
        final = str(about.get("lk.transcription_final", "true")).lower() == "true"
        key = str(about.get("lk.segment_id") or f"t{at:.0f}")
        rows = [(key, str(message["text"]), final, None, at, at)]
    made = []
    for key, text, final, language, start, end in rows:
        heard = source.heard(key)
        begins = source.since_first(start / 1000)
        heard.start = begins if heard.start is None else heard.start
        heard.end = source.since_first(end / 1000)
        spoken_in = _language(language)
        made.append(source.segment(key, heard, text, final=final, speaker=who, language=spoken_in))
    return made


def _zoom(source: TranscriptSource, message: Json) -> list[TranscriptSegment]:
    """Read {"msg_type": 17, "content": {user_id, user_name, data, timestamp}}; always final."""
    if message["msg_type"] not in (17, "MEDIA_DATA_TRANSCRIPT"):
        return []
    said = message["content"]
    at = float(said["timestamp"])
    start, end = float(said.get("start_time") or at), float(said.get("end_time") or at)
    heard = _Heard(source.since_first(_seconds(start)), source.since_first(_seconds(end)))
    key = f"z{said.get('user_id', 0)}-{start:.0f}"
    name = str(said["user_name"]) if said.get("user_name") else None
    return [source.segment(key, heard, str(said["data"]), final=True, speaker=name)]


def _livekit_row(row: Json) -> tuple[str, str, bool, Any, float, float]:
    start: Any = row.get("startTime", row.get("start_time"))
    end: Any = row.get("endTime", row.get("end_time"))
    times = (float(start), float(end))
    return str(row["id"]), str(row["text"]), bool(row["final"]), row.get("language"), *times


def _seconds(clock: float) -> float:
    """Return a Unix time in seconds: providers send milliseconds or microseconds."""
    return clock / 1e6 if clock > 1e14 else clock / 1e3


def _language(code: Any) -> str | None:
    return str(code)[:2].lower() if code else None


_READERS: Mapping[SpeechFormat, Callable[[TranscriptSource, Any], list[TranscriptSegment]]] = {
    "quoth": _own,
    "deepgram": _deepgram,
    "openai": _openai,
    "livekit": _livekit,
    "zoom": _zoom,
}
