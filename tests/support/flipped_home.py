"""A home folder with something in every table and file, and single flipped bits in its places."""

from __future__ import annotations

import json
import os
import random
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from quoth.bootstrap import open_tenants
from quoth.core.errors import QuothError
from quoth.core.lecture import LiveCitation, TranscriptSegment, WindowRecord
from quoth.core.settings import Settings
from quoth.core.types import Answer
from quoth.interfaces.http.signed_links import service_key
from quoth.operations.integrity import find_damage
from quoth.store.analytics import AnalyticsReader
from quoth.store.audit import Audit, AuditEntry, store_head
from quoth.store.keys import Keys, find_key
from quoth.store.lectures import Lectures
from quoth.store.privacy_settings import DailyUsage, PrivacyStore
from quoth.store.rows import now
from quoth.store.sessions import Sessions
from quoth.store.shares import Shares
from quoth.tenants import Tenants
from tests.support.small_library import write_sources
from tests.support.upload_service import drained, send, working

CATALOGUE = "catalogue.sqlite"
QUESTIONS = (
    "What is honey made from?",
    "What does the colony do in winter?",
    "How long does a queen live?",
)
LONG = "".join(f"Paragraph {at} speaks of word{at % 9}, at length.\n\n" for at in range(1200))


@dataclass(frozen=True, slots=True)
class Known:
    """What the whole home says: the answers, every stored text and row, and a key."""

    answers: tuple[Answer, ...]
    texts: dict[str, str]
    rows: dict[str, list[Any]]
    token: str


def settings_of(home: Path, model: Path) -> Settings:
    """The settings of the home; quoth.toml in it is one of its places."""
    return Settings(home=home, embedder=str(model), reranker="late", chunk_tokens=40)


async def make_home(home: Path, model: Path) -> Known:
    """Fill a home; it is left as a process that was killed leaves it, with a log."""
    async with open_tenants(settings_of(home, model)) as tenants:
        token = await _fill(tenants, home)
        answers = [await tenants.engine("local").answer(each) for each in QUESTIONS]
        (home / "quoth.toml").write_text("chunk_tokens = 40\n# kept for years\n", "utf-8")
        fetched = home / "mirrors" / "aa" / "page.html"
        fetched.parent.mkdir(parents=True)
        fetched.write_text("<p>Fetched once.</p>", "utf-8")
        service_key(home)
        assert find_damage(tenants.database, home=home) == []
        known = Known(tuple(answers), _texts(home), rows_of(home), token)
        for ending in ("", "-wal"):  # as it is before the last connection closes
            file = home / f"{CATALOGUE}{ending}"
            file.with_name(f"kept-{file.name}").write_bytes(file.read_bytes())
    for ending in ("", "-wal"):
        (home / f"kept-{CATALOGUE}{ending}").replace(home / f"{CATALOGUE}{ending}")
    return known


async def _fill(tenants: Tenants, home: Path) -> str:
    engine = tenants.engine("local")
    sources = write_sources(home.parent / "sources")
    (sources / "long.txt").write_text(LONG, "utf-8")
    (sources / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    async for _step in engine.add([sources]):
        pass
    await send(tenants, "# Queens\n\nA queen lives for five years in her hive.\n")
    async with working(tenants):
        await drained(tenants)
    database, own = tenants.database, {"tenant": "local"}
    answer = await engine.answer(QUESTIONS[0])
    AnalyticsReader(database, **own).rate(answer.query_id, rating=1, comment="as the talk says")
    key = Keys(database, **own).add(label="reader", scopes=["read"])
    Shares(database, **own).add(collection="default", expires_days=9)
    Sessions(database, **own).add(key.key.key_id)
    PrivacyStore(database, **own).decide(history="full", retention_days=90, may_leave=False)
    DailyUsage(database, **own).add(tokens=1234)
    lectures = Lectures(database, **own)
    session = lectures.start(title="On bees", collections=["default"]).session_id
    lectures.put_segments(session, [TranscriptSegment("s1", 0.0, 9.0, "Bees in winter.")])
    first = answer.citations[0]
    cited = LiveCitation(**{each.name: getattr(first, each.name) for each in fields(first)})
    window = WindowRecord(1, 0.0, 9.0, "Bees in winter.", "s1", now(), (cited,))
    lectures.put_windows(session, [window])
    audit = Audit(database, **own)
    head = audit.add([AuditEntry("k", "documents.add", str(at)) for at in range(40)])
    store_head(home, "local", head=head)
    return key.token


@dataclass(frozen=True, slots=True)
class Place:
    """A kind of place in the home: the file of one flip, and the byte in it."""

    name: str
    pick: Callable[[Path, random.Random], tuple[Path, int]]


def flip(home: Path, place: Place, *, dice: random.Random) -> str:
    """Flip one bit of a place as a disk does, which leaves the file's time as it was."""
    file, at = place.pick(home, dice)
    written = file.stat()
    content = bytearray(file.read_bytes())
    content[at] ^= 1 << dice.randrange(8)
    file.write_bytes(content)
    os.utime(file, ns=(written.st_atime_ns, written.st_mtime_ns))
    return f"{place.name}: byte {at} of {file.relative_to(home.parent)}"


def _in_files(*patterns: str) -> Callable[[Path, random.Random], tuple[Path, int]]:
    def pick(home: Path, dice: random.Random) -> tuple[Path, int]:
        there = [file for each in patterns for file in sorted(home.glob(each)) if file.is_file()]
        file = dice.choice([file for file in there if file.stat().st_size])
        return file, dice.randrange(file.stat().st_size)

    return pick


def _in_rows(table: str, column: str) -> Callable[[Path, random.Random], tuple[Path, int]]:
    """Pick a byte of a value of the table, or of what lies just before or behind it."""

    def pick(home: Path, dice: random.Random) -> tuple[Path, int]:
        file = home / CATALOGUE
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro&immutable=1", uri=True)) as opened:
            values = [row[0] for row in opened.execute(f"SELECT {column} FROM {table}")]
        needle = str(dice.choice(values)).encode()[:24]
        at = file.read_bytes().rindex(needle)
        return file, max(0, at + dice.randrange(-12, len(needle) + 12))

    return pick


PLACES = (
    Place("header", lambda home, dice: (home / CATALOGUE, dice.randrange(4096))),
    Place("catalogue", _in_files(CATALOGUE)),
    Place("texts", _in_rows("chunks", "text")),
    Place("documents", _in_rows("documents", "title")),
    Place("headings", _in_rows("headings", "path")),
    Place("questions", _in_rows("queries", "text")),
    Place("answers", _in_rows("answers", "answer")),
    Place("records", _in_rows("records", "record")),
    Place("keys", _in_rows("keys", "secret_hash")),
    Place("uploads", _in_rows("tasks", "name")),
    Place("lectures", _in_rows("lecture_citations", "citation")),
    Place("index data", _in_files("index/*/*.lance/data/*")),
    Place("index manifests", _in_files("index/*/*.lance/_*/*")),
    Place("index notes", _in_files("index/*/*.sums", "index/*/*.scan.json")),
    Place("snapshot", _in_files("index/*/*.scan")),
    Place("token vectors", _in_files("tokens/*/*/*/*.tokens")),
    Place("uploaded files", _in_files("blobs/**/*.md")),
    Place("settings and key", _in_files("quoth.toml", "links.key")),
    Place("notes", _in_files("checksums.json", "audit/*.json", "mirrors/*/*")),
    Place("model", _in_files("../model/*")),
)
LOG = Place("log", _in_files(f"{CATALOGUE}-wal"))


async def said_wrongly(home: Path, model: Path, known: Known, *, named: bool) -> str:
    """Ask every question; return what an answer, a record or a key says that was never so.

    Where damage was ``named``, an error is right, and so is an answer from other passages; where
    none was, everything is as it was in the whole home.
    """
    try:
        async with open_tenants(settings_of(home, model)) as tenants:
            engine = tenants.engine("local")
            for question, right in zip(QUESTIONS, known.answers, strict=True):
                answer = await _unless_error(engine.answer(question))
                if not named and (answer is None or answer.text != right.text):
                    return f"answers {answer}"
                for each in () if answer is None else answer.citations:
                    text = known.texts.get(each.document_id, "")
                    if text[each.snippet_start : each.snippet_end] != each.snippet:
                        return f"quotes {each.snippet!r}"
                said = _said(tenants, right.query_id)
                if said != right.text and (said is not None or not named):
                    return f"has stored {said!r}"
            key = find_key(tenants.database, known.token)
            if key is None and not named:
                return "lets nobody in"
            if key is not None and (key.tenant, key.scopes) != ("local", ("read",)):
                return f"lets in {key}"
    except (QuothError, OSError) as error:
        return "" if named else str(error)
    return ""


async def _unless_error(answer: Awaitable[Answer]) -> Answer | None:
    try:
        return await answer
    except QuothError:
        return None


def _said(tenants: Tenants, query_id: str) -> str | None:
    try:
        stored: str = json.loads(tenants.engine("local").parts.catalogue.answer(query_id))["text"]
    except QuothError:
        return None
    return stored


def rows_of(home: Path) -> dict[str, list[Any]]:
    """Every row of every table of the catalogue."""
    with closing(sqlite3.connect(home / CATALOGUE)) as catalogue:
        names = catalogue.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        return {
            name: sorted(catalogue.execute(f"SELECT * FROM {name}").fetchall(), key=repr)
            for (name,) in names
        }


def _texts(home: Path) -> dict[str, str]:
    with closing(sqlite3.connect(home / CATALOGUE)) as catalogue:
        texts: dict[str, str] = {}
        for document, text in catalogue.execute(
            "SELECT document_id, text FROM chunks ORDER BY document_id, ordinal"
        ):
            texts[document] = texts.get(document, "") + text
        return texts
