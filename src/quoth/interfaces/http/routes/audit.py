"""The route for the audit log of a tenant."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from quoth.interfaces.http.dependencies import Admin
from quoth.interfaces.http.responses import ApiResponse
from quoth.interfaces.http.schemas import Limit
from quoth.store.audit import Audit, AuditRow

router = APIRouter(tags=["privacy"])
MAX_NUMBER = 2**63 - 1
"""The greatest integer that either database compares with."""


@dataclass(frozen=True, slots=True)
class AuditRows:
    """Rows of the audit log, the newest first."""

    rows: list[AuditRow]


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
