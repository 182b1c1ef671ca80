"""Several processes share a catalogue, and a full disk takes nothing from it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from quoth.store.catalogue import Catalogue
from quoth.store.database import open_database
from tests.support.made_documents import entry, open_catalogue

ROOT = Path(__file__).parents[2]
COMMITS = 50

WRITER = """
import sys
from pathlib import Path
from tests.support.made_documents import entry, open_catalogue
catalogue, collection = open_catalogue(Path(sys.argv[1]))
sys.stdin.read(1)
for at in range(int(sys.argv[3])):
    assert catalogue.commit(collection, [entry(f"{sys.argv[2]}{at}", chunks=3)]) == ()
catalogue.close()
"""

OPENER = """
import sys
from pathlib import Path
from quoth.store.database import open_database
from quoth.store.catalogue import Catalogue
from tests.support.made_documents import IDENTITY
sys.stdin.read(1)
catalogue = Catalogue(open_database(Path(sys.argv[1])), tenant="local")
catalogue.make_collection("default", identity=IDENTITY)
catalogue.close()
"""

CLOSER = """
import sys
from pathlib import Path
from quoth.store.database import open_database
sys.stdin.read(1)
open_database(Path(sys.argv[1])).close()
"""

FILLER = """
import resource, sys
from pathlib import Path
from quoth.core.errors import StorageFull
from tests.support.made_documents import entry, open_catalogue
file = Path(sys.argv[1])
catalogue, collection = open_catalogue(file)
catalogue.commit(collection, [entry("before")])
none = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, none[1]))
full = ""
for at in range(200):
    try:
        catalogue.commit(collection, [entry(f"d{at}", chunks=20)])
    except StorageFull as error:
        full = str(error)
        break
assert "no room left" in full, full
kept = catalogue.ready_ids(collection)
assert kept == {"before", *(f"d{done}" for done in range(at))}, kept
resource.setrlimit(resource.RLIMIT_FSIZE, none)
assert catalogue.commit(collection, [entry("after", chunks=20)]) == ()
catalogue.close()
print(at)
"""


def start(code: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=ROOT,
        env={"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "PATH": ""},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run_together(*processes: subprocess.Popen[str]) -> list[str]:
    """Let them begin at the same time and give what each one printed."""
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go")
        process.stdin.flush()
    ended = [process.communicate(timeout=120) for process in processes]
    assert [p.returncode for p in processes] == [0] * len(processes), ended
    return [out for out, _ in ended]


def test_two_processes_write_at_once_and_lose_nothing(tmp_path: Path) -> None:
    file = tmp_path / "catalogue.sqlite"
    catalogue, collection = open_catalogue(file)
    run_together(start(WRITER, file, "a", COMMITS), start(WRITER, file, "b", COMMITS))
    expected = {f"{name}{at}" for name in "ab" for at in range(COMMITS)}
    assert catalogue.ready_ids(collection) == expected
    assert len(catalogue.chunks([f"{key}.2" for key in expected])) == 2 * COMMITS
    assert catalogue.collection("default").version == 2 * COMMITS
    catalogue.close()


def test_two_processes_make_the_catalogue_at_once(tmp_path: Path) -> None:
    file = tmp_path / "new" / "catalogue.sqlite"
    run_together(*(start(OPENER, file) for _ in range(2)))
    catalogue = Catalogue(open_database(file), tenant="local")
    assert [each.name for each in catalogue.collections()] == ["default"]
    catalogue.close()


def test_a_second_opening_keeps_the_locks_of_the_first(tmp_path: Path) -> None:
    # Without its lock the other process would take itself for the last and remove the log.
    file = tmp_path / "catalogue.sqlite"
    catalogue, collection = open_catalogue(file)
    catalogue.commit(collection, [entry("before")])
    open_database(file).close()
    run_together(start(CLOSER, file))
    assert file.with_name("catalogue.sqlite-wal").exists()
    assert catalogue.commit(collection, [entry("after")]) == ()
    catalogue.close()
    again, _collection = open_catalogue(file)
    assert again.ready_ids(collection) == {"before", "after"}
    again.close()


def test_a_full_disk_is_said_so_and_takes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "catalogue.sqlite"
    (out,) = run_together(start(FILLER, file))
    catalogue, collection = open_catalogue(file)
    kept = {"before", "after", *(f"d{done}" for done in range(int(out)))}
    assert catalogue.ready_ids(collection) == kept
    assert len(catalogue.document_chunks("after")) == 20
    catalogue.close()
