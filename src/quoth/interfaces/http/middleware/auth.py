"""Authentication: finds the tenant and the scopes of a request by its API key or share."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quoth.core.errors import BackendError, Busy, Denied
from quoth.core.settings import Settings
from quoth.interfaces.http.middleware.credentials import Credentials
from quoth.interfaces.http.middleware.rate_limit import GcraLimiter, client_network
from quoth.interfaces.http.middleware.trusted_host import (
    are_ours,
    host_names,
    is_loopback,
    require_own_page,
)
from quoth.interfaces.http.request_state import (
    LINKS_PATH,
    LOCAL,
    NO_KEY,
    READING_METHODS,
    SESSION_PATH,
    Principal,
    RequestState,
    request_state,
)
from quoth.interfaces.http.signed_links import LinkSigner
from quoth.interfaces.web.routes import is_public
from quoth.store import keys, sessions, shares
from quoth.store.keys import SCOPES, ApiKey
from quoth.store.shares import Share
from quoth.tenants import Tenants

READY_PATH = "/readyz"
"""Says without a key whether the service is ready, and with one why it is not."""
PUBLIC_PATHS = frozenset({"/healthz"})
"""Paths that are answered without a key, as are the pages of the web app."""
FORWARDED = ("forwarded", "via", "x-forwarded-", "x-real-ip", "x-client-ip", "true-client-", "cf-")
"""How the headers begin by which a proxy names its client, who may be on another machine."""

WRONG_KEY = "This key is not valid: it is unknown, was revoked or has expired."
SESSION_OVER = "This session is over. Sign in again with a key."
SESSIONS_PER_WRONG_KEY = 20
"""So many requests with a session that is over count as one wrong key."""
SIGN_INS_PER_MINUTE = 30
TOO_MANY_SIGN_INS = "Up to {:,.0f} browsers a minute can sign in from one address. Try again later."
TOO_MANY_WRONG_KEYS = (
    "Too many wrong keys came from this address: the limit is {:,.0f} a minute. Try again later "
    "with a valid key."
)


class AuthMiddleware:
    """Sets the principal of every request, and refuses requests without one.

    ``bound`` is the address that the server listens on. A request whose key is revoked while
    its body comes in, or while its response is streamed, is ended. ``clock`` gives seconds.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        tenants: Tenants,
        settings: Settings,
        bound: str = "127.0.0.1",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.app = app
        self._tenants = tenants
        self._settings = settings
        names = host_names(bound, settings=settings)
        self._local_only = all(is_loopback(name) for name in (bound, *names))
        self._public_host = urlsplit(settings.public_url or "").netloc
        self._links = LinkSigner(settings)
        self._credentials = Credentials(tenants.database, clock=clock)
        per_minute = settings.wrong_keys_per_minute
        self._wrong_keys = GcraLimiter(per_minute, burst=per_minute, clock=clock)
        # A page whose session is over may ask for many things before its user signs in again.
        often = SESSIONS_PER_WRONG_KEY * per_minute
        self._over_sessions = GcraLimiter(often, burst=often, clock=clock)
        self._sign_ins = GcraLimiter(SIGN_INS_PER_MINUTE, burst=SIGN_INS_PER_MINUTE, clock=clock)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a connection; raises Denied with 401, and Busy with 429 after many wrong keys."""
        request = request_state(scope)
        client = scope.get("client")
        address = str(client[0])[:60] if client else ""
        only_reads = request.method in READING_METHODS
        if only_reads and (request.path in PUBLIC_PATHS or is_public(request.path)):
            pass  # it needs no principal
        elif only_reads and request.path.startswith(LINKS_PATH):
            request.principal = self._linked(request.path, address)
        elif request.path == READY_PATH and not request.credential:
            if await self._is_local_owner(request, address, token=""):
                request.principal = self._local(address)
        elif request.path == SESSION_PATH:
            request.sign_in = partial(self._sign_in, request, address)
            with suppress(Denied):
                request.principal = await self._authenticate(request, address)
        else:
            request.principal = await self._authenticate(request, address)
            if request.principal.key_id != LOCAL:
                await self._serve_while_valid(scope, receive, send, request=request)
                return
        await self.app(scope, receive, send)

    async def _serve_while_valid(
        self, scope: Scope, receive: Receive, send: Send, *, request: RequestState
    ) -> None:
        started = revoked_in_response = False

        async def check(message: str) -> None:
            if not await self._still_valid(request.credential):
                request.refusal = Denied(message, status=401)
                raise request.refusal

        async def receive_while_valid() -> Message:
            message = await receive()
            if message["type"] == "http.request":
                await check("This key was revoked while the body was received.")
            return message

        async def send_while_valid(message: Message) -> None:
            nonlocal started, revoked_in_response
            if message.get("more_body") and not revoked_in_response:
                try:
                    await check(WRONG_KEY)
                except Denied:
                    revoked_in_response = True
                    raise
            started = True
            await send(message)

        try:
            await self.app(scope, receive_while_valid, send_while_valid)
        except Exception:
            # The framework reports the interrupted response as an error of its own.
            if not (started and revoked_in_response):
                raise

    async def _authenticate(self, request: RequestState, address: str) -> Principal:
        token = request.credential
        if await self._is_local_owner(request, address, token=token):
            return self._local(address)
        if not token:
            raise Denied(NO_KEY, status=401)
        if request.token:
            return await self._principal(token, address)
        require_own_page(request.headers, method=request.method, public_host=self._public_host)
        return await self._find(token, address, failures=self._over_sessions, refusal=SESSION_OVER)

    async def _sign_in(self, request: RequestState, address: str, token: str) -> Principal:
        """Return the principal of a key that came in the body; raises as a request with it does."""
        if await self._is_local_owner(request, address, token=token):
            return self._local(address)
        wait = self._sign_ins.take(client_network(address))
        if wait:
            message = TOO_MANY_SIGN_INS.format(SIGN_INS_PER_MINUTE)
            raise Busy(message, status=429, retry_after_s=wait)
        return await self._principal(token, address)

    async def _principal(self, token: str, address: str) -> Principal:
        """Return the principal of a key or a share; raises Denied and Busy."""
        if token.startswith(sessions.LABEL):
            raise Denied(WRONG_KEY, status=401)  # a session is a cookie and nothing else
        return await self._find(token, address, failures=self._wrong_keys, refusal=WRONG_KEY)

    def _linked(self, path: str, address: str) -> Principal:
        """Return the reader whom a signed link admits to one document; raises Denied."""
        target = self._links.read(path.removeprefix(LINKS_PATH).partition("/")[0])
        return Principal(
            target.tenant,
            f"link:{target.document_id}",
            frozenset(),
            self._tenants.engine(target.tenant),
            address,
            collection=target.collection,
            document=target.document_id,
        )

    def _local(self, address: str) -> Principal:
        """Return the owner of this machine."""
        engine = self._tenants.engine(self._settings.tenant)
        return Principal(self._settings.tenant, LOCAL, frozenset(SCOPES), engine, address)

    def _principal_of(self, found: ApiKey | Share, address: str) -> Principal:
        engine = self._tenants.engine(found.tenant)
        if isinstance(found, ApiKey):
            return Principal(found.tenant, found.key_id, frozenset(found.scopes), engine, address)
        live = found.lecture_id is not None
        return Principal(
            found.tenant,
            found.share_id,
            frozenset(() if live else ("read",)),
            engine,
            address,
            collection=found.collection,
            lecture=found.lecture_id,
        )

    async def _find(
        self, token: str, address: str, *, failures: GcraLimiter, refusal: str
    ) -> Principal:
        found = await self._credentials.find(token)
        if found is not None:  # whatever else came from this network: guesses lock no key out
            return self._principal_of(found, address)
        if wait := failures.take(client_network(address)):
            message = TOO_MANY_WRONG_KEYS.format(failures.per_minute)
            raise Busy(message, status=429, retry_after_s=wait)
        raise Denied(refusal, status=401)

    async def _still_valid(self, token: str) -> bool:
        try:
            return await self._credentials.find(token) is not None
        except BackendError:
            return True  # a store that is down for a moment revokes no key

    async def _is_local_owner(self, request: RequestState, address: str, *, token: str) -> bool:
        """Return whether a request without a key comes from this machine and needs none.

        Clients that always send a key may send any text where none is needed.
        """
        if token.startswith((keys.LABEL, shares.LABEL)):
            return False
        needed = self._settings.keys_needed
        if needed == "always" or not self._local_only or not is_loopback(address):
            return False
        if any(name.startswith(FORWARDED) for name in request.headers):
            return False
        origins = request.headers.getlist("origin")
        if not are_ours(origins, request.headers, public_host=self._public_host):
            return False  # a web app elsewhere, which `cors_origins` lets in with a key only
        return needed == "never" or not await self._credentials.any_key_exists()
