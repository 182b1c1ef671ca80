"""Limits the size of request bodies and the time they may take."""

from __future__ import annotations

import asyncio
from time import monotonic

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quoth.core.errors import InputError, QuothError, TooLarge
from quoth.core.settings import Settings
from quoth.interfaces.http.request_state import RequestState, request_state

FORM_OVERHEAD_BYTES = 65_536
"""Bytes that a form may have around its file."""
SENDING_METHODS = frozenset({"POST", "PUT", "PATCH"})


class TooSlow(InputError):
    """The body took too long to arrive."""

    code = "too_slow"
    status = 408


class BodyLimitMiddleware:
    """Refuses bodies that are too large or too slow, whatever length they announce.

    A file may take as long as it needs while bytes keep coming; any other body has
    ``settings.body_seconds`` in total.
    """

    def __init__(self, app: ASGIApp, *, settings: Settings) -> None:
        self.app = app
        self.settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a connection."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = request_state(scope)
        max_bytes, too_large = self._limit(request)
        check_announced_length(request, max_bytes=max_bytes, too_large=too_large)
        seconds, is_file = self.settings.body_seconds, self._is_file(request)
        deadline, count = monotonic() + seconds, 0

        def refuse(error: QuothError) -> QuothError:
            request.refusal = error
            return error

        async def receive_within_limits() -> Message:
            nonlocal count
            if request.refusal is not None:
                raise request.refusal
            if request.body_complete:
                return await receive()
            try:
                async with asyncio.timeout(seconds if is_file else deadline - monotonic()):
                    message = await receive()
            except TimeoutError:
                slow = f"The body did not arrive within {seconds:g} s. Send it again."
                raise refuse(TooSlow(slow)) from None
            count += len(message.get("body", b""))
            request.body_complete = not message.get("more_body", False)
            if count > max_bytes:
                raise refuse(TooLarge(too_large))
            return message

        await self.app(scope, receive_within_limits, send)

    def _limit(self, request: RequestState) -> tuple[int, str]:
        """Return the largest body in bytes, and the message for a larger one."""
        if self._is_file(request):
            max_mb = self.settings.max_upload_mb
            return max_mb * 2**20 + FORM_OVERHEAD_BYTES, f"A file can have up to {max_mb} MB."
        max_kb = self.settings.max_body_kb
        return max_kb * 2**10, f"A body can have up to {max_kb} kB."

    def _is_file(self, request: RequestState) -> bool:
        """Return whether the body is a file, or a part of one, rather than JSON."""
        media_type = request.headers.get("content-type", "").strip().lower()
        json = media_type.startswith("application/json")
        return request.kind == "files" and request.method in SENDING_METHODS and not json


def check_announced_length(request: RequestState, *, max_bytes: int, too_large: str) -> None:
    """Refuse a body whose announced length is too large or invalid, unread."""
    if "content-length" in request.headers and "transfer-encoding" in request.headers:
        # A proxy and this server could disagree about where the next request begins.
        raise InputError("Content-Length and Transfer-Encoding cannot be sent together.")
    announced = request.headers.get("content-length", "0")
    if not (announced.isascii() and announced.isdigit()):
        raise InputError("The header Content-Length is not a number.")
    if len(announced) > 18 or int(announced) > max_bytes:
        raise TooLarge(too_large)
