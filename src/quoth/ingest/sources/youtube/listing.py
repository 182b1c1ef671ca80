"""The videos of a playlist or a channel, by yt-dlp."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from typing import Any
from urllib.parse import urlsplit

from yt_dlp import YoutubeDL
from yt_dlp.networking import Request, RequestHandler
from yt_dlp.networking import Response as LibraryResponse
from yt_dlp.networking.exceptions import HTTPError, TransportError
from yt_dlp.utils import DownloadError

from quoth.core.errors import DocumentError, QuothError
from quoth.ingest.sources.youtube.network import YouTubeClient

MAX_VIDEOS = 1000
_CHANNEL_TABS = ("videos", "shorts", "streams", "playlists", "podcasts", "featured", "live")


@dataclass(frozen=True, slots=True)
class ListedVideo:
    """A video of a list."""

    video_id: str
    title: str


class _Silent:
    """Takes what the library says; the last error is what it raises."""

    def debug(self, _line: str) -> None: ...
    def warning(self, _line: str) -> None: ...
    def error(self, _line: str) -> None: ...


def list_videos(address: str, *, client: YouTubeClient) -> list[ListedVideo]:
    """Return the videos of a playlist or channel, in its order; raises DocumentError."""

    class ClientRH(RequestHandler):  # type: ignore[misc]
        """Sends the library's requests by our client."""

        _SUPPORTED_URL_SCHEMES = ("http", "https")
        _SUPPORTED_PROXY_SCHEMES = None
        _SUPPORTED_FEATURES = None

        def _check_extensions(self, extensions: dict[str, Any]) -> None:
            extensions.clear()

        def _send(self, request: Request) -> LibraryResponse:
            headers = dict(self._merge_headers(request.headers))
            cookies = self._get_cookiejar(request).get_cookie_header(request.url)
            if cookies:
                headers["Cookie"] = cookies
            try:
                address, answer = client.send(
                    request.method, request.url, headers=headers, body=_bytes(request.data)
                )
            except QuothError as error:
                raise TransportError(str(error)) from error
            response = LibraryResponse(
                BytesIO(answer.data), address, answer.headers, status=answer.status
            )
            if not 200 <= answer.status < 300:
                raise HTTPError(response)
            return response

    class PlaylistLister(YoutubeDL):  # type: ignore[misc]
        def build_request_director(self, _handlers: Any, preferences: Any = None) -> Any:
            return super().build_request_director([ClientRH], preferences)

    options = {
        "extract_flat": "in_playlist",
        "skip_download": True,
        "quiet": True,
        "logger": _Silent(),
        "cachedir": False,
        "playlistend": MAX_VIDEOS,
        "allowed_extractors": ["youtube:tab", "youtube:playlist"],
        "retries": 0,
        "extractor_retries": 0,
    }
    try:
        with PlaylistLister(options) as library:
            found = library.extract_info(_videos_of(address), download=False)
    except DownloadError as error:
        reason = str(error).replace("ERROR: ", "").partition(";")[0]
        raise DocumentError("unreadable", f"The list {address} cannot be read: {reason}") from None
    entries = [entry for entry in found.get("entries") or () if entry and entry.get("id")]
    return [ListedVideo(entry["id"], entry.get("title") or "") for entry in entries]


def _videos_of(address: str) -> str:
    """Return the address of a channel's videos; a playlist is its own."""
    parts = urlsplit(address)
    steps = [step for step in parts.path.split("/") if step]
    is_channel = steps and (steps[0].startswith("@") or steps[0] in ("channel", "c", "user"))
    if not is_channel or steps[-1] in _CHANNEL_TABS:
        return address
    return f"https://www.youtube.com/{'/'.join(steps)}/videos"


def _bytes(data: Any) -> bytes:
    return data if isinstance(data, bytes) else b"".join(data or ())
