"""The one way out: it fetches pages, and whatever is asked of it, nothing inside is touched."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from httpcore import AsyncNetworkStream

from quoth.core.errors import DocumentError, InputError
from quoth.ingest.readers.metadata import Metadata
from quoth.ingest.readers.registry import read
from quoth.ingest.sources import http as outbound
from quoth.ingest.sources.http import (
    Internet,
    Page,
    connect_to,
    get,
    in_utf8,
    page_name,
    resolve_host,
)
from tests.support.youtube_server import make_certificate, trust

PUBLIC = "93.184.216.34"
"""Stands for a server of the internet; the connector leads it to one of this machine."""
INSIDE = "127.0.0.1"
HTML = b"<html lang=en><title>Bees</title><main><h1 id=top>Bees</h1><p>A hive has one queen."

Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def page(
    body: bytes = HTML, *, status: str = "200 OK", kind: str = "text/html", more: str = ""
) -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{more}\r\n"
    return head.encode() + body


def moved(where: str, *, status: str = "302 Found") -> bytes:
    return page(b"", status=status, more=f"Location: {where}\r\n")


@dataclass
class World:
    """A server that stands for the internet, and a canary that nobody may touch."""

    pages: dict[str, bytes | Answer] = field(default_factory=dict)
    names: dict[str, Sequence[Sequence[str]]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    hits: list[str] = field(default_factory=list)
    outside: int = 0
    canary: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.asked.append(head)
        answer = self.pages.get(head.split(" ")[1], page())
        try:
            if isinstance(answer, bytes):
                writer.write(answer)
                await writer.drain()
            else:
                await answer(reader, writer)
        except OSError:
            pass
        finally:
            writer.close()

    async def sing(self, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.hits.append("canary")
        writer.close()

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """Names that the case gives, each answer once; numbers are read as the system does."""
        if host in self.names:
            answers = list(self.names[host])
            self.names[host] = answers[1:] or answers
            return answers[0]
        if host.rstrip(".").rpartition(".")[2].isalpha() and host != "localhost":
            raise OSError("no such host")
        return await resolve_host(host, port)

    async def connect(self, number: str, _port: int) -> AsyncNetworkStream:
        """Connect the public address to the server, every other one to the canary."""
        if number != PUBLIC:
            self.hits.append(number)
        return await connect_to(INSIDE, self.outside if number == PUBLIC else self.canary)

    async def get(self, url: str, **limits: float) -> Page:
        return await get(url, internet=Internet(self.resolve, self.connect), **limits)


@asynccontextmanager
async def open_world(*, tls: ssl.SSLContext | None = None) -> AsyncIterator[World]:
    made = World(names={"bees.example": [[PUBLIC]]})
    outside = await asyncio.start_server(made.serve, INSIDE, 0, ssl=tls)
    canary = await asyncio.start_server(made.sing, INSIDE, 0)
    made.outside = outside.sockets[0].getsockname()[1]
    made.canary = canary.sockets[0].getsockname()[1]
    async with outside, canary:
        yield made
        await asyncio.sleep(0)  # a connection that was made is accepted, so that it counts


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with open_world() as made:
        yield made


STRAIGHT = [
    *"""
    http://127.0.0.1/ http://127.1/ http://2130706433/ http://0x7f.1/ http://0177.0.0.1/
    http://0x7f000001/ http://017700000001/ http://127.0.1/ http://0/ http://0.0.0.0/
    http://localhost/ http://localhost./ http://LOCALHOST/ http://127.0.0.1./
    http://[::1]/ http://[::]/ http://[::ffff:127.0.0.1]/ http://[::ffff:7f00:1]/
    http://[64:ff9b::7f00:1]/ http://[64:ff9b:1::7f00:1]/ http://[2002:7f00:1::]/
    http://[2001:0:7f00:1::]/ http://[fe80::1%25lo]/ http://[fe80::1%lo]/ http://[fd00:ec2::254]/
    http://100.64.0.1/ http://169.254.169.254/latest/meta-data/ http://10.0.0.1/
    http://192.168.0.1/ http://[::127.0.0.1]/
    http://ok@127.0.0.1/ http://bees.example@127.0.0.1/ http://bees.example:80@127.0.0.1/
    http://127.0.0.1\\@bees.example/ http://bees.example\\@127.0.0.1/ http:\\\\127.0.0.1/
    http://bees.example%00@127.0.0.1/ http://127.0.0.1%2f@bees.example/ http://%31%32%37.0.0.1/
    http://127。0。0。1/ http://①②⑦.⓪.⓪.①/ http://１２７.0.0.1/ http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/
    http://bees.example:22/ http://bees.example:8080/ http://bees.example:0/
    http://bees.example:-1/ http://bees.example:99999/ http://bees.example:80x/
    file:///etc/passwd file://localhost/etc/passwd gopher://127.0.0.1:6379/_INFO
    ftp://127.0.0.1/ dict://127.0.0.1:11211/stats ldap://127.0.0.1/ jar:http://127.0.0.1!/
    data:text/html,x javascript:alert(1) //127.0.0.1/ http:///127.0.0.1 http:127.0.0.1 127.0.0.1
    unix:/var/run/docker.sock http+unix://%2Fvar%2Frun%2Fdocker.sock/ http:// http://./ http://../
""".split(),
    *("http://127.0.0.1 @bees.example/", "http://bees.example/\r\nHost: x", "http://\t127.1/"),
]

NAMED: dict[str, Sequence[Sequence[str]]] = {
    "to the loopback": [[INSIDE]],
    "to a mapped loopback": [["::ffff:127.0.0.1"]],
    "to the private network": [["10.0.0.7"]],
    "to the keys of a cloud": [["169.254.169.254"]],
    "to a public number and the loopback": [[PUBLIC, INSIDE]],
    "to the loopback and a public number": [["::1", PUBLIC]],
    "to NAT64 of the loopback": [["64:ff9b::7f00:1"]],
    "to 6to4": [["2002:7f00:1::"]],
    "to a link": [["fe80::1%2"]],
    "to nothing": [[]],
}

TURNS = {
    "to the loopback": "http://127.0.0.1/",
    "to a number in hex": "http://0x7f.1/",
    "to the keys of a cloud": "http://169.254.169.254/latest/",
    "to IPv6": "http://[::1]/",
    "to a file": "file:///etc/passwd",
    "to gopher": "gopher://127.0.0.1:6379/_",
    "to a port": "http://bees.example:6379/",
    "to a host by two slashes": "//127.0.0.1/",
    "to a host by backslashes": "\\\\127.0.0.1\\",
    "to a name and password": "http://bees.example@127.0.0.1/",
    "to a name that leads inside": "http://inside.example/",
    "to data": "data:text/html,<p>x",
}


async def test_an_address_inside_is_not_visited(world: World) -> None:
    for url in STRAIGHT:
        with pytest.raises((InputError, DocumentError), match=r"\.$"):
            await world.get(url)
        assert world.hits == world.asked == [], url


@pytest.mark.parametrize("case", NAMED)
async def test_a_name_that_leads_inside_is_not_visited(world: World, case: str) -> None:
    world.names["rogue.example"] = NAMED[case]
    with pytest.raises(InputError, match="not on the public internet"):
        await world.get("http://rogue.example/")
    assert world.hits == world.asked == []


async def test_a_name_that_changes_its_mind_gains_nothing(world: World) -> None:
    """It is resolved once for each visit, and the visit goes to the number that was checked."""
    world.names["rebound.example"] = [[PUBLIC], [INSIDE]]
    assert (await world.get("http://rebound.example/")).data == HTML
    with pytest.raises(InputError):
        await world.get("http://rebound.example/")
    assert world.hits == []


async def test_a_name_that_changes_its_mind_over_a_redirect(world: World) -> None:
    world.names["rebound.example"] = [[PUBLIC], [INSIDE]]
    world.pages["/"] = moved("/again")
    with pytest.raises(InputError):
        await world.get("http://rebound.example/")
    assert world.hits == []


@pytest.mark.parametrize("case", TURNS)
async def test_a_redirect_inside_is_not_followed(world: World, case: str) -> None:
    world.names["inside.example"] = [[INSIDE]]
    for status in ("301 Moved", "302 Found", "303 See", "307 Then", "308 So"):
        world.pages["/"] = moved(TURNS[case], status=status)
        world.asked.clear()
        with pytest.raises(InputError):
            await world.get("http://bees.example/")
        assert world.hits == []
        assert len(world.asked) == 1


async def test_the_proxy_and_the_passwords_of_the_environment_are_left_alone(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{world.canary}")
    netrc = tmp_path / "netrc"
    netrc.write_text("machine bees.example login me password secret\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    await world.get("http://bees.example/")
    assert world.hits == []
    (head,) = world.asked
    assert "secret" not in head
    assert "Authorization" not in head
    assert "Cookie" not in head


async def test_no_cookie_is_carried_over_a_redirect(world: World) -> None:
    world.pages["/"] = page(b"", status="302 Found", more="Set-Cookie: a=b\r\nLocation: /next\r\n")
    await world.get("http://bees.example/")
    assert "ookie" not in world.asked[1]


async def test_three_redirects_are_followed_and_a_fourth_is_not(world: World) -> None:
    for step in range(4):
        world.pages[f"/{step}"] = moved(f"/{step + 1}")
    assert (await world.get("http://bees.example/1")).address == "http://bees.example/4"
    with pytest.raises(DocumentError, match="more than 3 times"):
        await world.get("http://bees.example/0")
    assert len(world.asked) == 4 + 4


async def test_a_page_is_fetched_with_its_host_and_its_final_address(world: World) -> None:
    world.pages["/old"] = moved("../new?a=b#c")
    got = await world.get("http://bees.example/old")
    assert (got.address, got.media_type, got.data) == (
        "http://bees.example/new?a=b",
        "text/html",
        HTML,
    )
    assert "\r\nHost: bees.example\r\n" in world.asked[-1]


async def test_the_next_number_of_a_host_is_tried(world: World) -> None:
    async def connect(number: str, port: int) -> AsyncNetworkStream:
        if number != PUBLIC:
            raise ConnectionRefusedError
        return await world.connect(number, port)

    world.names["two.example"] = [["1.1.1.1", PUBLIC]]
    got = await get("http://two.example/", internet=Internet(world.resolve, connect))
    assert got.data == HTML


# --- limits -----------------------------------------------------------------------------------


def chunked(blocks: int, block: bytes, *, more: str = "") -> Answer:
    async def answer(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n{more}"
        writer.write(head.encode() + b"\r\n")
        for _ in range(0, blocks, 10):
            writer.write(b"%x\r\n%s\r\n" % (len(block), block) * 10)
            await writer.drain()
        writer.write(b"0\r\n\r\n")
        await writer.drain()

    return answer


def drip(first: bytes, pause: float) -> Answer:
    async def answer(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(first)
        while not writer.is_closing():
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(pause)

    return answer


TOO_LARGE: dict[str, bytes | Answer] = {
    "by its own word": page(b"").replace(b"Content-Length: 0", b"Content-Length: 2000000"),
    "without a word": chunked(200, b"x" * 10_000),
}


@pytest.mark.parametrize("case", TOO_LARGE)
async def test_a_page_over_the_limit_is_cut_off(world: World, case: str) -> None:
    world.pages["/"] = TOO_LARGE[case]
    with pytest.raises(DocumentError, match=r"more than 0\.2 MB") as refused:
        await world.get("http://bees.example/", max_mb=0.2)
    assert refused.value.code == "too_large"


@pytest.mark.parametrize(
    "first", [b"", page(b"")[:20], b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"]
)
async def test_one_deadline_holds_for_a_page_that_drips(world: World, first: bytes) -> None:
    world.pages["/"] = drip(first, 0.02)
    began = time.perf_counter()
    with pytest.raises(DocumentError, match="did not answer within"):
        await world.get("http://bees.example/", seconds=0.3)
    assert time.perf_counter() - began < 1.5


async def test_one_deadline_holds_for_names_that_are_never_found() -> None:
    async def never(_host: str, _port: int) -> Sequence[str]:
        await asyncio.sleep(60)
        return []

    with pytest.raises(DocumentError, match="did not answer within"):
        await get("http://bees.example/", internet=Internet(never), seconds=0.1)


BROKEN = {
    "nothing": b"",
    "noise": b"\x00\xff" * 100,
    "half a head": b"HTTP/1.1 200 OK\r\nContent-",
    "half a page": page(HTML)[:-10],
    "a head without end": b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 100_000,
    "two lengths": page(HTML, more="Content-Length: 7\r\n"),
    "compressed": page(HTML, more="Content-Encoding: gzip\r\n"),
    "404": page(status="404 Not Found"),
    "401": page(status="401 Unauthorized"),
    "500": page(status="500 Oh"),
    "204": b"HTTP/1.1 204 No Content\r\n\r\n",
    "a film": page(kind="video/mp4"),
    "no type": page(kind=""),
    "a redirect to nowhere": page(status="302 Found"),
}


@pytest.mark.parametrize("case", BROKEN)
async def test_what_is_no_page_is_an_error_with_a_sentence(world: World, case: str) -> None:
    world.pages["/"] = BROKEN[case]
    with pytest.raises(DocumentError) as failed:
        await world.get("http://bees.example/")
    assert str(failed.value).endswith(".")


# --- TLS --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_certificate(tmp_path_factory.mktemp("tls") / "bees.pem", host="bees.example")


async def test_tls_is_spoken_with_the_name_over_the_number_that_was_checked(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trust(certificate, monkeypatch)
    names: list[str | None] = []
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    tls.sni_callback = lambda _socket, name, _context: names.append(name)
    async with open_world(tls=tls) as world:
        world.names["wasps.example"] = [[PUBLIC]]
        assert (await world.get("https://bees.example/")).data == HTML
        assert names == ["bees.example"]
        with pytest.raises(DocumentError, match="certificate"):
            await world.get("https://wasps.example/")


def files_below(folder: Path) -> list[Path]:
    return [each for each in folder.rglob("*") if each.is_file()]


# --- files ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "kind", "name"),
    [
        ("/", "text/html; charset=utf-8", "bees.example.html"),
        ("/a/bee%20book.php", "text/html", "bee book.html"),
        ("/a/talk.srt", "text/plain", "talk.srt"),
        ("/a/talk.vtt", "application/octet-stream", "talk.vtt"),
        ("/a/notes", "text/plain", "notes.txt"),
        ("/a/%2e%2e%2f%2e%2e%2fetc%2fpasswd", "text/plain", "passwd.txt"),
        ("/x/..%5c..%5cboot.ini", "text/plain", "boot.ini"),
        ("/%00%0a", "text/html", "page.html"),
        ("/" + "a" * 500, "text/html", "a" * 100 + ".html"),
        ("/book.pdf", "application/pdf", "book.pdf"),
    ],
)
async def test_a_page_has_a_plain_name_for_its_file(
    world: World, path: str, kind: str, name: str
) -> None:
    world.pages[path] = page(kind=kind)
    assert page_name(await world.get(f"http://bees.example{path}")) == name


async def test_a_page_that_was_fetched_is_a_document_with_its_address(
    world: World, tmp_path: Path
) -> None:
    latin = "<html><title>Abeilles</title><p>Une reine gouverne l'été.".encode("latin-1")
    world.pages["/"] = moved("/fr")
    world.pages["/fr"] = page(
        latin,
        kind="text/html; charset=iso-8859-1",
    )
    got = await world.get("http://bees.example/")
    (tmp_path / page_name(got)).write_bytes(in_utf8(got))
    reading = read(tmp_path / page_name(got), Metadata(url=got.address))
    assert reading.url == "http://bees.example/fr"
    assert "gouverne l'été" in reading.text


def test_what_is_promised_is_what_is_set() -> None:
    assert (outbound.MAX_MB, outbound.SECONDS, outbound.REDIRECTS) == (20, 20.0, 3)
