"""Files by the hash of what they hold: their names lead nowhere, and nothing half stays."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.core.errors import StorageFull, TooLarge
from quoth.store.blobs import (
    Blobs,
    PartialUpload,
    clean_name,
    source_of,
)
from tests.support.full_disk import no_room

HASH = sha256(b"x").hexdigest()


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("talk.pdf", "talk.pdf"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\ada\\talk.pdf", "talk.pdf"),
        ("a\x00b\x1b[31m.md", "ab[31m.md"),
        ("invoice\u202efdp.exe", "invoicefdp.exe"),
        ("cafe\u0301.txt", "café.txt"),
        ("..", "file"),
        ("", "file"),
        (" . ", "file"),
        ("x" * 300 + ".pdf", "x" * 251 + ".pdf"),
        ("\ud800.md", ".md"),
    ],
)
def test_names_are_shown_without_what_could_lead_astray(sent: str, shown: str) -> None:
    assert clean_name(sent) == shown


@given(st.text(max_size=300))
def test_a_place_is_made_of_the_hash_alone(text: str) -> None:
    blobs = Blobs(Path("/home"), tenant="ada")
    path = blobs.path(HASH, name=text)
    assert path.parent == blobs.folder / HASH[:2]
    assert re.fullmatch(rf"{HASH}(\.[a-z0-9]{{1,10}})?", path.name)


def _keep(blobs: Blobs, data: bytes, *, name: str = "a.md") -> Path:
    part = blobs.part("p1")
    growing = PartialUpload(part, offset=0, most=1000)
    growing.write(data)
    growing.close()
    return blobs.store(part, sha256=growing.sha256(), name=name)


def test_a_file_is_kept_and_found_again(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path, tenant="ada")
    path = _keep(blobs, b"Bees.")
    assert path.read_bytes() == b"Bees."
    assert path.stem == sha256(b"Bees.").hexdigest()
    assert blobs.original(source_of(path, name="Bees.md")) == path


def test_another_tenant_does_not_find_it(tmp_path: Path) -> None:
    path = _keep(Blobs(tmp_path, tenant="ada"), b"Bees.")
    assert Blobs(tmp_path, tenant="bob").original(source_of(path, name="Bees.md")) is None


def test_what_is_not_used_is_deleted(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path, tenant="ada")
    used, unused = _keep(blobs, b"Bees."), _keep(blobs, b"Wasps.")
    assert blobs.clear({used.name}) == 1
    assert used.exists()
    assert not unused.exists()


def test_a_part_goes_on_where_it_stopped(tmp_path: Path) -> None:
    part = tmp_path / "parts" / "p"
    first = PartialUpload(part, offset=0, most=10)
    first.write(b"12345")
    first.close()
    second = PartialUpload(part, offset=3, most=10)
    second.write(b"xyz")
    second.close()
    assert part.read_bytes() == b"123xyz"
    assert second.sha256() == sha256(b"123xyz").hexdigest()


def test_a_part_has_a_limit(tmp_path: Path) -> None:
    growing = PartialUpload(tmp_path / "p", offset=0, most=3)
    with pytest.raises(TooLarge, match="more than the 3 bytes"):
        growing.write(b"1234")
    growing.release()


def test_a_full_disk_says_so(tmp_path: Path) -> None:
    growing = PartialUpload(tmp_path / "p", offset=0, most=10**6)
    with no_room(beyond=1000), pytest.raises(StorageFull):
        growing.write(b"x" * 5000)
    growing.discard()
    assert not (tmp_path / "p").exists()
