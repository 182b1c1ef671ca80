"""The routes of the web app: its pages and static files, the same for every visitor.

They hold no data, so they need no key; the pages read all data from the routes below ``/v1``.
Reading on in a PDF and playing a video of YouTube are pages of their own, since each of them needs
a policy that no other page has.
"""

from __future__ import annotations

import asyncio
import gzip
import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from importlib.resources.abc import Traversable

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from quoth.core.errors import NotFound
from quoth.interfaces.http.middleware.client_address import base_path
from quoth.interfaces.http.middleware.security_headers import POLICY, SECURITY

router = APIRouter(include_in_schema=False)

LIVE_PAGE = "/live/{session_id}"
ADDRESSES = (
    "/",
    "/compare",
    "/history",
    "/library",
    "/live",
    "/settings",
    "/q/{query_id}",
    "/q/{query_id}/explain",
    "/d/{document_id}",
    LIVE_PAGE,
)
"""Addresses of the app; ``pages.js`` says what each of them shows."""
PAGES = frozenset(address for address in ADDRESSES if "{" not in address)
PREFIXES = (
    *("/static/", "/pdf/", "/youtube/"),
    *(address.partition("{")[0] for address in ADDRESSES if "{" in address),
)
MEDIA_TYPES = {
    "bcmap": "application/octet-stream",
    "css": "text/css; charset=utf-8",
    "icc": "application/octet-stream",
    "js": "text/javascript; charset=utf-8",
    "json": "application/json",
    "mjs": "text/javascript; charset=utf-8",
    "pfb": "application/octet-stream",
    "svg": "image/svg+xml",
    "ttf": "font/ttf",
    "wasm": "application/wasm",
}
"""The files that are served; others, such as types and licences, are not."""
FOREVER = "public, max-age=31536000, immutable"
PDF_FILES = ("vendor/pdfjs/", "components/pdf-", "pdf")
"""Files that only the page of a PDF loads."""
IMPORT = re.compile(r'^import (?:[^;"]* from )?"(\.[^"]+)";', re.MULTILINE)
"""The import of a module at the beginning of another."""
PDF_POLICY = POLICY.replace("script-src 'self'", "script-src 'self' 'wasm-unsafe-eval'")
"""pdf.js decodes some images with WebAssembly, in its worker, which has the policy of its file."""
PLAYER_POLICY = (
    "default-src 'none'; style-src 'self'; frame-src https://www.youtube-nocookie.com; "
    "base-uri 'none'; frame-ancestors 'self'"
)
VIDEO = re.compile(r"[A-Za-z0-9_-]{11}")


@dataclass(frozen=True, slots=True)
class Site:
    """The pages by name and the static files; ``version`` changes with any of them.

    ``modules`` are the names of the modules that each page loads.
    """

    version: str
    pages: Mapping[str, bytes]
    modules: Mapping[str, Sequence[str]]
    files: Mapping[str, bytes]


def is_public(path: str) -> bool:
    """Return whether a path belongs to the web app, which needs no key."""
    return path in PAGES or path.startswith(PREFIXES)


@cache
def load_site() -> Site:
    """Read the pages and the static files of the package."""
    folder = files(__package__) / "static"
    found = dict(sorted(_read(folder, "")))
    digest = sha256()
    for name, content in found.items():
        digest.update(name.encode() + b"\0" + content)
    version = digest.hexdigest()[:12]
    # Modules import each other: without this the browser finds them one level at a time.
    modules = {
        "index": sorted(_imported("app.js", found)),
        "pdf": sorted(_imported("components/pdf-reader.js", found)),
    }
    pages = {
        name.removesuffix(".html"): found.pop(name)
        for name in list(found)
        if name.endswith(".html")
    }
    return Site(version, pages, modules, found)


def _imported(name: str, files: Mapping[str, bytes]) -> set[str]:
    """Return a module and all that it imports when it is loaded, not those it imports later."""
    known, left = {name}, [name]
    while left:
        here = left.pop()
        for path in IMPORT.findall(files[here].decode()):
            module = posixpath.normpath(posixpath.join(posixpath.dirname(here), path))
            if module not in known:
                known.add(module)
                left.append(module)
    return known


def _read(folder: Traversable, prefix: str) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    for each in folder.iterdir():
        if each.is_dir():
            found += _read(each, f"{prefix}{each.name}/")
        elif each.name.rpartition(".")[2] in (*MEDIA_TYPES, "html"):
            found.append((prefix + each.name, each.read_bytes()))
    return found


async def app_page(request: Request) -> Response:
    """Return the page of the app; its address selects what the page shows."""
    return _page(request, "index", {})


def unknown_page(request: Request) -> Response:
    """Return the page of the app for an address that shows nothing."""
    page = _page(request, "index", {})
    page.status_code = 404
    return page


async def live_page(request: Request) -> Response:
    """Return the page of the app for a live session, which alone may use the microphone."""
    allowed = SECURITY["permissions-policy"].replace("microphone=()", "microphone=(self)")
    return _page(request, "index", {"permissions-policy": allowed})


async def pdf_page(request: Request) -> Response:
    """Return the page that shows a PDF file as a whole."""
    return _page(request, "pdf", {"content-security-policy": PDF_POLICY})


@router.get("/youtube/{video}")
async def youtube_page(video: str, request: Request, start: int = 0) -> Response:
    """Return YouTube's player of a video, where the operator allows it; raises NotFound."""
    if not request.app.state.tenants.settings.youtube_player or not VIDEO.fullmatch(video):
        raise NotFound("There is no player here.")
    address = f"https://www.youtube-nocookie.com/embed/{video}?start={max(0, start)}"
    # The player refuses pages that do not name themselves.
    referrer = {"referrer-policy": "strict-origin-when-cross-origin"}
    headers = {"content-security-policy": PLAYER_POLICY, **referrer}
    return _page(request, "youtube", headers, address=address)


def _page(
    request: Request, name: str, headers: Mapping[str, str], *, address: str = ""
) -> Response:
    site = load_site()
    base = base_path(request.app.state.tenants.settings)
    static = f"{base}/static/{site.version}"
    page = site.pages[name].decode()
    for placeholder, value in (("static", static), ("base", base), ("address", address)):
        page = page.replace(f"{{{placeholder}}}", escape(value))
    links = (f"<{static}/{module}>; rel=modulepreload" for module in site.modules.get(name, ()))
    return Response(
        page,
        media_type="text/html; charset=utf-8",
        headers={"cache-control": "no-cache", "link": ", ".join(links), **headers},
    )


for _address in ADDRESSES:
    _show = live_page if _address == LIVE_PAGE else app_page
    router.add_api_route(_address, _show, methods=["GET", "HEAD"])
router.add_api_route("/pdf/{document_id}", pdf_page, methods=["GET", "HEAD"])


@router.get("/static/{version}/{name:path}")
async def static_file(version: str, name: str, request: Request) -> Response:
    """Return a static file; raises NotFound for another version."""
    site = load_site()
    if version != site.version or name not in site.files:
        raise NotFound("There is no such file in this version. Load the page again.")
    headers = {"cache-control": FOREVER, "vary": "accept-encoding"}
    if name.startswith(PDF_FILES):
        headers["content-security-policy"] = PDF_POLICY
    content = site.files[name]
    if "gzip" in request.headers.get("accept-encoding", ""):
        content = await asyncio.to_thread(_compressed, name)
        headers["content-encoding"] = "gzip"
    kind = MEDIA_TYPES[name.rpartition(".")[2]]
    return Response(content, media_type=kind, headers=headers)


@cache
def _compressed(name: str) -> bytes:
    return gzip.compress(load_site().files[name])
