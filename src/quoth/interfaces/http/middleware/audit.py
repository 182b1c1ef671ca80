"""Writes the audit: one row for every request that changes something, asks, or is turned away.

It is the one place where that happens, around the gate and every route. The row is written when
the response's status is known and before a byte of it goes out, so that nobody holds an answer
of which the audit knows nothing. Requests that come together share a transaction.
"""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

from fastapi.routing import iter_route_contexts
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quoth.core.errors import BackendError, QuothError
from quoth.interfaces.http.dependencies import Principal
from quoth.interfaces.http.middleware.rate_limit import GcraLimiter, client_network
from quoth.interfaces.http.middleware.trusted_host import READING
from quoth.store.audit import Audit, AuditEntry, ChainTip
from quoth.store.audit_head import keep_head
from quoth.store.database import Database
from quoth.tenants import Tenants

ACTIONS = {
    "POST /v1/query": "ask",
    "POST /v1/chat/completions": "ask",
    "POST /v1/search": "search",
    "POST /mcp": "mcp",
    "POST /v1/feedback": "feedback",
    "DELETE /v1/queries/{query_id}": "question.delete",
    "GET /v1/queries/{query_id}/export": "question.export",
    "POST /v1/uploads": "upload.begin",
    "PATCH /v1/uploads/{upload_id}": "upload.send",
    "DELETE /v1/uploads/{upload_id}": "upload.stop",
    "DELETE /v1/documents/{document_id}": "document.delete",
    "POST /v1/collections": "collection.make",
    "DELETE /v1/collections/{name}": "collection.delete",
    "POST /v1/keys": "key.make",
    "DELETE /v1/keys/{key_id}": "key.revoke",
    "POST /v1/shares": "share.make",
    "DELETE /v1/shares/{share_id}": "share.revoke",
    "PUT /v1/privacy": "privacy.set",
    "DELETE /v1/privacy/data": "privacy.delete",
    "POST /v1/privacy/purge": "privacy.purge",
    "GET /v1/privacy/export": "privacy.export",
}
"""What a request is called in the audit, by method and route; others are called by these two.

Requests that only read are noted where they stand here."""
DENIED = (401, 403)
SLOWED = 429
"""Who is told to come later has done nothing, and would fill the audit if that were noted."""
STRANGERS_PER_MINUTE = 60
"""Rows that somebody without a key can make from one address; the rest is in the access log."""

log = logging.getLogger("quoth.audit")


class AuditMiddleware:
    """The outermost layer of the app, around the gate.

    ``tenants`` gives the database and, for whoever was turned away without a tenant of their
    own, the operator's.
    """

    def __init__(self, app: ASGIApp, *, tenants: Tenants) -> None:
        self.app = app
        self._operator = tenants.settings.tenant
        self._strangers = GcraLimiter(STRANGERS_PER_MINUTE, burst=STRANGERS_PER_MINUTE)
        self._scribe = AuditWriter(tenants.database, home=tenants.settings.home)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and note what became of it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        # Layers within may hand on a copy of the scope, but this one dictionary goes with it.
        state: dict[str, Any] = scope.setdefault("state", {})
        noted = False

        async def watched(message: Message) -> None:
            nonlocal noted
            if message["type"] == "http.response.start" and not noted:
                noted = True
                await self._note(scope, state, status=message["status"])
            await send(message)

        try:
            await self.app(scope, receive, watched)
        finally:
            if not noted:
                await asyncio.shield(self._note(scope, state, status=None))

    async def _note(self, scope: Scope, state: dict[str, Any], *, status: int | None) -> None:
        action, object_id = self._action(scope, status=status)
        caller: Principal | None = state.get("caller")
        address = _address(scope, caller)
        if not action or status == SLOWED:
            return
        if caller is None and self._strangers.take(client_network(address)):
            return
        deed = AuditEntry(
            key_id="" if caller is None else caller.key_id,
            action=action,
            object_id=str(state.get("object_id", object_id)),
            result=_result(status),
            request_id=str(state.get("request_id") or getattr(caller, "request_id", "")),
            address=address,
        )
        tenant = self._operator if caller is None else caller.tenant
        try:
            await self._scribe.write(deed, tenant=tenant)
        except QuothError as error:
            # What was done is done; that it could not be noted must not be silent.
            log.error("audit_lost", extra={"action": action, "code": error.code})

    def _action(self, scope: Scope, *, status: int | None) -> tuple[str, str]:
        """Name a request and the thing it was about; an empty name for one that is not noted."""
        method = scope["method"]
        template, ids = _route(scope)
        name = f"{method} {template}"
        if name in ACTIONS:
            return ACTIONS[name], ids
        if template and method not in READING:
            return name.casefold(), ids
        return ("auth", "") if status in DENIED else ("", "")


class AuditWriter:
    """Writes deeds, those that come together in one transaction, and keeps the newest head."""

    def __init__(self, database: Database, *, home: Path) -> None:
        self._database = database
        self._home = home
        self._waiting: dict[str, list[tuple[AuditEntry, asyncio.Future[None]]]] = {}
        self._writing: dict[str, asyncio.Task[None]] = {}

    async def write(self, deed: AuditEntry, *, tenant: str) -> None:
        """Come back when the deed is in the tenant's chain; raises QuothError."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(tenant, []).append((deed, done))
        if tenant not in self._writing:
            self._writing[tenant] = asyncio.create_task(self._drain(tenant))
        await done

    async def _drain(self, tenant: str) -> None:
        try:
            while batch := self._waiting.pop(tenant, []):
                try:
                    await asyncio.to_thread(self._add, [deed for deed, _done in batch], tenant)
                except QuothError as error:
                    _settle(batch, error)
                except BaseException:
                    _settle(batch, BackendError("The audit could not be written."))
                    raise
                else:
                    _settle(batch, None)
        finally:
            del self._writing[tenant]

    def _add(self, deeds: list[AuditEntry], tenant: str) -> ChainTip:
        head = Audit(self._database, tenant=tenant).add(deeds)
        keep_head(self._home, tenant, head=head)
        # Logs are kept elsewhere than the database: they witness how far the chain once was.
        log.info("audit", extra={"number": head.number, "hash": head.hash, "rows": len(deeds)})
        return head


def _settle(batch: list[tuple[AuditEntry, asyncio.Future[None]]], error: QuothError | None) -> None:
    for _deed, done in batch:
        if done.done():
            continue  # its client is gone
        if error is None:
            done.set_result(None)
        else:
            done.set_exception(error)


def _route(scope: Scope) -> tuple[str, str]:
    """Give a request's route as it is written and the ids in its path; ("", "") without one.

    The gate turns requests away before they come to a route, so it is looked up here.
    """
    path, method = scope.get("path", ""), scope["method"]
    for route in iter_route_contexts(scope["app"].routes):
        regex = getattr(route.original_route, "path_regex", None)
        if regex is None or method not in (route.methods or (method,)):
            continue
        if found := regex.match(path):
            return str(route.path), "/".join(each or "" for each in found.groups())
    return "", ""


def _result(status: int | None) -> str:
    if status is None:
        return "failed"
    return f"{'done' if status < 400 else 'refused' if status < 500 else 'failed'} {status}"


def _address(scope: Scope, caller: Principal | None) -> str:
    if caller is not None:
        return caller.address
    client = scope.get("client")
    return client[0] if client else ""
