"""A server that speaks the protocol of the Hugging Face hub, over repositories made of files.

Large files are behind a redirect to another host, as at the hub, and can be asked for in parts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from tests.support.http_double import Handler, serving

COMMIT = "0123456789abcdef0123456789abcdef01234567"
LARGE_BYTES = 5_000


@dataclass
class Hub:
    """What the server offers and how it fails; ``asked`` are the requests of the large files."""

    url: str = ""
    files: dict[str, dict[str, bytes]] = field(default_factory=dict)
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    cdn: str = ""
    """Where large files are redirected to; the server itself where it is empty."""
    breaks: int = 0
    """Answers that still break off in the middle."""
    other: Mapping[str, bytes] = field(default_factory=dict)
    """Contents that are sent in place of the announced ones."""
    ranges: bool = True

    def listing(self, repository: str) -> bytes:
        """The answer about a repository's files."""
        siblings = []
        for name, content in self.files[repository].items():
            blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
            entry: dict[str, object] = {"rfilename": name, "size": len(content), "blobId": blob}
            if len(content) > LARGE_BYTES:
                digest = hashlib.sha256(content).hexdigest()
                entry["lfs"] = {"sha256": digest, "size": len(content), "pointerSize": 130}
            siblings.append(entry)
        card = {"license": "mit"}
        return json.dumps({"sha": COMMIT, "cardData": card, "siblings": siblings}).encode()


class HubHandler(Handler):
    """Answers from `hub`."""

    hub: Hub

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        if path.startswith("/api/models/"):
            name = path.removeprefix("/api/models/").removesuffix("/revision/main")
            if name not in self.hub.files:
                return self.answer(404, b"")
            return self.answer(200, self.hub.listing(name))
        repository, _, rest = path.strip("/").partition("/resolve/")
        cdn = repository.startswith("cdn/")
        repository = repository.removeprefix("cdn/")
        commit, _, name = rest.partition("/")
        content = self.hub.files.get(repository, {}).get(name)
        if content is None or commit != COMMIT:
            return self.answer(404, b"")
        content = self.hub.other.get(name, content)
        if len(content) > LARGE_BYTES and not cdn:
            where = f"{self.hub.cdn}/cdn/{repository}/resolve/{commit}/{name}"
            return self.answer(302, b"", Location=where)
        return self.part(name, content) if cdn else self.answer(200, content)

    def part(self, name: str, content: bytes) -> None:
        wanted = self.headers.get("Range")
        self.hub.asked.append((name, wanted))
        start = 0
        if wanted and self.hub.ranges:
            start = int(wanted.removeprefix("bytes=").removesuffix("-"))
        self.send_response(206 if start else 200)
        if start:
            last = len(content) - 1
            self.send_header("Content-Range", f"bytes {start}-{last}/{len(content)}")
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        if self.hub.breaks:
            self.hub.breaks -= 1
            self.wfile.write(content[start : start + 4_000])
            self.close_connection = True
            self.connection.shutdown(1)
            return
        self.wfile.write(content[start:])


@contextmanager
def hub_server() -> Iterator[Hub]:
    """Serve a hub on a port of this machine."""
    hub = Hub()
    handler = type("HubHandler", (HubHandler,), {"hub": hub})
    with serving(handler) as hub.url:
        yield hub
