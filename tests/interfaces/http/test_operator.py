"""What a key of the operator sees and decides, and no other key."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import update

from quoth.store.schema import tasks
from tests.support.service_client import House, served


async def send(house: House, tenant: str) -> str:
    """Upload a note of a tenant, which waits in the queue."""
    async with house.client(house.key(tenant)) as client:
        sent = await client.post(f"/v1/uploads?name={tenant}.md", content=f"# {tenant}\n\nA note.")
        return str(sent.json()["id"])


async def test_the_operator_sees_and_decides_uploads_of_all_tenants(tmp_path: Path) -> None:
    async with served(tmp_path / "home") as house:
        ada, bob = await send(house, "ada"), await send(house, "bob")
        async with house.client(house.key("local")) as client:
            tenants = (await client.get("/v1/operator/tenants")).json()["tenants"]
            pending = {found["tenant"]: found["pending"] for found in tenants}
            assert (pending["ada"], pending["bob"]) == (1, 1)
            queue = (await client.get("/v1/operator/uploads?state=queued")).json()
            assert {found["id"] for found in queue["uploads"]} == {ada, bob}
            assert queue["queue_age_s"] >= 0
            assert (await client.delete(f"/v1/operator/uploads/{ada}")).status_code == 204
            with house.tenants.database.writing("fail") as connection:
                connection.execute(update(tasks).where(tasks.c.id == bob).values(state="failed"))
            assert (await client.post(f"/v1/operator/uploads/{bob}/retry")).status_code == 204
            (left,) = (await client.get("/v1/operator/uploads")).json()["uploads"]
            assert (left["id"], left["state"]) == (bob, "queued")
            assert (await client.delete("/v1/operator/uploads/none")).status_code == 404


async def test_an_admin_of_a_tenant_is_no_operator(tmp_path: Path) -> None:
    async with served(tmp_path / "home") as house:
        ada = await send(house, "ada")
        async with house.client(house.key("ada")) as client:
            for method, path in (
                ("GET", "tenants"),
                ("GET", "uploads"),
                ("GET", "watched"),
                ("DELETE", f"uploads/{ada}"),
                ("POST", f"uploads/{ada}/retry"),
            ):
                found = await client.request(method, f"/v1/operator/{path}")
                assert found.status_code == 403, path
            assert (await client.get(f"/v1/uploads/{ada}")).json()["state"] == "queued"
