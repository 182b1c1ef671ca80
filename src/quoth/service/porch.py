"""Where questions of a crowd wait before the walls know of them: the ASGI side of `come_near`.

Behind the walls one that waits takes 20 kB, with the coroutines of every wall; here it takes 8.
Nothing is decided here: one that is not called in time goes on, and is told as everybody is.
"""

from __future__ import annotations

from time import monotonic

from starlette.types import ASGIApp, Receive, Scope, Send

from quoth.service.admission import Admission
from quoth.service.admitting import asks


class Porch:
    """The outermost layer of the app: lets only a few questions more in than can be answered."""

    def __init__(self, app: ASGIApp, *, admission: Admission) -> None:
        self.app = app
        self.admission = admission

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, a question when few are ahead of it."""
        if not asks(scope):
            await self.app(scope, receive, send)
            return
        state = scope.setdefault("state", {})
        state["came"] = monotonic()
        state["place"] = place = await self.admission.come_near(name_of(scope))
        try:
            await self.app(scope, receive, send)
        finally:
            if place != "none":
                self.admission.leave()


def name_of(scope: Scope) -> object:
    """Give what takes turns: the key that a request brings, good or not, else its address."""
    for name, value in scope["headers"]:
        if name in (b"authorization", b"x-api-key"):
            return value
    return (scope.get("client") or [""])[0]
