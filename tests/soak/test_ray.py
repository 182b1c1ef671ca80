"""Adding on a Ray cluster makes the library that one process makes, also when workers die."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from quoth.backends.indexes.lancedb.client import lancedb

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(find_spec("ray") is None, reason="quoth[ray] is not installed"),
    pytest.mark.timeout(1800),
]

NOTES = 30
WORDS = "river cloud stone model token paper green small answer citation lecture".split()


def write_notes(folder: Path) -> Path:
    folder.mkdir()
    for at in range(NOTES):
        chosen = random.Random(at)
        paragraphs = (" ".join(chosen.choices(WORDS, k=110)) + "." for _ in range(12))
        (folder / f"note{at}.md").write_text(f"# Note {at}\n\n" + "\n\n".join(paragraphs))
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 and no more")
    return folder


def adding(home: Path, source: Path, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "quoth", "--home", str(home), "--json", "add", str(source)]
    return subprocess.Popen(
        [*command, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def library(home: Path) -> dict[str, Any]:
    """All that the library has of its documents: chunks, vectors and token vectors."""
    with sqlite3.connect(home / "catalogue.sqlite") as catalogue:
        catalogue.text_factory = bytes
        chunks = sorted(map(repr, catalogue.execute("SELECT * FROM chunks")))
    files = {
        path.name: path.read_bytes() for path in (home / "tokens").rglob("*") if path.is_file()
    }
    return {"chunks": chunks, "tokens": files, "rows": asyncio.run(rows(home))}


async def rows(home: Path) -> dict[str, Any]:
    (table,) = (home / "index").glob("*/*.lance")
    database = await lancedb.connect_async(table.parent)
    found = await (await database.open_table(table.stem)).to_arrow()
    return {row.pop("id"): row for row in found.to_pylist()}


def embedding() -> list[int]:
    """The worker processes that are embedding."""
    listed = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True)
    found = [line.split(None, 1) for line in listed.stdout.splitlines()[1:]]
    return [int(pid) for pid, args in found if args.startswith("ray::embed_part")]


def test_a_killed_worker_costs_its_task_only(tmp_path: Path) -> None:
    source = write_notes(tmp_path / "notes")
    alone = adding(tmp_path / "alone", source)
    assert "broken.pdf" in alone.communicate(timeout=900)[0]
    on_ray = adding(tmp_path / "ray", source, "--on", "ray")
    killed: set[int] = set()
    while on_ray.poll() is None:
        for pid in embedding() if len(killed) < 2 else ():
            if pid not in killed:
                os.kill(pid, signal.SIGKILL)
                killed.add(pid)
                break
        time.sleep(0.2)
    out, err = on_ray.communicate()
    assert killed, "no worker was seen at work"
    assert on_ray.returncode == alone.returncode, err
    assert "broken.pdf" in out
    assert library(tmp_path / "ray") == library(tmp_path / "alone")
