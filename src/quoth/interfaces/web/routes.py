"""The routes of the web app: one page and its static files, the same for every visitor.

They hold no data, so they need no key; the page reads all data from the routes below ``/v1``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable

from fastapi import APIRouter
from starlette.responses import Response

from quoth.core.errors import NotFound

router = APIRouter(include_in_schema=False)

ADDRESSES = (
    "/",
    "/history",
    "/library",
    "/settings",
    "/q/{query_id}",
    "/q/{query_id}/explain",
    "/d/{document_id}",
)
"""Addresses of the app; ``pages.js`` says what each of them shows."""
PAGES = frozenset(address for address in ADDRESSES if "{" not in address)
PREFIXES = ("/static/", *(address.partition("{")[0] for address in ADDRESSES if "{" in address))
MEDIA_TYPES = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "json": "application/json",
    "svg": "image/svg+xml",
}
"""The files that are served; others, such as types and licences, are not."""
FOREVER = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class Site:
    """The page and the static files; ``version`` changes with any of them.

    ``preload`` is the header that names all modules.
    """

    version: str
    page: bytes
    preload: str
    files: dict[str, bytes]


def is_public(path: str) -> bool:
    """Return whether a path belongs to the web app, which needs no key."""
    return path in PAGES or path.startswith(PREFIXES)


@cache
def load_site() -> Site:
    """Read the page and the static files of the package."""
    folder = files(__package__) / "static"
    found = dict(sorted(_read(folder, "")))
    template = (folder / "index.html").read_text(encoding="utf-8")
    digest = sha256(template.encode())
    for name, content in found.items():
        digest.update(name.encode() + b"\0" + content)
    version = digest.hexdigest()[:12]
    root = f"/static/{version}"
    # Modules import each other: without this the browser finds them one level at a time.
    preload = ", ".join(
        f"<{root}/{name}>; rel=modulepreload" for name in found if name.endswith(".js")
    )
    return Site(version, template.replace("{static}", root).encode(), preload, found)


def _read(folder: Traversable, prefix: str) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    for each in folder.iterdir():
        if each.is_dir():
            found += _read(each, f"{prefix}{each.name}/")
        elif each.name.rpartition(".")[2] in MEDIA_TYPES:
            found.append((prefix + each.name, each.read_bytes()))
    return found


async def page() -> Response:
    """Return the page of the app; its address selects what the page shows."""
    return Response(
        load_site().page,
        media_type="text/html; charset=utf-8",
        headers={"cache-control": "no-cache", "link": load_site().preload},
    )


for _address in ADDRESSES:
    router.add_api_route(_address, page, methods=["GET", "HEAD"])


@router.get("/static/{version}/{name:path}")
async def static_file(version: str, name: str) -> Response:
    """Return a static file; raises NotFound for another version."""
    site = load_site()
    if version != site.version or name not in site.files:
        raise NotFound("There is no such file in this version. Load the page again.")
    kind = MEDIA_TYPES[name.rpartition(".")[2]]
    return Response(site.files[name], media_type=kind, headers={"cache-control": FOREVER})
