"""Routes for a tenant's privacy settings, export, deletion and audit log."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from quoth.engine import Engine
from quoth.interfaces.http.dependencies import Admin, Owner
from quoth.interfaces.http.request_state import request_state
from quoth.interfaces.http.responses import ApiResponse, to_json
from quoth.interfaces.http.schemas import Body, Limit, file_content
from quoth.operations.purge import PurgeReport, delete_everything, purge
from quoth.operations.tenant_data import DeletionReceipt, TenantData
from quoth.pipeline.egress import EgressEntry, list_egress, read_privacy
from quoth.store.audit import Audit, AuditRow
from quoth.store.privacy_settings import (
    AUDIT_DAYS,
    MAX_DAYS,
    HistoryLevel,
    PrivacyStore,
)

router = APIRouter(tags=["privacy"])
MAX_NUMBER = 2**63 - 1
"""The greatest integer that either database compares with."""


class PrivacyUpdate(Body):
    """New privacy settings; they replace the former ones as a whole."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"history": "hash", "retention_days": 30, "may_leave": False}]
        },
    )

    history: HistoryLevel
    """What is stored of a query: everything, no texts, nothing."""
    retention_days: int = Field(ge=1, le=MAX_DAYS)
    """Days after which queries, answers and feedback are deleted."""
    may_leave: bool
    """Whether texts may be sent to the places that ``leaves`` lists."""


@dataclass(frozen=True, slots=True)
class PrivacyView:
    """The privacy settings in force for the tenant.

    ``history`` is what is kept of a question, which is never more than the operator keeps;
    ``leaves`` lists where texts are sent if ``may_leave`` is true, nothing else leaves.
    """

    history: HistoryLevel
    retention_days: int
    audit_days: int
    may_leave: bool
    leaves: tuple[EgressEntry, ...]
    telemetry: bool
    decided_at: str | None


@dataclass(frozen=True, slots=True)
class Deleted:
    """What was deleted, and whether all of it is gone from the disk."""

    proof: DeletionReceipt
    purged: PurgeReport
    complete: bool


@dataclass(frozen=True, slots=True)
class AuditRows:
    """Rows of the audit log, the newest first."""

    rows: list[AuditRow]


@router.get("/v1/privacy", summary="Show the privacy settings", response_model=PrivacyView)
async def show(caller: Owner) -> Response:
    """Show what is stored of this tenant, for how long, and which texts are sent where."""
    return ApiResponse(await asyncio.to_thread(_holding, caller.engine))


@router.put("/v1/privacy", summary="Change the privacy settings", response_model=PrivacyView)
async def decide(caller: Admin, wanted: PrivacyUpdate) -> Response:
    """Change the settings of the whole tenant, from the next query on."""
    engine = caller.engine
    await asyncio.to_thread(
        PrivacyStore.of(engine.parts.catalogue).decide,
        history=wanted.history,
        retention_days=wanted.retention_days,
        may_leave=wanted.may_leave,
    )
    return ApiResponse(await asyncio.to_thread(_holding, engine))


@router.get(
    "/v1/privacy/export",
    summary="Take everything",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "A row in each line.",
            "content": file_content(["application/jsonl"]),
        }
    },
)
async def export(caller: Admin) -> Response:
    """Return everything that is stored of this tenant as JSON lines, each with its ``table``.

    The documents' own files are given by ``GET /v1/documents/{document_id}/original``.
    """
    return StreamingResponse(
        _lines(TenantData.of(caller.engine.parts.catalogue)),
        media_type="application/jsonl",
        headers={"content-disposition": 'attachment; filename="quoth-export.jsonl"'},
    )


@router.delete("/v1/privacy/data", summary="Delete everything", response_model=Deleted)
async def delete(caller: Admin, request: Request) -> Response:
    """Delete all documents, queries and shares of this tenant, and every trace of them.

    Keys, decisions and the audit stay: the audit holds the digest of what was deleted.
    """
    proof, done = await delete_everything(caller.engine.parts)
    request_state(request.scope).object_id = proof.digest
    return ApiResponse(Deleted(proof, done, done.complete))


@router.post("/v1/privacy/purge", summary="Leave no trace of what was deleted")
async def purge_now(caller: Admin) -> PurgeReport:
    """Remove every trace of documents that were deleted: old versions, quotes, free pages."""
    return await purge(caller.engine.parts)


@router.get("/v1/audit", summary="List the audit log", response_model=AuditRows)
async def audit_rows(
    caller: Admin,
    limit: Limit = 50,
    before: Annotated[
        int | None, Query(ge=1, le=MAX_NUMBER, description="Only rows before this number.")
    ] = None,
) -> Response:
    """List who did what in this tenant, the newest first."""
    audit = Audit.of(caller.engine.parts.catalogue)
    return ApiResponse(AuditRows(await asyncio.to_thread(audit.rows, limit=limit, before=before)))


def _lines(everything: TenantData) -> Iterator[bytes]:
    for row in everything.rows():
        yield to_json(row) + b"\n"


def _holding(engine: Engine) -> PrivacyView:
    holds = read_privacy(engine.parts)
    return PrivacyView(
        history=holds.history,
        retention_days=holds.retention_days,
        audit_days=AUDIT_DAYS,
        may_leave=holds.may_leave,
        leaves=list_egress(engine.parts),
        telemetry=False,
        decided_at=holds.decided_at,
    )
