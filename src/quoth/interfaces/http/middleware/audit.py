"""The audit log: one row for every request that changes something, queries, or is refused.

It is written only here, around authentication and every route. The row is written
when the status of the response is known and before a byte of it is sent, so that no client holds
an answer that the audit log lacks. Rows of simultaneous requests share a transaction.
"""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quoth.core.errors import BackendError, QuothError
from quoth.interfaces.http.middleware.rate_limit import GcraLimiter, client_network
from quoth.interfaces.http.request_state import (
    READING_METHODS,
    RequestState,
    request_state,
    routes_at,
)
from quoth.store.audit import Audit, AuditEntry, ChainTip, store_head
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
    "POST /v1/queries/{query_id}/replay": "ask",
    "GET /v1/audit": "audit.read",
    "POST /v1/uploads": "upload.begin",
    "PATCH /v1/uploads/{upload_id}": "upload.send",
    "DELETE /v1/uploads/{upload_id}": "upload.stop",
    "DELETE /v1/operator/uploads/{upload_id}": "operator.upload.cancel",
    "POST /v1/operator/uploads/{upload_id}/retry": "operator.upload.retry",
    "PATCH /v1/documents/{document_id}": "document.correct",
    "DELETE /v1/documents/{document_id}": "document.delete",
    "POST /v1/sample": "sample.add",
    "POST /v1/collections": "collection.make",
    "POST /v1/collections/{name}/reindex": "collection.reindex",
    "DELETE /v1/collections/{name}": "collection.delete",
    "POST /v1/keys": "key.make",
    "DELETE /v1/keys/{key_id}": "key.revoke",
    "POST /v1/session": "session.begin",
    "DELETE /v1/session": "session.end",
    "POST /v1/shares": "share.make",
    "DELETE /v1/shares/{share_id}": "share.revoke",
    "POST /v1/sessions": "lecture.begin",
    "PATCH /v1/sessions/{session_id}": "lecture.change",
    "DELETE /v1/sessions/{session_id}": "lecture.delete",
    "POST /v1/sessions/{session_id}/segments": "lecture.segments",
    "POST /v1/sessions/{session_id}/end": "lecture.end",
    "POST /v1/sessions/{session_id}/share": "lecture.share",
    "GET /v1/sessions/{session_id}/export": "lecture.export",
    "POST /v1/rag/query": "lecture.look_up",
    "PUT /v1/privacy": "privacy.set",
    "DELETE /v1/privacy/data": "privacy.delete",
    "POST /v1/privacy/purge": "privacy.purge",
    "GET /v1/privacy/export": "privacy.export",
}
"""The action of a request, by method and route; any other change is named by these two.

Requests that only read are in the audit log if they are listed here."""
DENIED = (401, 403)
TOO_MANY_REQUESTS = 429
"""A request over its limit has done nothing, and would fill the audit log."""
ANONYMOUS_PER_MINUTE = 60
"""Rows that requests without a valid key can add from one network; the rest is in the log."""

log = logging.getLogger("quoth.audit")


class AuditMiddleware:
    """Writes the audit log, around authentication and every route. A request refused without a
    tenant is in the log of the operator's tenant.
    """

    def __init__(self, app: ASGIApp, *, tenants: Tenants) -> None:
        self.app = app
        self._operator = tenants.settings.tenant
        self._anonymous = GcraLimiter(ANONYMOUS_PER_MINUTE, burst=ANONYMOUS_PER_MINUTE)
        self._writer = AuditWriter(tenants.database, home=tenants.settings.home)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a connection and write what became of it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        written = False

        async def write_and_send(message: Message) -> None:
            nonlocal written
            if message["type"] == "http.response.start" and not written:
                written = True
                await self._write(scope, status=message["status"])
            await send(message)

        try:
            await self.app(scope, receive, write_and_send)
        finally:
            if not written:
                await asyncio.shield(self._write(scope, status=None))

    async def _write(self, scope: Scope, *, status: int | None) -> None:
        request = request_state(scope)
        caller = request.principal
        action, object_id = _action(scope, request, status=status)
        client = scope.get("client")
        address = caller.address if caller is not None else str(client[0]) if client else ""
        if not action or status == TOO_MANY_REQUESTS:
            return
        if caller is None and self._anonymous.take(client_network(address)):
            return
        entry = AuditEntry(
            key_id="" if caller is None else caller.key_id,
            action=action,
            object_id=object_id if request.object_id is None else request.object_id,
            result=_result(status),
            request_id=request.request_id,
            address=address,
        )
        tenant = self._operator if caller is None else caller.tenant
        try:
            await self._writer.write(entry, tenant=tenant)
        except QuothError as error:
            # The request is done; that its row is missing must not be silent.
            log.error("audit_lost", extra={"action": action, "code": error.code})


def _action(scope: Scope, request: RequestState, *, status: int | None) -> tuple[str, str]:
    """Return the action and the ids in the path; an empty action for unaudited requests.

    A refused request that would only have read is "auth", its object the method and the route.
    """
    template, ids = _route(scope, request)
    name = f"{request.method} {template}"
    if name in ACTIONS:
        return ACTIONS[name], ids
    if template and request.method not in READING_METHODS:
        return name.casefold(), ids
    return ("auth", name.strip()) if status in DENIED else ("", "")


class AuditWriter:
    """Writes audit entries, simultaneous ones in one transaction, and stores the latest hash."""

    def __init__(self, database: Database, *, home: Path) -> None:
        self._database = database
        self._home = home
        self._waiting: dict[str, list[tuple[AuditEntry, asyncio.Future[None]]]] = {}
        self._writing: dict[str, asyncio.Task[None]] = {}

    async def write(self, entry: AuditEntry, *, tenant: str) -> None:
        """Return when the entry is in the tenant's chain; raises QuothError."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(tenant, []).append((entry, done))
        if tenant not in self._writing:
            self._writing[tenant] = asyncio.create_task(self._drain(tenant))
        await done

    async def _drain(self, tenant: str) -> None:
        try:
            while batch := self._waiting.pop(tenant, []):
                try:
                    await asyncio.to_thread(self._add, [entry for entry, _done in batch], tenant)
                except QuothError as error:
                    _settle(batch, error)
                except BaseException:
                    _settle(batch, BackendError("The audit log could not be written."))
                    raise
                else:
                    _settle(batch, None)
        finally:
            del self._writing[tenant]

    def _add(self, entries: list[AuditEntry], tenant: str) -> ChainTip:
        head = Audit(self._database, tenant=tenant).add(entries)
        store_head(self._home, tenant, head=head)
        # Logs are separate from the database: they prove the former length of the chain.
        log.info("audit", extra={"number": head.number, "hash": head.hash, "rows": len(entries)})
        return head


def _settle(batch: list[tuple[AuditEntry, asyncio.Future[None]]], error: QuothError | None) -> None:
    for _entry, done in batch:
        if done.done():
            continue  # its client disconnected
        if error is None:
            done.set_result(None)
        else:
            done.set_exception(error)


def _route(scope: Scope, request: RequestState) -> tuple[str, str]:
    """Return the template of a request's route and the ids in its path; ("", "") without one.

    A refused request never reaches its route, so the route is looked up here.
    """
    for route, found in routes_at(scope):
        if request.method in (route.methods or (request.method,)):
            return str(route.path), "/".join(group or "" for group in found.groups())
    return "", ""


def _result(status: int | None) -> str:
    if status is None:
        return "failed"
    return f"{'done' if status < 400 else 'refused' if status < 500 else 'failed'} {status}"
