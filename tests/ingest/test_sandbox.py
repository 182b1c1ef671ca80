from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.core.errors import DocumentError
from quoth.core.types import (
    Box,
    Chars,
    Locator,
    Pages,
    ParsedDocument,
    Seconds,
    Section,
    SpanLocator,
)
from quoth.ingest.readers.metadata import Metadata
from quoth.ingest.sandbox.child import respond
from quoth.ingest.sandbox.parent import ParserPool
from quoth.text.json_codec import decode_json, to_json

PDFS = Path(__file__).parents[1] / "fixtures" / "pdf"

texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
numbers = st.integers(0, 10**6)
floats = st.floats(-1e6, 1e6)
boxes = st.builds(Box, numbers, floats, floats, floats, floats)
maybe = st.none() | texts
locators: st.SearchStrategy[Locator] = st.one_of(
    st.builds(
        Pages, numbers, numbers, texts, texts, section=maybe, boxes=st.tuples() | st.tuples(boxes)
    ),
    st.builds(Seconds, floats, floats, speaker=maybe, section=maybe),
    st.builds(Chars, numbers, numbers, section=maybe, anchor=maybe),
)
readings = st.builds(
    ParsedDocument,
    kind=st.sampled_from(["pdf", "text", "html", "markdown", "transcript"]),
    title=texts,
    text=texts,
    places=st.lists(
        st.builds(SpanLocator, numbers, numbers, locators, hyphen=texts), max_size=4
    ).map(tuple),
    sections=st.lists(
        st.builds(Section, numbers, numbers, st.tuples(texts, texts), maybe), max_size=3
    ).map(tuple),
    language=maybe,
    url=maybe,
    speaker=maybe,
    pages=st.none() | numbers,
    labels=st.lists(texts, max_size=3).map(tuple),
    seconds=st.none() | floats,
    warnings=st.lists(texts, max_size=3).map(tuple),
)


def write_pdf(path: Path, *, text: bytes, pages: int) -> Path:
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Count %d /Kids [%s] >>" % (pages, b"5 0 R " * pages),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(text), text),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R"
        b" /Resources << /Font << /F1 3 0 R >> >> >>",
    ]
    out = b"%PDF-1.4\n"
    for number, content in enumerate(objects, 1):
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    path.write_bytes(out + b"trailer\n<< /Root 1 0 R /Size 6 >>\n%%EOF\n")
    return path


def many_pages(path: Path, *, pages: int) -> Path:
    """Pages that share one long content stream: slow to read for the size of the file."""
    text = b"BT /F1 9 Tf 50 50 Td " + b"(a few words) Tj 1 2 Td " * 4000 + b"ET"
    return write_pdf(path, text=text, pages=pages)


def one_page(path: Path, *, lines: int) -> Path:
    """One page with very many lines: large in memory."""
    text = b"".join(
        b"BT /F1 9 Tf 50 %d Td (line %d of a page without end) Tj ET\n" % (n % 700 + 40, n)
        for n in range(lines)
    )
    return write_pdf(path, text=text, pages=1)


def alive(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status.rsplit(")", 1)[1].split()[0] != "Z"


def gone_within(pid: int, *, seconds: float) -> bool:
    limit = time.monotonic() + seconds
    while alive(pid) and time.monotonic() < limit:
        time.sleep(0.02)
    return not alive(pid)


def child_of(readers: ParserPool) -> int:
    (child,) = readers._idle
    return child._process.pid


@given(readings)
def test_a_reading_crosses_the_border_unchanged(reading: ParsedDocument) -> None:
    assert decode_json(ParsedDocument, json.loads(json.dumps(to_json(reading)))) == reading


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "program"},
        {"text": 7},
        {"places": [[0, 1, "", "nowhere", 1, 2]]},
        {"places": [[0, 1]]},
        {"sections": [[0, 1, [5], None]]},
        {"labels": [None]},
    ],
)
def test_what_is_not_a_reading_is_refused(change: dict[str, object]) -> None:
    data = to_json(ParsedDocument(kind="text", title="t", text="x", places=()))
    with pytest.raises((ValueError, TypeError, LookupError)):
        decode_json(ParsedDocument, {**data, **change})


async def test_a_file_reads_in_a_child_as_it_does_here() -> None:
    about = Metadata(title="A book", language="en")
    request = {"path": str(PDFS / "book.pdf"), "given": asdict(about), "seconds": 20}
    here = respond(request)
    async with ParserPool(seconds=20, memory_mb=512) as readers:
        there = await readers.read(PDFS / "book.pdf", about)
    assert decode_json(ParsedDocument, here["reading"]) == there


async def test_a_child_serves_many_files_and_survives_bad_ones() -> None:
    async with ParserPool(seconds=20, memory_mb=512) as readers:
        await readers.read(PDFS / "book.pdf")
        first = child_of(readers)
        with pytest.raises(DocumentError) as caught:
            await readers.read(PDFS / "locked.pdf")
        await readers.read(PDFS / "columns.pdf")
        assert caught.value.code == "encrypted"
        assert child_of(readers) == first
    assert gone_within(first, seconds=3)


async def test_a_child_is_replaced_after_so_many_files() -> None:
    async with ParserPool(seconds=20, memory_mb=512, files_per_child=2) as readers:
        await readers.read(PDFS / "book.pdf")
        first = child_of(readers)
        await readers.read(PDFS / "book.pdf")
        assert readers._idle == []
        await readers.read(PDFS / "book.pdf")
        assert child_of(readers) != first


async def test_files_are_read_side_by_side_up_to_the_number_of_workers() -> None:
    async with ParserPool(seconds=20, memory_mb=512, workers=2) as readers:
        read = await asyncio.gather(*(readers.read(PDFS / "book.pdf") for _ in range(5)))
        assert len({reading.text for reading in read}) == 1
        assert len(readers._idle) == 2


async def test_too_much_time_is_parser_timeout_and_the_next_file_is_read(tmp_path: Path) -> None:
    path = many_pages(tmp_path / "slow.pdf", pages=3000)
    async with ParserPool(seconds=1, memory_mb=1024) as readers:
        with pytest.raises(DocumentError) as caught:
            await readers.read(path)
        assert caught.value.code == "parser_timeout"
        assert "slow.pdf" in str(caught.value)
        assert (await readers.read(PDFS / "columns.pdf")).title == "Bees and ants"


async def test_waiting_without_end_is_parser_timeout() -> None:
    async with ParserPool(seconds=0.2, memory_mb=512) as readers:
        await readers.read(PDFS / "book.pdf")
        os.kill(child_of(readers), signal.SIGSTOP)
        with pytest.raises(DocumentError) as caught:
            await readers.read(PDFS / "book.pdf")
    assert caught.value.code == "parser_timeout"


async def test_too_much_memory_is_parser_memory(tmp_path: Path) -> None:
    path = one_page(tmp_path / "large.pdf", lines=20_000)
    async with ParserPool(seconds=60, memory_mb=60) as readers:
        with pytest.raises(DocumentError) as caught:
            await readers.read(path)
    assert caught.value.code == "parser_memory"


@pytest.mark.parametrize(
    ("end", "code"), [(signal.SIGKILL, "parser_memory"), (signal.SIGSEGV, "damaged")]
)
async def test_the_end_of_a_child_is_explained(end: signal.Signals, code: str) -> None:
    async with ParserPool(seconds=20, memory_mb=512) as readers:
        await readers.read(PDFS / "book.pdf")
        pid = child_of(readers)
        os.kill(pid, signal.SIGSTOP)
        os.kill(pid, end)
        asyncio.get_running_loop().call_later(0.1, os.kill, pid, signal.SIGCONT)
        with pytest.raises(DocumentError) as caught:
            await readers.read(PDFS / "book.pdf")
    assert caught.value.code == code


async def test_a_cancelled_read_leaves_no_child() -> None:
    async with ParserPool(seconds=20, memory_mb=512) as readers:
        await readers.read(PDFS / "book.pdf")
        pid = child_of(readers)
        os.kill(pid, signal.SIGSTOP)
        task = asyncio.create_task(readers.read(PDFS / "book.pdf"))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert gone_within(pid, seconds=3)


def test_no_child_outlives_a_parent_that_is_killed(tmp_path: Path) -> None:
    slow = many_pages(tmp_path / "slow.pdf", pages=20_000)
    script = textwrap.dedent(
        f"""
        import asyncio
        from pathlib import Path
        from quoth.ingest.sandbox.parent import ParserPool

        async def main():
            readers = ParserPool(seconds=60, memory_mb=512)
            await readers.read(Path({str(PDFS / "book.pdf")!r}))
            print(readers._idle[0]._process.pid, flush=True)
            await readers.read(Path({str(slow)!r}))

        asyncio.run(main())
        """
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, env=environment
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        time.sleep(0.2)  # the child is now in the middle of the file
        assert alive(pid)
        parent.kill()
    assert gone_within(pid, seconds=5)


async def test_a_child_has_neither_our_secrets_nor_our_session(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("QUOTH_TEST_SECRET", "hidden")
    async with ParserPool(seconds=20, memory_mb=512) as readers:
        await readers.read(PDFS / "book.pdf")
        pid = child_of(readers)
        environment = await asyncio.to_thread(Path(f"/proc/{pid}/environ").read_bytes)
        assert b"hidden" not in environment
        assert os.getsid(pid) == pid
