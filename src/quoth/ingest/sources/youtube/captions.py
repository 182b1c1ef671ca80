"""The captions of one video, by youtube-transcript-api, with what the watch page says of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from requests import PreparedRequest, Response, Session
from requests.adapters import BaseAdapter
from youtube_transcript_api import (
    AgeRestricted,
    CouldNotRetrieveTranscript,
    InvalidVideoId,
    PoTokenRequired,
    RequestBlocked,
    Transcript,
    TranscriptList,
    TranscriptsDisabled,
    VideoUnavailable,
    VideoUnplayable,
    YouTubeRequestFailed,
    YouTubeTranscriptApi,
)

from quoth.core.errors import DocumentError, InputError
from quoth.ingest.readers.cue_parsers import seconds
from quoth.ingest.sources.youtube.network import YouTubeClient
from quoth.text.recordings import watch_url

_DATE = re.compile(r'itemprop="(?:datePublished|uploadDate)" content="(\d{4}-\d\d-\d\d)')
_CHAPTER = re.compile(r"^\W{0,3}((?:\d{1,2}:)?\d{1,2}:\d\d)\W{1,4}(\S.{0,198})$", re.MULTILINE)
MIN_CHAPTERS = 3
"""Times in a description that make chapters of it, the first at 0:00, as YouTube has it."""


class Blocked(DocumentError):
    """YouTube refuses requests from this address; further ones would be refused, too."""


@dataclass(frozen=True, slots=True)
class VideoCaptions:
    """The captions of a video as lines with their times, and what is known of it."""

    video_id: str
    lines: tuple[tuple[float, float, str], ...]
    language: str
    automatic: bool
    title: str = ""
    channel: str = ""
    date: str | None = None
    chapters: tuple[tuple[float, str], ...] = ()


@dataclass(slots=True)
class _Adapter(BaseAdapter):  # type: ignore[misc]
    """Sends the requests of a session, and notes what the watch page and the player said."""

    client: YouTubeClient
    details: dict[str, Any] = field(default_factory=dict)
    date: str | None = None

    def send(self, request: PreparedRequest, **_options: Any) -> Response:
        """Return the response to a request."""
        body = request.body or b""
        address, answer = self.client.send(
            request.method or "GET",
            request.url or "",
            headers={str(name): str(value) for name, value in request.headers.items()},
            body=body.encode() if isinstance(body, str) else bytes(body),
        )
        response = Response()
        response.status_code = answer.status
        response.headers.update(answer.headers)
        response.url, response.request, response.encoding = address, request, "utf-8"
        response._content = answer.data
        if "/youtubei/v1/player" in address and answer.status == 200:
            self.details = response.json().get("videoDetails") or {}
        elif "/watch" in address:
            dated = _DATE.search(response.text)
            self.date = dated[1] if dated else self.date
        return response

    def close(self) -> None:
        """Do nothing: each request has its own connection."""


def fetch_captions(
    video_id: str, *, client: YouTubeClient, languages: Sequence[str] = ()
) -> VideoCaptions:
    """Return the captions of a video: made by people before automatic ones, of these languages.

    Without languages those of the spoken language, as the automatic captions name it. Raises
    Blocked, DocumentError and InputError.
    """
    adapter = _Adapter(client)
    session = Session()
    session.trust_env = False
    session.mount("https://", adapter)
    session.mount("http://", adapter)
    address = watch_url(video_id) or video_id
    try:
        chosen = choose_captions(
            YouTubeTranscriptApi(http_client=session).list(video_id), languages
        )
        if chosen is None:
            raise DocumentError(
                "empty", f"The video {address} has no captions in {' or '.join(languages)}."
            )
        found = chosen.fetch()
    except CouldNotRetrieveTranscript as error:
        raise _translated(error, address) from None
    except (KeyError, ValueError, TypeError) as error:
        raise DocumentError("unreadable", f"YouTube answered strangely for {address}.") from error
    lines = ((line.start, line.start + line.duration, line.text) for line in found)
    return VideoCaptions(
        video_id=video_id,
        lines=tuple(lines),
        language=found.language_code,
        automatic=found.is_generated,
        title=str(adapter.details.get("title") or ""),
        channel=str(adapter.details.get("author") or ""),
        date=adapter.date,
        chapters=description_chapters(str(adapter.details.get("shortDescription") or "")),
    )


def choose_captions(there: TranscriptList, languages: Sequence[str]) -> Transcript | None:
    """Return the best captions of a video, None where none is in these languages."""
    tracks = list(there)
    spoken = [track.language_code for track in tracks if track.is_generated]
    wanted = list(languages) or [*spoken, "en"]
    for code in wanted:
        same = [track for track in tracks if _primary(track.language_code) == _primary(code)]
        if same:
            return min(same, key=lambda track: (track.is_generated, track.language_code != code))
    return None if languages or not tracks else tracks[0]


def description_chapters(description: str) -> tuple[tuple[float, str], ...]:
    """Return the chapters that the times in a description make, none where they make none."""
    found = _CHAPTER.findall(description)
    chapters = [(seconds(clock), title.strip()) for clock, title in found]
    begins = [start for start, _ in chapters]
    made = len(chapters) >= MIN_CHAPTERS and begins[0] == 0 and begins == sorted(set(begins))
    return tuple(chapters) if made else ()


def _primary(code: str) -> str:
    return code.split("-")[0].casefold()


def _translated(error: CouldNotRetrieveTranscript, address: str) -> DocumentError | InputError:
    match error:
        case RequestBlocked() | PoTokenRequired():
            return Blocked(
                "unreadable",
                f"YouTube refuses to send the captions of {address} to this machine: it blocks "
                "the addresses of clouds and those that ask too often. Try again tomorrow or from "
                "another network, or download the captions and add the file.",
            )
        case VideoUnavailable() | InvalidVideoId():
            return DocumentError("not_found", f"The video {address} does not exist any more.")
        case AgeRestricted():
            return DocumentError(
                "unsupported", f"The video {address} is for adults only and needs a login."
            )
        case VideoUnplayable():
            reason = " ".join(str(error.reason or "it is not said why").split())
            return DocumentError("unsupported", f"The video {address} cannot be played: {reason}.")
        case TranscriptsDisabled():
            return DocumentError(
                "empty", f"The video {address} has no captions. Add its sound file instead."
            )
        case YouTubeRequestFailed():
            return DocumentError(
                "unreadable", f"YouTube did not answer for {address}; try again later."
            )
        case _:
            kind = type(error).__name__
            return DocumentError(
                "unreadable", f"The captions of {address} cannot be read ({kind})."
            )
