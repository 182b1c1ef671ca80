"""The gate: what stands before everything, and lets nobody in whom it does not know.

    name → page → key → rate → room → the application → headers

It reads no byte of a body; what it refuses, the application never hears of.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from functools import partial
from typing import cast

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quoth.core.errors import (
    BackendError,
    Busy,
    Denied,
    QuothError,
    TooLarge,
)
from quoth.core.settings import Settings
from quoth.interfaces.http.dependencies import Principal
from quoth.interfaces.http.middleware.body_limit import LimitedBody, about_files
from quoth.interfaces.http.middleware.credentials import Credentials, token_of
from quoth.interfaces.http.middleware.rate_limit import GcraLimiter, RequestQuota, client_network
from quoth.interfaces.http.middleware.security_headers import add_security_headers, request_id_of
from quoth.interfaces.http.middleware.shutdown import last_event
from quoth.interfaces.http.middleware.trusted_host import (
    READING,
    check_host,
    check_origin,
    is_loopback,
    names_of,
)
from quoth.interfaces.http.openai_schemas import spoken_at
from quoth.interfaces.http.problem_details import problem
from quoth.interfaces.http.server.h11_protocol import HEAD_BYTES
from quoth.store import keys, shares
from quoth.store.keys import SCOPES, ApiKey
from quoth.store.shares import Share
from quoth.tenants import Tenants

OPEN = frozenset({"/healthz"})
"""All that is answered without a key."""
WEBSOCKET = "WEBSOCKET"
"""What stands for the method of a connection that stays open."""
FORWARDED = ("forwarded", "via", "x-forwarded-", "x-real-ip", "x-client-ip", "true-client-", "cf-")
"""How headers begin in which a proxy says for whom it speaks: who comes through one may sit
anywhere."""
LOCAL = "local"
"""The key id of the owner at his own machine."""

NO_KEY = "This needs a key. Send it as: Authorization: Bearer KEY"
WRONG_KEY = "This key opens nothing here: it is not known, was revoked or has run out."
TOO_OFTEN = (
    "{:,.0f} wrong keys a minute may come from an address, and that many did. Try again later, "
    "with a good one."
)


class AuthMiddleware:
    """The walls before an application; ``bound`` is the address that the server listens on.

    The caller is put into ``scope["state"]["caller"]``, beside it the request's id and when it came
    (``came``, by `time.monotonic`). ``clock`` gives seconds and never goes back.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        tenants: Tenants,
        settings: Settings,
        bound: str = "127.0.0.1",
        credentials: Credentials | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._app = app
        self._tenants = tenants
        self._settings = settings
        self._names = names_of(bound, more=settings.hosts)
        self._at_home = all(is_loopback(each) for each in (bound, *self._names))
        self._credentials = credentials or Credentials(tenants.database, clock=clock)
        self._wrong = GcraLimiter(
            settings.wrong_keys_per_minute, burst=settings.wrong_keys_per_minute, clock=clock
        )
        self._work = RequestQuota(
            "questions",
            rate=GcraLimiter(
                settings.key_questions_per_minute, burst=settings.key_questions_burst, clock=clock
            ),
            in_flight=settings.key_questions_at_once,
        )
        self._rest = RequestQuota(
            "requests",
            rate=GcraLimiter(
                settings.key_requests_per_minute,
                burst=max(settings.key_requests_per_minute // 4, settings.key_requests_at_once),
                clock=clock,
            ),
            in_flight=settings.key_requests_at_once,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection as ASGI."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        reply = ErrorResponder(send, path=scope["path"], request_id=request_id_of(headers))
        state = scope.setdefault("state", {})
        state["request_id"] = reply.request_id
        state.setdefault("came", time.monotonic())
        try:
            await self._admit(scope, receive, reply, headers=headers)
        except QuothError as error:
            if reply.begun:
                raise
            await refuse(scope, receive, reply, error=error, headers=headers)

    async def _admit(
        self, scope: Scope, receive: Receive, reply: ErrorResponder, *, headers: Headers
    ) -> None:
        web = scope["type"] == "http"
        method = scope["method"].upper() if web else WEBSOCKET
        path = scope["path"]
        check_head(scope)
        check_host(headers, names=self._names, reached=scope.get("server"))
        check_origin(headers, method=method)
        if path in OPEN and method in READING:
            await self._app(scope, receive, reply)
            return
        caller = await self._caller(scope, headers, request_id=reply.request_id)
        scope["state"]["caller"] = caller
        if caller.key_id != LOCAL:
            reply.good = partial(self._still_good, token_of(headers))
        asks = method not in READING and method != WEBSOCKET and not about_files(path)
        lane = self._work if asks else self._rest
        # Nobody is kept from using all of his own machine.
        counted = nullcontext() if caller.key_id == LOCAL else lane.held(caller.key_id)
        with counted:
            await self._pass(scope, receive, reply, headers=headers, method=method)

    async def _pass(
        self,
        scope: Scope,
        receive: Receive,
        reply: ErrorResponder,
        *,
        headers: Headers,
        method: str,
    ) -> None:
        """Let the application answer, unless too large a body shows up while it reads."""
        if scope["type"] != "http":
            await self._app(scope, receive, reply)
            return
        intake = LimitedBody.of(
            receive, headers=headers, path=scope["path"], method=method, settings=self._settings
        )
        intake.check(headers)
        intake.good = reply.good
        reply.intake = intake
        try:
            await self._app(scope, intake, reply)
        except QuothError:
            if intake.refused is None:
                raise
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if not reply.cut or task is None or task.uncancel():
                raise
            await reply.end()
        if intake.refused is not None and not reply.begun:
            raise intake.refused

    async def _caller(self, scope: Scope, headers: Headers, *, request_id: str) -> Principal:
        """Find out who asks; raises Denied with 401, and Busy with 429 after many wrong keys."""
        client = scope.get("client")
        address = str(client[0])[:60] if client else ""
        token = token_of(headers)
        # Programs that cannot do without a key may send anything where none is needed.
        if not token.startswith((keys.LABEL, shares.LABEL)) and await self._owner(address, headers):
            tenant = self._settings.tenant
            engine = self._tenants.engine(tenant)
            return Principal(tenant, LOCAL, frozenset(SCOPES), engine, request_id, address)
        if not token:
            raise Denied(NO_KEY, status=401)
        found = await self._checked(token, client_network(address))
        engine = self._tenants.engine(found.tenant)
        if isinstance(found, ApiKey):
            scopes = frozenset(found.scopes)
            return Principal(found.tenant, found.key_id, scopes, engine, request_id, address)
        return Principal(
            found.tenant,
            found.share_id,
            frozenset({"read"}),
            engine,
            request_id,
            address,
            collection=found.collection,
        )

    async def _checked(self, token: str, origin: str) -> ApiKey | Share:
        wait = self._wrong.wait_s(origin)
        # After many wrong keys no other is tried, but who was known goes on: somebody else's
        # guesses from behind the same address do not shut him out.
        if wait and not self._credentials.remembers(token):
            raise Busy(TOO_OFTEN.format(self._wrong.per_minute), status=429, retry_after_s=wait)
        found = await self._credentials.find(token)
        if found is None:
            self._wrong.take(origin)
            raise Denied(WRONG_KEY, status=401)
        return found

    async def _still_good(self, token: str) -> bool:
        """Whether a key is still good that opened what is under way."""
        try:
            return await self._credentials.find(token) is not None
        except BackendError:
            return True  # that keys cannot be looked up for a moment revokes none

    async def _owner(self, address: str, headers: Headers) -> bool:
        """Whether who comes without a key is the owner of this machine, before there are keys."""
        needed = self._settings.keys_needed
        if needed == "always" or not self._at_home or not is_loopback(address):
            return False
        if any(each.startswith(FORWARDED) for each in headers):
            return False
        return needed == "never" or not await self._credentials.any()


class LongHead(TooLarge):
    """The head of a request is over the limit."""

    status = 431


def check_head(scope: Scope) -> None:
    """Refuse a head that is too long, also where all of it came at once; raises LongHead."""
    address = len(scope.get("raw_path") or b"") + len(scope.get("query_string") or b"")
    if address + sum(len(name) + len(value) for name, value in scope["headers"]) > HEAD_BYTES:
        limit = f"{HEAD_BYTES // 1024} kB"
        raise LongHead(f"The head of a request, its address included, can have up to {limit}.")


class ErrorResponder:
    """The sending end of one request: dresses the response, and holds it back after a refusal."""

    def __init__(self, send: Send, *, path: str, request_id: str) -> None:
        self._send = send
        self._path = path
        self.request_id = request_id
        self.begun = False
        self.intake: LimitedBody | None = None
        self.good: Callable[[], Awaitable[bool]] | None = None
        self.cut = False
        self._streams = False
        self._task = asyncio.current_task()

    async def __call__(self, message: Message) -> None:
        """Send a message on, unless the key of a long answer was revoked meanwhile."""
        if self.cut:
            return
        if message.get("more_body") and self.good is not None and not await self.good():
            self.cut = True
            if self._task is not None:
                self._task.cancel()
            return
        # What the application makes of a body that was cut off is not what its sender is told.
        if not self.begun and self.intake is not None and self.intake.refused is not None:
            return
        self.begun = True
        if message["type"] in STARTS:
            message.setdefault("headers", [])
            headers = MutableHeaders(raw=cast("list[tuple[bytes, bytes]]", message["headers"]))
            add_security_headers(headers, path=self._path, request_id=self.request_id)
            self._streams = headers.get("content-type", "").startswith("text/event-stream")
            message = {**message, "headers": headers.raw}
        await self._send(message)

    async def end(self) -> None:
        """End an answer that was cut off; one of a known length just breaks off."""
        if self._streams:
            told = problem(Denied(WRONG_KEY, status=401), request_id=self.request_id)
            said = last_event(told, path=self._path)
            await self._send({"type": "http.response.body", "body": said})


STARTS = frozenset({"http.response.start", "websocket.http.response.start", "websocket.accept"})
POLICY_VIOLATED = 1008
"""The code with which a WebSocket is closed that may not be opened (RFC 6455)."""


async def refuse(
    scope: Scope, receive: Receive, reply: ErrorResponder, *, error: QuothError, headers: Headers
) -> None:
    """Answer without the application, and without reading what was sent."""
    reply.intake = None
    found = spoken_at(scope["path"], problem(error, request_id=reply.request_id))
    if scope["type"] == "websocket":
        await receive()
        if "websocket.http.response" not in scope.get("extensions", {}):
            await reply({"type": "websocket.close", "code": POLICY_VIOLATED})
            return
    kind = "websocket.http.response" if scope["type"] == "websocket" else "http.response"
    said = {**found.headers, "content-length": str(len(found.body))}
    if "content-length" in headers or "transfer-encoding" in headers:
        # Else the server would read on to the body's end, for the next request behind it.
        said["connection"] = "close"
    raw = [(name.encode(), value.encode()) for name, value in said.items()]
    await reply({"type": f"{kind}.start", "status": found.status, "headers": raw})
    body = b"" if scope.get("method") == "HEAD" else found.body
    await reply({"type": f"{kind}.body", "body": body})
