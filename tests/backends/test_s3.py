"""Index and uploaded files in a bucket of a real S3 server, shared by several machines."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from pydantic import SecretStr

from quoth.backends.indexes.registry import StorePlace
from quoth.backends.indexes.snapshot import store as snapshot_store
from quoth.backends.indexes.vector_store import StoreAccess
from quoth.backends.s3 import S3Access, S3Folder
from quoth.backends.states import check_parts, part_states
from quoth.bootstrap import open_engine
from quoth.core.errors import BackendError, ConfigError
from quoth.core.protocols import Index, Matrix
from quoth.core.settings import Settings
from quoth.core.types import Chars, Chunk
from quoth.operations.purge import purge
from quoth.store.blobs import Blobs, source_of
from quoth.store.database import connect
from tests.support.databases import Server
from tests.support.s3_server import KEYS, LACKING, PROGRAM, Storage, s3_server

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason=LACKING)
WIDE, TABLE = 16, "c_1"
CHUNK = Chunk("c", "d", 0, 0, 3, "fox", Chars(0, 3), "text")


@pytest.fixture(scope="module")
def storage() -> Iterator[Storage]:
    with s3_server() as served:
        yield served


def units(rows: int, *, seed: int = 7) -> Matrix:
    drawn = np.random.default_rng(seed).standard_normal((rows, WIDE)).astype(np.float32)
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def made(rows: int, *, name: str) -> list[Chunk]:
    return [
        replace(CHUNK, chunk_id=f"{name}.{at}", document_id=name, text=f"fox {name}")
        for at in range(rows)
    ]


def machine(home: Path, storage: Storage, *, database: str) -> Index:
    """The index as a machine with a folder of its own opens it."""
    access = StoreAccess(home / "t", "", WIDE, connect, storage.address("index"))
    place = StorePlace("lancedb", access, database, s3=storage.access)
    return place.open(TABLE, on_operation=lambda _name: None)


async def words(index: Index, text: str) -> set[str]:
    return {key for key, _ in await index.match(text, languages=["en"], limit=500)}


async def test_two_machines_write_and_search_one_index(
    tmp_path: Path, storage: Storage, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot_store, "REFRESH_S", 0.0)
    address = server.empty()
    one, other = (machine(tmp_path / name, storage, database=address) for name in "ab")
    await one.upsert(made(30, name="owl"), vectors=units(30))
    assert not await one.needs_build()
    assert len(await words(other, "owl")) == 30
    kept = {path.name for path in (tmp_path / "b" / "t").glob("*.scan")}
    assert kept == {path.name for path in (tmp_path / "a" / "t").glob("*.scan")} != set()

    batches = [(index, f"n{at}") for at in range(4) for index in (one, other)]
    writes = (
        index.upsert(made(5, name=n), vectors=units(5, seed=ord(n[1]))) for index, n in batches
    )
    await asyncio.gather(*writes)
    await other.delete(["owl"])
    for index in (one, other):
        assert len(await words(index, "fox")) == 5 * 4
        assert await words(index, "owl") == set()
        assert not await index.needs_build()
        assert await index.document_ids() == {f"n{at}": 5 for at in range(4)}
        nearest = await index.nearest(units(5, seed=ord("2"))[3], limit=1)
        assert nearest[0][0] == "n2.3"
    await one.optimize()
    assert len(await words(other, "fox")) == 20
    await one.drop()
    assert S3Folder(f"{storage.address('index')}/t/segments", access=storage.access).names() == []
    one.close()
    other.close()


def test_uploaded_files_are_on_every_machine(tmp_path: Path, storage: Storage) -> None:
    shared = S3Folder(storage.address("files"), access=storage.access)
    one, other = (Blobs(tmp_path / name, tenant="ada", shared=shared) for name in "ab")
    stranger = Blobs(tmp_path / "c", tenant="bob", shared=shared)
    part = one.part("p")
    part.parent.mkdir(parents=True)
    part.write_bytes(b"Bees.")
    sha = sha256(b"Bees.").hexdigest()
    one.share(part, sha256=sha, name="bees.md")
    path = one.store(part, sha256=sha, name="bees.md")
    assert path.read_bytes() == b"Bees."
    assert not part.exists()
    source = source_of(path, name="bees.md")
    found = other.original(source)
    assert found is not None
    assert found != path
    assert found.read_bytes() == b"Bees."
    assert stranger.original(source) is None
    cut = sha256(b"Bees and wasps.").hexdigest()
    (part.parent / "q").write_bytes(b"Bees")
    one.share(part.parent / "q", sha256=cut, name="cut.md")
    broken = source_of(one.store(part.parent / "q", sha256=cut, name="cut.md"), name="cut.md")
    assert other.original(broken) is None, "of an upload that broke off"
    assert other.exists(path.name)
    assert set(other.shared_names()) == {path.name, f"{cut}.md"}
    other.delete_shared(other.shared_names())
    assert not one.exists(path.name)
    assert other.clear(set()) == 1
    assert Blobs(tmp_path / "d", tenant="ada", shared=shared).original(source) is None


def test_an_object_is_whole_or_not_there(tmp_path: Path, storage: Storage) -> None:
    folder = S3Folder(storage.address("objects"), access=storage.access)
    assert folder.get("none") is None
    assert not folder.download("none", tmp_path / "none")
    assert list(tmp_path.iterdir()) == []
    assert folder.names() == []
    folder.put("a/b", b"1")
    assert folder.get("a/b") == b"1"
    assert folder.names() == ["a/b"]
    assert folder.below("a").names() == ["b"]
    folder.delete(["a/b", "none"])
    assert folder.names() == []


def test_storage_that_refuses_is_named_without_its_keys(storage: Storage) -> None:
    wrong = replace(storage.access, secret_key="another secret")
    with pytest.raises(BackendError, match=r"127\.0\.0\.1") as refused:
        S3Folder(storage.address("objects"), access=wrong).put("a", b"1")
    assert "secret" not in str(refused.value).replace("SecretAccessKey", "")
    for address in ("s3://", "http://bucket", "s3://key:word@bucket/x"):
        with pytest.raises(ConfigError, match="s3://BUCKET/FOLDER"):
            S3Folder(address, access=S3Access())


def test_what_goes_to_a_bucket_elsewhere_needs_consent(tmp_path: Path) -> None:
    chosen = {"home": tmp_path, "embedder": "fake", "reranker": "none", "files": "s3://docs/files"}
    away = Settings(store="lancedb@s3://docs/index", **chosen)
    states = {state.part: state for state in part_states(away)}
    refused = str(states["store"].error)
    assert "their words to s3.us-east-1.amazonaws.com" in refused
    assert "QUOTH_DOCUMENTS_MAY_LEAVE" in refused
    allowed = away.model_copy(update={"documents_may_leave": True})
    assert [sent.part for sent in check_parts(allowed)] == ["store", "files"]
    here = away.model_copy(update={"s3_endpoint": "http://127.0.0.1:8333"})
    assert all(sent.local for sent in check_parts(here))
    with pytest.raises(ConfigError, match="s3://BUCKET/FOLDER"):
        check_parts(away.model_copy(update={"store": "lancedb@http://127.0.0.1"}))


async def test_a_purge_removes_what_an_interrupted_rebuild_left_in_the_bucket(
    tmp_path: Path, storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.txt").write_text("A blue whale eats krill.")
    chosen = Settings(
        home=tmp_path / "home",
        embedder="fake",
        store=f"lancedb@{storage.address('strays')}",
        s3_endpoint=storage.access.url,
        s3_access_key=SecretStr(KEYS[0]),
        s3_secret_key=SecretStr(KEYS[1]),
    )
    async with open_engine(chosen) as engine:
        assert [step async for step in engine.add([tmp_path / "a.txt"])]
        serving = engine.parts.catalogue.collection("default").table
        half = engine.parts.open_index(f"{serving}half")
        await half.upsert([CHUNK], vectors=np.eye(1, 64, dtype=np.float32))
        assert set(engine.parts.shared_tables()) == {serving, f"{serving}half"}
        assert any("being made" in each for each in (await purge(engine.parts)).left)
        monkeypatch.setattr("quoth.operations.purge.BUILDING_S", 0.0)
        assert (await purge(engine.parts)).complete
        now = engine.parts.catalogue.collection("default").table
        assert set(engine.parts.shared_tables()) == {now}
        assert (await engine.answer("What does a blue whale eat?")).citations


async def test_a_search_goes_on_while_the_storage_is_away(
    tmp_path: Path, storage: Storage, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last of these tests: it ends their server."""
    monkeypatch.setattr(snapshot_store, "REFRESH_S", 0.0)
    index = machine(tmp_path, storage, database=server.empty())
    await index.upsert(made(30, name="owl"), vectors=units(30))
    assert len(await words(index, "owl")) == 30
    storage.stop()
    assert len(await words(index, "owl")) == 30
    with pytest.raises(BackendError):
        await index.upsert(made(1, name="fox"), vectors=units(1))
    index.close()
