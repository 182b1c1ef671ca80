"""Where questions of a crowd wait before the walls know of them: the ASGI side of `come_near`.

Behind the walls one that waits takes 25 kB, with the coroutines of every wall; here it takes 6.
Nothing is decided here: one that waits in vain goes on, and is told as everybody is.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from time import monotonic

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from quoth.core.errors import Denied
from quoth.interfaces.http.middleware.admission import arrive, is_question_request
from quoth.interfaces.http.middleware.concurrency_limit import Admission
from quoth.interfaces.http.middleware.credentials import Credentials, token_of
from quoth.store.keys import ApiKey
from quoth.store.shares import Share

SMALL_BYTES = 16_384
"""A question whose body is longer goes on to the gate, which bounds bodies."""


class FrontQueue:
    """Lets few more questions in than can be answered; stands in front of the app.

    Only those wait here who would pass the gate: they bring a key that it knows, of which fewer
    than ``most_of_a_key`` questions wait.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        admission: Admission,
        credentials: Credentials,
        most_of_a_key: int,
    ) -> None:
        self.app = app
        self.admission = admission
        self._credentials = credentials
        self._most = most_of_a_key
        self._waiting: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, a question when few are ahead of it."""
        found = self._known(scope) if is_question_request(scope) else None
        key = "" if found is None else peek_request_id(found)
        if found is None or self._waiting[key] >= self._most:
            await self.app(scope, receive, send)
            return
        state = scope.setdefault("state", {})
        state["came"] = monotonic()
        self._waiting[key] += 1
        try:
            near = await self.admission.acquire_front(found.tenant)
        finally:
            self._waiting[key] -= 1
            if not self._waiting[key]:
                del self._waiting[key]
        state["comes"] = state["may_wait"] = near
        try:
            await self.app(scope, receive, send)
        finally:
            arrive(state, self.admission)

    def _known(self, scope: Scope) -> ApiKey | Share | None:
        token = token_of_small(scope)
        return self._credentials.known(token) if token else None


def peek_request_id(found: ApiKey | Share) -> str:
    """Give the id of what a token opens."""
    return found.key_id if isinstance(found, ApiKey) else found.share_id


def token_of_small(scope: Scope) -> str:
    """Give the token of a request whose body is small and comes unasked, else nothing."""
    headers = Headers(raw=scope["headers"])  # by the scope it would make a list of its own
    length = headers.get("content-length", "")
    plain = length.isascii() and length.isdigit() and len(length) <= len(str(SMALL_BYTES))
    if not plain or int(length) > SMALL_BYTES or "expect" in headers:
        return ""
    with suppress(Denied):  # for bringing two
        return token_of(headers)
    return ""
