"""The body of a request as it comes in: counted and timed, whatever was announced."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from starlette.datastructures import Headers
from starlette.types import Message, Receive

from quoth.core.errors import (
    Denied,
    InputError,
    QuothError,
    TooLarge,
)
from quoth.core.settings import Settings

ROOM_FOR_FORM = 65_536
"""Bytes that a form may have around the file that it holds."""
TAKING_FILES = ("/v1/uploads", "/v1/documents")
"""Addresses to which files are sent."""
SENDING = frozenset({"POST", "PUT", "PATCH"})


class TooSlow(InputError):
    """The body took too long to come in."""

    code = "too_slow"
    status = 408


def about_files(path: str) -> bool:
    """Whether a request goes where files are sent to."""
    return any(path == each or path.startswith(f"{each}/") for each in TAKING_FILES)


def brings_file(path: str, *, method: str, media_type: str) -> bool:
    """Whether a request brings a file, or a part of one, rather than JSON."""
    json = media_type.strip().lower().startswith("application/json")
    return about_files(path) and method in SENDING and not json


class LimitedBody:
    """The receiving end of one request; ``refused`` is the error that ended it, if one did."""

    def __init__(self, receive: Receive, *, most: int, limit: str, seconds: float, whole: bool):
        self._receive = receive
        self._most = most
        self._limit = limit
        self._seconds = seconds
        # A file may take as long as it likes, as long as it goes on coming.
        self._ends = time.monotonic() + seconds if whole else None
        self._count = 0
        self._done = False
        self.refused: QuothError | None = None
        self.good: Callable[[], Awaitable[bool]] | None = None

    @classmethod
    def of(
        cls, receive: Receive, *, headers: Headers, path: str, method: str, settings: Settings
    ) -> LimitedBody:
        """Make the receiving end with the limits of this request."""
        file = brings_file(path, method=method, media_type=headers.get("content-type", ""))
        if file:
            most = settings.max_upload_mb * 2**20 + ROOM_FOR_FORM
            limit = f"A file can have up to {settings.max_upload_mb} MB."
        else:
            most = settings.max_body_kb * 2**10
            limit = f"A body can have up to {settings.max_body_kb} kB."
        seconds = settings.body_seconds
        return cls(receive, most=most, limit=limit, seconds=seconds, whole=not file)

    def check(self, headers: Headers) -> None:
        """Refuse a body that is announced as too large, unread; raises TooLarge."""
        if "content-length" in headers and "transfer-encoding" in headers:
            # What comes behind it would be read by one as its end and by another as a request.
            raise InputError("A request says in one way how long it is, not in two.")
        announced = headers.get("content-length", "0")
        if not (announced.isascii() and announced.isdigit()):
            raise InputError("The header Content-Length is no number.")
        if len(announced) > 18 or int(announced) > self._most:
            raise TooLarge(self._limit)

    async def __call__(self) -> Message:
        """Receive a message; raises TooLarge, TooSlow and Denied; then nothing more is received."""
        if self.refused is not None:
            raise self.refused
        if self._done:
            return await self._receive()
        ends = self._ends or time.monotonic() + self._seconds
        try:
            async with asyncio.timeout(ends - time.monotonic()):
                message = await self._receive()
        except TimeoutError:
            self.refused = TooSlow(
                f"The body did not come in within {self._seconds:g} s. Send it again."
            )
            raise self.refused from None
        if self.good is not None and not await self.good():
            self.refused = Denied("This key was revoked while the body came in.", status=401)
            raise self.refused
        self._count += len(message.get("body", b""))
        self._done = not message.get("more_body", False)
        if self._count > self._most:
            self.refused = TooLarge(self._limit)
            raise self.refused
        return message
