"""Recordings: the file that belongs to a transcript, and addresses of videos."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import product
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from quoth.core.types import Document

MEDIA_TYPES = {
    ".mp4": "video/mp4",
    ".m4a": "audio/mp4",
    ".mp3": "audio/mpeg",
    ".webm": "video/webm",
    ".ogg": "audio/ogg",
    ".wav": "audio/wav",
    ".mkv": "video/x-matroska",
    ".mov": "video/quicktime",
    ".oga": "audio/ogg",
    ".opus": "audio/ogg",
    ".flac": "audio/flac",
}
"""Suffixes of recordings, in the order in which they are looked for."""
LANGUAGE_CODE = re.compile(r"\.[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
"""What may stand before the suffix of captions: ``talk.en.srt``."""

_VIDEO_ID = re.compile(r"[A-Za-z0-9_-]{11}")
_YOUTUBE_HOSTS = ("youtube.com", "youtube-nocookie.com", "youtu.be")
_DAILYMOTION = re.compile(
    r"(?:(?:www\.|m\.)?dailymotion\.com/(?:embed/)?video|dai\.ly)/([A-Za-z0-9]+)"
)
_PEERTUBE = re.compile(
    r"/(?:w|videos/(?:watch|embed))/"
    r"(?:[1-9A-HJ-NP-Za-km-z]{22}|(?i:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}))(?=/?$|;)"
)
_VIDEO_PATHS = ("embed", "shorts", "live", "v", "e")


def is_recording(path: Path) -> bool:
    """Return whether a file is a recording by its suffix."""
    return path.suffix.lower() in MEDIA_TYPES


def recording_of(document: Document) -> Path | None:
    """Return the recording of a transcript: its source, or the file of the same stem beside it.

    A code of a language before the suffix (``talk.en.srt``) may be missing in its name. No symbolic
    link is followed; only an absolute path has a recording.
    """
    path = Path(document.source)
    if document.kind != "transcript" or not path.is_absolute():
        return None
    try:
        return _beside(path, path.parent.stat().st_mtime_ns)
    except (OSError, ValueError):
        return None


@lru_cache(maxsize=1024)
def _beside(path: Path, _folder_changed: int) -> Path | None:
    stems = [path.stem]
    if LANGUAGE_CODE.fullmatch(Path(path.stem).suffix):
        stems.append(Path(path.stem).stem)
    suffixes = [name for suffix in MEDIA_TYPES for name in (suffix, suffix.upper())]
    names = [stem + suffix for stem, suffix in product(stems, suffixes)]
    for name in [path.name] if is_recording(path) else names:
        found = path.with_name(name)
        if found.is_file() and found.resolve() == found:
            return found
    return None


def address_at(address: str, *, seconds: int) -> str:
    """Return the address that opens a recording at a second: for others than those of `video_at`
    (Vimeo, files) it is in the fragment.
    """
    return video_at(address, seconds=seconds) or f"{address}#t={seconds}"


def video_at(address: str, *, seconds: int) -> str | None:
    """Return the address that opens a video of YouTube, Dailymotion or PeerTube at a second.

    They have it in the query. None for the address of anything else.
    """
    if video := youtube_url(address):
        return f"{video}&t={seconds}"
    parts = split_address(address)
    if parts is None or parts[0] not in ("http", "https"):
        return None
    _, host, path, query = parts
    if found := _DAILYMOTION.match(host + path):
        return f"https://www.dailymotion.com/video/{found[1]}?start={seconds}"
    if found := _PEERTUBE.match(path):
        others = [each for each in query.split("&") if each and not each.startswith("start=")]
        opened = "&".join([*others, f"start={seconds}"])
        return urlsplit(address)._replace(path=found[0], query=opened, fragment="").geturl()
    return None


def is_youtube_host(host: str) -> bool:
    """Return whether a host, in small letters, is one of YouTube."""
    return any(host == known or host.endswith(f".{known}") for known in _YOUTUBE_HOSTS)


def youtube_url(address: str) -> str | None:
    """Return the plain watch address of a YouTube video, from any usual form of its address."""
    text = address.strip()
    parts = split_address(text if "//" in text else f"https://{text}")
    if parts is None or parts[0] not in ("http", "https"):
        return None
    _, host, path, query = parts
    if not is_youtube_host(host):
        return None
    steps = [step for step in path.split("/") if step]
    if host.endswith("youtu.be"):
        name = steps[0] if steps else ""
    elif len(steps) > 1 and steps[0] in _VIDEO_PATHS:
        name = steps[1]
    else:
        name = parse_qs(query).get("v", [""])[0]
    return watch_url(name)


def watch_url(video_id: str) -> str | None:
    """Return the watch address of a YouTube video id, None when it is not one."""
    name = video_id.strip()
    return f"https://www.youtube.com/watch?v={name}" if _VIDEO_ID.fullmatch(name) else None


def split_address(address: str) -> tuple[str, str, str, str] | None:
    """Return the scheme, host, path and query of an address, None where it is none."""
    try:
        parts = urlsplit(address)
        return parts.scheme, (parts.hostname or "").lower(), parts.path, parts.query
    except ValueError:
        return None
