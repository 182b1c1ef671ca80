"""Find the files to add, and detect changes."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from hashlib import file_digest
from itertools import product
from math import inf
from os.path import exists, isdir, islink, realpath
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING
from urllib.parse import unquote

from quoth.core.errors import DocumentError
from quoth.ingest.readers.formats import HIDDEN, SUFFIX_FORMATS, is_wanted
from quoth.ingest.readers.media import MEDIA_SUFFIXES, captions_beside
from quoth.ingest.readers.metadata import SIDECARS, TALKS, row_beside, rows_without_file, sidecar

if TYPE_CHECKING:
    from hashlib import _Hash

IGNORE = ".quothignore"
"""The file of a folder that lists patterns of what is not added, one a line."""
LINKED = "link to a folder"
"""How a link that leads out of an added folder to another one is counted; none is followed."""

SHOWN = "pictures of pages"
"""How a picture is counted that a page of the same folder shows: it is no document of its own."""

GENERATED = "pages' scripts, styles, indexes and sources"
"""How files are counted that a site of documentation is built with and that repeat its pages."""

BUILDS: Mapping[str, re.Pattern[str]] = {
    "objects.inv": re.compile(  # Sphinx
        r"_sources/.*|_static/.*\.(?:m?js|css|png|jpe?g|svg|gif|txt|json)|searchindex\.js"
        r"|(?:genindex[^/]*|py-modindex|search)\.html"
    ),
    "search/search_index.json": re.compile(  # MkDocs
        r"search/(?:search_index\.json|[^/]*\.js)|assets/.*\.(?:js|css)"
    ),
    "search/searchdata.js": re.compile(  # Doxygen
        r"search/[^/]*\.(?:js|css|html)|[^/]*\.(?:js|css)"
    ),
}
"""The file by which a built site is known, and what is left out below its folder."""

INSTALLED = ("node_modules", "__pycache__", "site-packages")
"""Folders of installed packages and compiled code: never a person's own documents."""

PAGES = frozenset(["html", "markdown", "rst", "asciidoc", "org", "latex"])
"""Formats that show pictures by the names of their files."""
MAX_PAGE_BYTES = 4 << 20
_PICTURE = re.compile(
    r"""(?:\bsrc\s{0,3}=\s{0,3}["']?|!\[[^\[\]\n]{0,300}\]\(<?|!\[\[|\b(?:image|figure)::\s{0,9}"""
    r"""|\[\[file:|\\includegraphics(?:\[[^\]\n]{0,300}\])?\{)"""
    r"""([^"'()<>\[\]{}:=\n]{1,300}?\.(?:png|jpe?g|tiff?))(?![\w.])""",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class FoundFiles:
    """What sources hold.

    ``left_out`` counts the files below folders that are not read, by suffix in small letters;
    ``missing`` are the files that tables of talks name and that are not there, by table.
    """

    files: list[Path]
    left_out: Counter[str]
    missing: dict[Path, list[str]]


def find_files(sources: Sequence[Path]) -> list[Path]:
    """Return the files to add of these sources, as `look_through` finds them."""
    return look_through(sources).files


def look_through(
    sources: Sequence[Path], *, include: Sequence[str] = (), exclude: Sequence[str] = ()
) -> FoundFiles:
    """Find the given files, and the supported files below the given folders, without duplicates.

    Of folders, only files that one of the ``include`` patterns matches, if there are any, and none
    that ``exclude`` or the file `IGNORE` of the folder does; none of `INSTALLED`. Without
    ``include`` no picture that a page of HTML or Markdown there shows (`SHOWN`), and nothing of
    `BUILDS`.

    A file given directly is returned whatever its name, except a sidecar of another file; in
    folders, hidden files, sidecars and unknown suffixes are skipped. A missing source is returned
    too: reading it reports the error. A link to a file is the file that it leads to, also outside
    the folder; links to folders are not followed, so that none can lead round in a circle, and
    those to a folder that is in none of the sources are counted as `LINKED`.
    """
    found = FoundFiles([], Counter(), {})
    # An unreadable path is not a folder here; reading it reports the error.
    folders = [source for source in sources if isdir(source)]
    targets = [folder.resolve() for folder in folders]
    chosen: dict[Path, None] = {}
    for source in sources:
        if source not in folders:
            if len(sources) == 1 or not source.name.endswith(SIDECARS):
                chosen[_resolved(source)] = None
            continue
        inside = {path: path.relative_to(source).as_posix() for path in _not_ignored(source)}
        paths = [path for path, name in inside.items() if not _matches(name, exclude)]
        parts = {} if include else _parts_of_pages(paths)
        for path in paths:
            if path in parts:
                found.left_out[parts[path]] += 1
            elif isdir(path):
                linked = islink(path) and not any(map(path.resolve().is_relative_to, targets))
                found.left_out[LINKED] += linked
            elif path.name == TALKS and (names := rows_without_file(path)):
                found.missing[path] = names
            elif not is_wanted(path):
                found.left_out[path.suffix.lower()] += _is_unread(path)
            elif not include or _matches(inside[path], include):
                chosen[_resolved(path)] = None
    return FoundFiles(list(chosen), +found.left_out, found.missing)


def _resolved(path: Path) -> Path:
    """Return the file that a path leads to; a link whose target is gone keeps its own name."""
    as_named = "\x00" in str(path) or (islink(path) and not exists(path))
    return path if as_named else path.resolve()


def _is_unread(path: Path) -> bool:
    """Return whether nothing is read of a file, neither beside nor in place of another."""
    if path.name.lower().endswith(SIDECARS):
        return False
    # The captions beside a recording are read in its place.
    return path.suffix.lower() not in MEDIA_SUFFIXES or captions_beside(path) is None


def _parts_of_pages(paths: Sequence[Path]) -> dict[Path, str]:
    """Return the files of a folder that belong to its pages, and how they are counted."""
    kinds = {path: SUFFIX_FORMATS.get(path.suffix.lower()) for path in paths}
    pictures = {realpath(path): path for path, kind in kinds.items() if kind == "picture"}
    shown: set[Path] = set()
    for page in (path for path, kind in kinds.items() if pictures and kind in PAGES):
        if not page.is_file():  # reading a pipe would wait for a writer
            continue
        with suppress(OSError, ValueError), page.open("rb") as file:
            names = _PICTURE.findall(file.read(MAX_PAGE_BYTES).decode("utf-8", "replace"))
            found = {realpath(page.parent / unquote(name)) for name in names}
            shown |= {pictures[each] for each in found & pictures.keys()}
    return dict.fromkeys(shown, SHOWN) | dict.fromkeys(_built(paths), GENERATED)


def _built(paths: Sequence[Path]) -> Iterator[Path]:
    """Yield the files that sites of documentation are built with or that repeat their pages."""
    sites: dict[Path, re.Pattern[str]] = {}
    for path in paths:
        for marker, pattern in BUILDS.items():
            if path.as_posix().endswith(f"/{marker}"):
                sites[path.parents[marker.count("/")]] = pattern
    for path in paths:
        for root in path.parents if sites else ():
            inside = path.relative_to(root).as_posix() if root in sites else ""
            if inside and sites[root].fullmatch(inside) and not isdir(path):
                yield path


def _not_ignored(folder: Path) -> Iterator[Path]:
    ignored = [*INSTALLED, *_ignored(folder)]
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        hidden = any(part.startswith(HIDDEN) for part in inside.parts)
        if not hidden and not _matches(inside.as_posix(), ignored):
            yield path


def _ignored(folder: Path) -> list[str]:
    """Return the patterns of a folder's `IGNORE` file."""
    file = folder / IGNORE
    try:
        text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
    except OSError:
        return []
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def _matches(inside: str, patterns: Sequence[str]) -> bool:
    """Return whether a path below a folder, its name or a folder of it fits a pattern."""
    name = inside.rpartition("/")[2]
    return any(
        fnmatchcase(inside, pattern.strip("/"))
        or fnmatchcase(name, pattern)
        or fnmatchcase(inside, f"{pattern.strip('/')}/*")
        for pattern in patterns
    )


def fingerprint(path: Path, *, given: Sequence[str | None], most_mb: float = inf) -> str:
    """Return the SHA-256 of the file, what describes it and the caller's metadata.

    Raises DocumentError for what is no file, cannot be read or is larger than ``most_mb``.
    """
    try:
        found = path.stat()
        # Reading a pipe would wait for a writer.
        if not S_ISREG(found.st_mode):
            raise DocumentError(
                "unreadable", f"{path} is a pipe, a device or a folder: only files are read."
            )
        if found.st_size > most_mb * 1_000_000:
            raise DocumentError(
                "too_large",
                f"{path.name} has {found.st_size / 1e6:.0f} MB; the limit is {most_mb} MB "
                "(QUOTH_MAX_FILE_MB).",
            )
        return _sealed(_content(path), (*given, _beside(path)))
    except (FileNotFoundError, ValueError):
        if islink(path):
            raise DocumentError("not_found", f"{path} is a link to a file that is gone.") from None
        raise DocumentError("not_found", f"There is no file or folder {path}.") from None
    except OSError as error:
        raise DocumentError("unreadable", f"{path} cannot be read: {error.strerror}.") from error


def is_unchanged(path: Path, *, known: str, said: Sequence[str | None]) -> bool:
    """Return whether a file still has the fingerprint ``known``.

    ``said`` is the stored metadata, in the order of `fingerprint`: each value may come from the
    caller or from the file. Raises OSError.
    """
    content, beside = _content(path), _beside(path)
    choices = ((None, each) if each else (None,) for each in said)
    # A date, the fifth, is counted only where it was given.
    return any(
        _sealed(content, (*given[:4], *filter(None, given[4:]), beside)) == known
        for given in product(*choices)
    )


def _content(path: Path) -> _Hash:
    with path.open("rb") as file:
        return file_digest(file, "sha256")


def _sealed(content: _Hash, parts: Sequence[str | None]) -> str:
    found = content.copy()
    for part in parts:
        found.update(b"\x00" if part is None else b"\x01" + part.encode("utf-8", "replace"))
    return found.hexdigest()


def _beside(path: Path) -> str | None:
    """Return what the sidecar and the table of the folder say of a file."""
    described, row = sidecar(path), row_beside(path)
    text = described.read_text(encoding="utf-8", errors="replace") if described else None
    return text if row is None else (text or "") + json.dumps(row)
