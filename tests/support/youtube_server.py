"""A server that answers as YouTube does, from the answers that youtube-transcript-api recorded."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from httpcore import AsyncNetworkStream

from quoth.ingest.sources.http import Internet, connect_to

PUBLIC = "93.184.216.34"
HOST = "www.youtube.com"


@cache
def recorded(name: str) -> str:
    """A recorded answer, by the name of its file."""
    spec = find_spec("youtube_transcript_api")
    assert spec is not None
    assert spec.origin is not None
    return (Path(spec.origin).parent / "test" / "assets" / name).read_text(encoding="utf-8")


def player(name: str, video: str, *, title: str, description: str = "") -> str:
    """A recorded answer of the player for another video."""
    answer = json.loads(recorded(f"{name}.innertube.json.static"))
    details = {"videoId": video, "title": title, "author": "Ada", "shortDescription": description}
    answer["videoDetails"] = details
    text = json.dumps(answer)
    return text.replace("GJLlxj_dtq8", video)


def transcript(lines: Sequence[str]) -> str:
    """Captions of these lines, ten seconds each."""
    rows = (f'<text start="{10 * at}" dur="9.5">{line}</text>' for at, line in enumerate(lines))
    return f'<?xml version="1.0" encoding="utf-8" ?><transcript>{"".join(rows)}</transcript>'


def playlist(videos: Mapping[str, str]) -> str:
    """What a list answers: its videos with their titles."""
    rows = [
        {"playlistVideoRenderer": {"videoId": video, "title": {"runs": [{"text": title}]}}}
        for video, title in videos.items()
    ]
    listed: object = {"playlistVideoListRenderer": {"contents": rows}}
    for name in ("itemSectionRenderer", "sectionListRenderer"):
        listed = {name: {"contents": [listed]}}
    tab = {"tabRenderer": {"selected": True, "content": listed}}
    data = {
        "contents": {"twoColumnBrowseResultsRenderer": {"tabs": [tab]}},
        "metadata": {"playlistMetadataRenderer": {"title": "Lectures"}},
    }
    return json.dumps(data)


@dataclass
class YouTube:
    """The videos that the server has: what the player says of each, and its captions."""

    players: dict[str, str] = field(default_factory=dict)
    captions: dict[str, str] = field(default_factory=dict)
    lists: dict[str, dict[str, str]] = field(default_factory=dict)
    page: str = "youtube.html.static"
    asked: list[str] = field(default_factory=list)
    port: int = 0

    def add(self, video: str, *lines: str, title: str = "", description: str = "") -> None:
        """Add a video with captions."""
        self.players[video] = player("youtube", video, title=title, description=description)
        self.captions[video] = transcript(lines)

    @property
    def internet(self) -> Internet:
        """Hooks by which the address of YouTube leads here."""

        async def resolve(host: str, _port: int) -> Sequence[str]:
            if host != HOST:
                raise OSError("no such host")
            return [PUBLIC]

        async def connect(_number: str, _port: int) -> AsyncNetworkStream:
            return await connect_to("127.0.0.1", self.port)

        return Internet(resolve, connect)

    def videos_asked(self) -> list[str]:
        """The videos whose page was asked for, in order."""
        return [video for line in self.asked if (video := query(line, "v")) and "/watch" in line]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        address = head.split(" ")[1]
        lengths = [line for line in head.split("\r\n") if line.lower().startswith("content-length")]
        body = await reader.readexactly(int(lengths[0].partition(":")[2])) if lengths else b"{}"
        self.asked.append(address)
        status, text = self._answer(address, json.loads(body or b"{}"))
        data = text.encode()
        writer.write(f"HTTP/1.1 {status}\r\nContent-Length: {len(data)}\r\n\r\n".encode() + data)
        await writer.drain()
        writer.close()

    def _answer(self, address: str, body: Mapping[str, object]) -> tuple[str, str]:
        path = urlsplit(address).path
        if path == "/watch":
            return "200 OK", recorded(self.page)
        if path == "/youtubei/v1/player":
            return "200 OK", self.players[str(body["videoId"])]
        if path == "/api/timedtext":
            return "200 OK", self.captions[query(address, "v")]
        if path == "/playlist":
            data = playlist(self.lists[query(address, "list")])
            return "200 OK", f"<script>var ytInitialData = {data};</script>"
        if path == "/youtubei/v1/browse":
            return "200 OK", playlist(self.lists[str(body["browseId"]).removeprefix("VL")])
        return "404 Not Found", ""


def query(address: str, name: str) -> str:
    """A value in the query of an address."""
    return parse_qs(urlsplit(address).query).get(name, [""])[0]


def trust(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let fetching trust this certificate, and read anew whom it trusts."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    monkeypatch.setattr("quoth.ingest.sources.http.tls_context", ssl.create_default_context)


@asynccontextmanager
async def open_youtube(certificate: Path) -> AsyncIterator[YouTube]:
    """Serve over TLS with a certificate of `make_certificate`."""
    made = YouTube()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0, ssl=context)
    made.port = server.sockets[0].getsockname()[1]
    async with server:
        yield made


def make_certificate(file: Path, *, host: str = HOST) -> Path:
    """Write a certificate of a host that is its own authority, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, host)])
    now = datetime.now()
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=2))
        .not_valid_after(now + timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem, private = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    plain = serialization.NoEncryption()
    file.write_bytes(key.private_bytes(pem, private, plain) + made.public_bytes(pem))
    return file
