"""Uploaded files of a restored library are found in its own folder."""

from __future__ import annotations

import shutil
from pathlib import Path

from quoth.operations.backup import make_backup, restore_backup
from quoth.operations.integrity import damaged_rows
from quoth.store.blobs import Blobs, source_of
from tests.support.made_documents import entry, open_catalogue


def test_an_uploaded_file_is_where_it_was_restored(tmp_path: Path) -> None:
    home, new = tmp_path / "home", tmp_path / "new"
    stored = Blobs(home, tenant="local").path("ab" * 32, name="notes.md")
    stored.parent.mkdir(parents=True)
    stored.write_text("Bees")
    catalogue, collection = open_catalogue(home / "catalogue.sqlite")
    source = source_of(stored, name="Notes on bees.md")
    catalogue.commit(collection, [entry("d1", source=source), entry("d2", source="/d2.md")])
    make_backup(catalogue.database, tmp_path / "backup", home=home)
    catalogue.close()
    shutil.rmtree(home)
    restore_backup(tmp_path / "backup", new)
    assert not damaged_rows(new / "catalogue.sqlite")
    restored, collection = open_catalogue(new / "catalogue.sqlite")
    sources = {each.document_id: each.source for each in restored.documents(collection)}
    restored.close()
    path = Blobs(new, tenant="local").path("ab" * 32, name="notes.md")
    assert path.is_file()
    assert sources == {"d1": source_of(path, name="Notes on bees.md"), "d2": "/d2.md"}
