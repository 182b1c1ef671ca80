"""Fetch the captions of a video, or of a list of videos one after the other, into files."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any
from urllib.parse import parse_qs, urlsplit

from quoth.core.errors import DocumentError
from quoth.core.extras import require_extra
from quoth.ingest.sources.http import Internet
from quoth.ingest.sources.mirror import FetchedItem, Mirror, MirroredItem, SourceListing
from quoth.ingest.sources.youtube.network import YouTubeClient
from quoth.text.recordings import is_youtube_host, watch_url, youtube_url

FINAL = frozenset(("not_found", "unsupported", "empty"))
"""Codes of videos that another try would not get; only when named by themselves they are tried."""
_WITHOUT_VIDEO = ("[Private video]", "[Deleted video]")


@dataclass(frozen=True, slots=True)
class VideoOptions:
    """Which captions are wanted, and the seconds between two videos."""

    languages: tuple[str, ...] = ()
    pause_s: float = 3.0


def is_youtube(address: str) -> bool:
    """Return whether an address is a video, a playlist or a channel of YouTube."""
    return is_youtube_host((urlsplit(address).hostname or "").lower())


async def fetch_videos(
    address: str,
    *,
    mirror: Mirror,
    options: VideoOptions,
    internet: Internet | None = None,
    drop_gone: bool = False,
    warn: Callable[[str], None] = lambda _line: None,
) -> AsyncGenerator[FetchedItem, None]:
    """Fetch the transcript of a video, or those that are missing of a playlist or a channel.

    A video that is named by itself is fetched again. Where YouTube blocks this machine the rest of
    a list is left for the next time. Raises MissingExtra and DocumentError.
    """
    require_extra("youtube", module="youtube_transcript_api", what="YouTube")
    client = YouTubeClient(internet or Internet())
    video = youtube_url(address)
    if video is not None:
        yield await _fetch(video, mirror=mirror, options=options, client=client)
        return
    require_extra("youtube", module="yt_dlp", what="A playlist or channel of YouTube")
    listing = import_module("quoth.ingest.sources.youtube.listing")
    videos = await asyncio.to_thread(listing.list_videos, address, client=client)
    if not videos and mirror.listings.get(address, SourceListing()).items:
        raise DocumentError(  # as where YouTube asks for consent, or the list is private now
            "empty", f"The list {address} is empty now, and was not before. Nothing was changed."
        )
    blocked = import_module("quoth.ingest.sources.youtube.captions").Blocked
    waits = False
    for number, listed in enumerate(videos):
        item = _known(mirror, listed.video_id, listed.title)
        if item is None:
            if waits:
                await asyncio.sleep(options.pause_s)
            waits = True
            page = watch_url(listed.video_id) or address
            item = await _fetch(page, mirror=mirror, options=options, client=client)
        yield item
        if isinstance(item.problem, blocked):
            left = len(videos) - number - 1
            warn(f"{left} more videos of {address} were not tried. The same command goes on there.")
            break
    pages = (watch_url(video.video_id) for video in videos)
    items = tuple(page_url for page_url in pages if page_url)
    mirror.drop(mirror.finish(address, SourceListing(items=items), whole=drop_gone))


def _known(mirror: Mirror, video_id: str, title: str) -> FetchedItem | None:
    """Return a video of a list that needs no request: it is there, or will never be."""
    page = watch_url(video_id)
    if page is None or title in _WITHOUT_VIDEO:
        state = title.strip("[]").lower() or "not a video"
        problem = DocumentError("not_found", f"The video {page or video_id} is a {state}.")
        return FetchedItem(page or video_id, problem=problem)
    path = mirror.path(page)
    if path is not None:
        return FetchedItem(page, path)
    item = mirror.items.get(page)
    if item is not None and item.code in FINAL and item.code is not None:
        return FetchedItem(page, problem=DocumentError(item.code, item.message))
    return None


async def _fetch(
    page: str, *, mirror: Mirror, options: VideoOptions, client: YouTubeClient
) -> FetchedItem:
    captions = import_module("quoth.ingest.sources.youtube.captions")
    video_id = parse_qs(urlsplit(page).query)["v"][0]
    try:
        made = await asyncio.to_thread(
            captions.fetch_captions, video_id, client=client, languages=options.languages
        )
        if not made.lines:
            raise DocumentError("empty", f"The captions of {page} are empty.")
    except DocumentError as error:
        mirror.fail(page, error)
        return FetchedItem(page, problem=error)
    text = json.dumps(_transcript(made, page), ensure_ascii=False, indent=0)
    item = MirroredItem(file=f"{video_id}.json")
    return FetchedItem(page, mirror.write(page, text.encode(), suffix=".json", about={}, item=item))


def _transcript(made: Any, page: str) -> dict[str, Any]:
    """Return the captions as a transcript that the reader of JSON reads."""
    segments: Sequence[tuple[float, float, str]] = made.lines
    return {
        "title": made.title,
        "url": page,
        "speaker": made.channel,
        "date": made.date,
        "language": made.language,
        "automatic": made.automatic,
        "chapters": [{"start": start, "title": title} for start, title in made.chapters],
        "segments": [
            {"start": round(start, 3), "end": round(end, 3), "text": text}
            for start, end, text in segments
        ],
    }
