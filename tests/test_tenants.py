"""Many tenants in one process: the same engine for all who ask, and nothing held for nobody."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from weakref import ref

from quoth.bootstrap import open_tenants
from quoth.core.settings import Settings
from quoth.pipeline.retrieve import Request
from quoth.tenants import Tenants

QUESTION = "How many stones has the bridge?"


@contextmanager
def uncollected() -> Iterator[None]:
    """Let go only of what nothing refers to: what refers to itself would stay."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


async def shelved(tenants: Tenants, tenant: str, *, folder: Path) -> None:
    """Give a tenant a document, and ask a question so that everything is open."""
    page = folder / f"{tenant}.md"
    page.write_text(f"# Bridges\n\nThe bridge of {tenant} has ninety stones.")
    engine = tenants.engine(tenant)
    async for _ in engine.add([page]):
        pass
    assert (await engine.answer(Request(QUESTION))).citations


def settings(folder: Path, **values: object) -> Settings:
    return Settings.model_validate({"home": folder, "embedder": "fake", **values})


async def test_who_asks_for_one_tenant_gets_one_engine(tmp_path: Path) -> None:
    async with open_tenants(settings(tmp_path, tenants_open=1)) as tenants:
        one = tenants.engine("a")
        tenants.engine("b")
        assert tenants.engine("a") is one


async def test_what_nobody_uses_is_closed(tmp_path: Path) -> None:
    async with open_tenants(settings(tmp_path / "home", tenants_open=2)) as tenants:
        with uncollected():
            for tenant in "abc":
                await shelved(tenants, tenant, folder=tmp_path)
            assert sorted(tenants.opened) == ["b", "c"]


async def test_an_index_goes_with_its_engine(tmp_path: Path) -> None:
    async with open_tenants(settings(tmp_path / "home", tenants_open=1)) as tenants:
        with uncollected():
            await shelved(tenants, "a", folder=tmp_path)
            parts = tenants.engine("a").parts
            (collection,) = parts.catalogue.collections()
            index = ref(parts.open_index(collection.table))
            del parts
            tenants.engine("b")
            assert index() is None


async def test_what_is_in_use_stays_open_and_is_told_again(tmp_path: Path) -> None:
    async with open_tenants(settings(tmp_path / "home", tenants_open=1)) as tenants:
        await shelved(tenants, "a", folder=tmp_path)
        used = tenants.engine("a")
        await shelved(tenants, "b", folder=tmp_path)
        assert (await used.answer(Request(QUESTION, {"cache": "none"}))).citations
        assert tenants.engine("a") is used


async def test_who_comes_again_finds_his_documents(tmp_path: Path) -> None:
    async with open_tenants(settings(tmp_path / "home", tenants_open=1)) as tenants:
        for tenant in "ab":
            await shelved(tenants, tenant, folder=tmp_path)
        answer = await tenants.engine("a").answer(Request(QUESTION, {"cache": "none"}))
        assert "The bridge of a" in answer.text
