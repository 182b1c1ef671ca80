"""The walls around the processes that parse: no network, no secrets, no files, no entities."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from quoth.core.errors import DocumentError
from quoth.ingest.readers.registry import read
from quoth.ingest.sandbox.parent import ParserPool
from tests.conftest import FIXTURES

BOOK = FIXTURES / "pdf" / "book.pdf"

LEAVING = """
import json, socket, sys
from quoth.ingest.sandbox.child import leave_network
left = leave_network()
reached = []
for family, address in ((socket.AF_INET, ("127.0.0.1", int(sys.argv[1]))),
                        (socket.AF_INET, ("192.0.2.1", 80)), (socket.AF_INET6, ("::1", 80))):
    try:
        with socket.socket(family) as way:
            way.settimeout(1)
            way.connect(address)
        reached.append(address[0])
    except OSError:
        pass
readable = open(sys.argv[2], "rb").read(4) != b""
print(json.dumps({"left": left, "reached": reached, "readable": readable}))
"""

SECRETS = {
    "OPENAI_API_KEY": "planted-openai",
    "ANTHROPIC_API_KEY": "planted-anthropic",
    "QUOTH_LLM_API_KEY": "planted-own",
    "AWS_SECRET_ACCESS_KEY": "planted-aws",
    "DATABASE_URL": "planted-database",
    "https_proxy": "http://planted-proxy",
}


def test_who_left_the_network_reaches_nobody_and_still_reads_files() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.2)
        said = subprocess.run(
            [sys.executable, "-c", LEAVING, str(listener.getsockname()[1]), str(BOOK)],
            capture_output=True,
            check=True,
            env={"PYTHONPATH": os.pathsep.join(sys.path)},
            timeout=60,
        )
        answer = json.loads(said.stdout)
        if not answer["left"]:
            pytest.skip("This system does not let a process leave the network.")
        assert answer == {"left": True, "reached": [], "readable": True}
        with pytest.raises(TimeoutError):
            listener.accept()


@pytest.mark.skipif(not Path("/proc/self/ns/net").exists(), reason="not a Linux")
async def test_the_children_say_whether_they_have_a_network() -> None:
    async with ParserPool(seconds=20, memory_mb=512) as readers:
        assert readers.offline is None
        await readers.read(BOOK)
        pid = readers._idle[0]._process.pid
        apart = _network(pid) != _network(os.getpid())
        assert readers.offline is apart


def _network(pid: int) -> str:
    return os.readlink(f"/proc/{pid}/ns/net")


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="not a Linux")
async def test_no_secret_is_in_a_child(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    async with ParserPool(seconds=20, memory_mb=512) as readers:
        await readers.read(BOOK)
        child = Path(f"/proc/{readers._idle[0]._process.pid}")
        inherited = await asyncio.to_thread((child / "environ").read_bytes)
        said = await asyncio.to_thread((child / "cmdline").read_bytes)
        limits = await asyncio.to_thread((child / "limits").read_text)
    assert b"planted" not in inherited + said
    for row, most in (("Max file size", "0"), ("Max core file size", "0")):
        line = next(each for each in limits.splitlines() if each.startswith(row))
        assert line.removeprefix(row).split()[0] == most
    for row in ("Max address space", "Max cpu time"):
        line = next(each for each in limits.splitlines() if each.startswith(row))
        assert line.removeprefix(row).split()[0] != "unlimited"


# --- entities and document types --------------------------------------------------------------

LAUGHS = "".join(
    f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' if n else '<!ENTITY l0 "laugh">' for n in range(10)
)
XML = {
    "a file as an entity": '<!DOCTYPE html [<!ENTITY x SYSTEM "file://{secret}">]>'
    "<html><body><p>The bees &x; here.</p></body></html>",
    "a file as a parameter": '<!DOCTYPE html [<!ENTITY % x SYSTEM "file://{secret}"> %x;]>'
    "<html><body><p>The bees are here.</p></body></html>",
    "a type from elsewhere": '<!DOCTYPE html SYSTEM "file://{secret}">'
    "<html><body><p>The bees are here.</p></body></html>",
    "an inclusion": '<html xmlns:xi="http://www.w3.org/2001/XInclude"><body><p>The bees'
    '<xi:include href="file://{secret}" parse="text"/></p></body></html>',
    "a style sheet": '<?xml-stylesheet href="file://{secret}"?><html><body><p>The bees.</p>'
    '<object data="file://{secret}"></object><iframe src="file://{secret}"></iframe></body></html>',
    "a billion laughs": f"<!DOCTYPE html [{LAUGHS}]><html><body><p>The bees &l9;</p></body></html>",
}
OTHER = {
    "feed.xml": "<rss><channel><title>The bees</title></channel></rss>",
    "captions.ttml": '<tt xmlns="http://www.w3.org/ns/ttml"><body><p>Bees</p></body></tt>',
    "drawing.svg": "<svg xmlns='http://www.w3.org/2000/svg'><text>Bees</text></svg>",
    "book.opf": "<package><metadata/></package>",
}


@pytest.mark.parametrize("head", ["", "<?xml version='1.0'?>\n"])
@pytest.mark.parametrize("suffix", [".xhtml", ".html", ".txt", ".md", ".vtt", ".srt"])
@pytest.mark.parametrize("case", XML)
def test_nothing_is_read_on_behalf_of_a_document(
    tmp_path: Path, case: str, suffix: str, head: str
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("canary-of-the-house")
    page = tmp_path / f"page{suffix}"
    page.write_text(head + XML[case].replace("{secret}", str(secret)))
    began = time.process_time()
    try:
        text = read(page).text
    except DocumentError as error:
        text = str(error)
    assert "canary-of-the-house" not in text
    assert len(text) < 10_000
    assert time.process_time() - began < 1


@pytest.mark.parametrize("name", OTHER)
def test_xml_that_is_no_page_is_read_as_it_is_written(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    laughing = f"<?xml version='1.0'?><!DOCTYPE x [{LAUGHS}]>{OTHER[name]}"
    file.write_text(laughing)
    try:
        text = read(file).text
    except DocumentError as error:
        text = str(error)
    assert len(text) < 2 * len(laughing)


@pytest.mark.parametrize("name", ["bomb.zip", "bomb.docx", "bomb.epub", "bomb.md", "bomb.pdf"])
def test_a_damaged_archive_is_refused_whatever_its_name(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_bytes(b"PK\x03\x04" + bytes(2000))
    with pytest.raises(DocumentError) as refused:
        read(file)
    assert refused.value.code == "damaged"
