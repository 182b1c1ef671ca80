"""What the tests of the routes share."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest_asyncio

from tests.support.service_client import House


@pytest_asyncio.fixture(loop_scope="module")
async def ada(house: House) -> AsyncIterator[httpx.AsyncClient]:
    """A tenant with what the module's house holds, whose documents no test takes away."""
    async with house.client(house.key("ada")) as client:
        yield client
