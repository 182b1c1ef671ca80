"""Metadata from a sidecar file or from front matter."""

from __future__ import annotations

import csv
import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from stat import S_ISREG
from typing import NamedTuple

from quoth.core.custom_metadata import PREFIX, MetadataValue, check_metadata
from quoth.core.errors import InputError
from quoth.ingest.readers.blocks import normalize_whitespace, plain_line, to_plain_text
from quoth.ingest.readers.dates import normalize_date
from quoth.text.recordings import watch_url, youtube_url

SIDECAR = ".meta.json"
TALKS = "talks.meta.csv"
"""A table that describes the files of its folder, by their names in the column "file"."""
SIDECARS = (SIDECAR, ".meta.csv")
MAX_SIDECAR_BYTES = 1 << 20
CUSTOM = "metadata"
"""The key of the owner's own metadata in a sidecar."""

KEYS = ("title", "url", "speaker", "language", "date")
_OTHER_NAMES = {
    "lang": "language",
    "author": "speaker",
    "youtube": "video",
    "youtube_id": "video",
    "video_id": "video",
    "link": "url",
    "webpage_url": "url",
    "published": "date",
    "publish_date": "date",
    "published_at": "date",
    "upload_date": "date",
}
_FRONT = re.compile(r"\s*---[ \t]*\n(?P<lines>.*?\n)?(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_PAIR = re.compile(r"(?P<key>[A-Za-z_][\w -]{0,60}?)[ \t]*:(?:[ \t]+(?P<value>.*))?$")
_NO_AUTHOR = re.compile(
    r"(?:unknown author|(?:\w+ ){0,2}user|utilisateur(?: \w+)?|author|admin|python-\w+|openpyxl"
    r"|xlsxwriter|(?:microsoft|adobe) \w+)",
    re.I,
)
_LANGUAGE = re.compile(r"(?P<primary>[A-Za-z]{2,3})(?:[-_][A-Za-z0-9]{1,8})*")


@dataclass(frozen=True, slots=True)
class Metadata:
    """Metadata of a document."""

    title: str | None = None
    url: str | None = None
    speaker: str | None = None
    language: str | None = None
    date: str | None = None

    def normalized(self) -> Metadata:
        """Return the metadata with normalized URL, language and date."""
        url = self.url and (normalize_url(self.url) or self.url)
        language = self.language and (normalize_language(self.language) or self.language)
        date = self.date and (normalize_date(self.date) or self.date)
        return replace(self, url=url, language=language, date=date)

    def merged_with(self, lower: Metadata) -> Metadata:
        """Return the metadata with missing fields taken from `lower`."""
        names = [field.name for field in fields(self)]
        return Metadata(**{name: getattr(self, name) or getattr(lower, name) for name in names})


EMPTY = Metadata()
"""No metadata given."""


def names_author(stated: str) -> bool:
    """Return whether an author is stated, and not only what programs fill in."""
    return bool(stated) and _NO_AUTHOR.fullmatch(stated) is None


def sidecar(path: Path) -> Path | None:
    """Return the file that describes this one: ``talk.srt.meta.json``, else ``talk.meta.json``."""
    for name in (f"{path.name}{SIDECAR}", f"{path.stem}{SIDECAR}"):
        beside = path.with_name(name)
        if beside != path and beside.is_file():
            return beside
    return None


class TalksTable(NamedTuple):
    """The rows of a table of talks, by the names of their files, and what is wrong with it."""

    rows: Mapping[str, Mapping[str, str]]
    warning: str = ""


def row_beside(path: Path) -> Mapping[str, str] | None:
    """Return the row of a file in the table of its folder, None without one."""
    return _table_beside(path).rows.get(_composed(path.name))


def rows_without_file(table: Path) -> list[str]:
    """Return the names in a table of talks of which its folder has no file."""
    there = {_composed(each.name) for each in table.parent.iterdir()}
    return [name for name in _table_beside(table).rows if name and name not in there]


def _table_beside(path: Path) -> TalksTable:
    table = path.with_name(TALKS)
    try:
        state = table.stat()
        if not S_ISREG(state.st_mode):  # reading a pipe would wait for a writer
            return TalksTable({}, f"{TALKS} is no file and was not used.")
        return _read_table(table, state.st_mtime_ns, state.st_size)
    except FileNotFoundError:
        return TalksTable({})
    except OSError as error:
        return TalksTable({}, f"{TALKS} cannot be read and was not used: {error.strerror}.")


@lru_cache(maxsize=8)
def _read_table(table: Path, _modified: int, size: int) -> TalksTable:
    """Read a table once for all the files of its folder; the first row of a file counts."""
    from quoth.ingest.readers.delimited import separator  # which reads metadata by this module

    if size > MAX_SIDECAR_BYTES:
        return TalksTable({}, f"{TALKS} is larger than 1 MB and was not used.")
    found: dict[str, Mapping[str, str]] = {}
    data = table.read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:  # as spreadsheets in the West save it
        text = data.decode("cp1252", "replace")
    rows = csv.DictReader(text.splitlines(), delimiter=separator(text))
    try:
        for row in rows:
            cells = {key.strip(): cell.strip() for key, cell in row.items() if key and cell}
            found.setdefault(_composed(cells.pop("file", "")), cells)
        named = "file" in [each.strip() for each in rows.fieldnames or ()]
    except csv.Error as error:
        return TalksTable(found, f"{TALKS} was used up to its line {rows.line_num} only: {error}.")
    warning = "" if named else f"{TALKS} has no column 'file' and was not used."
    return TalksTable(found, warning)


def _composed(name: str) -> str:
    """Return a file name with composed accents, as another system may have written it."""
    return unicodedata.normalize("NFC", name)


def read_beside(path: Path) -> tuple[Metadata, list[str]]:
    """Return what the sidecar of a file says, and then the table of its folder.

    What is wrong with them is only a warning.
    """
    beside, table = sidecar(path), _table_beside(path)
    values, warnings = _sidecar_values(beside)
    meta, more = make_meta(values, where=beside.name if beside else SIDECAR)
    lower, last = make_meta(table.rows.get(_composed(path.name), {}), where=TALKS)
    said = [*warnings, *more, *filter(None, [table.warning]), *last]
    return meta.merged_with(lower), said


def read_custom_beside(path: Path) -> tuple[dict[str, MetadataValue], list[str]]:
    """Return the owner's own metadata: those of the sidecar, else columns "meta.KEY" of the table.

    What is wrong with them is only a warning.
    """
    beside = sidecar(path)
    values, _warnings = _sidecar_values(beside)  # `read_beside` says what is wrong with the file
    own = _custom_in(values)
    try:
        return check_metadata(own or _prefixed(row_beside(path) or {})), []
    except InputError as error:
        where = beside.name if beside and own else TALKS
        return {}, [f"{where}: its metadata were not used: {error}"]


def custom_in_sidecar(text: str) -> object:
    """Return what the text of a sidecar gives as the owner's own metadata, empty for nothing."""
    return _custom_in(_json_object(text, name=SIDECAR)[0])


def _custom_in(values: Mapping[str, object]) -> object:
    return values.get(CUSTOM) or _prefixed(values)


def _prefixed(values: Mapping[str, object]) -> dict[str, object]:
    return {
        key.removeprefix(PREFIX): value
        for key, value in values.items()
        if key.startswith(PREFIX) and value not in (None, "")
    }


def _sidecar_values(beside: Path | None) -> tuple[Mapping[str, object], list[str]]:
    """Return the values in a sidecar, empty without one, and what is wrong with it."""
    if beside is None:
        return {}, []
    try:
        if beside.stat().st_size > MAX_SIDECAR_BYTES:
            return {}, [f"{beside.name} is too large for a description and was not used."]
        text = beside.read_text(encoding="utf-8-sig")
    except (ValueError, OSError):
        return {}, [f"{beside.name} is not valid JSON and was not used."]
    return _json_object(text, name=beside.name)


def parse_sidecar(text: str, *, name: str) -> tuple[Metadata, list[str]]:
    """Return the metadata in the text of a sidecar; what is wrong with it is only a warning."""
    values, warnings = _json_object(text, name=name)
    meta, more = make_meta(values, where=name)
    return meta, warnings + more


def _json_object(text: str, *, name: str) -> tuple[Mapping[str, object], list[str]]:
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return {}, [f"{name} is not valid JSON and was not used."]
    if not isinstance(values, dict):
        return {}, [f"{name} is not a JSON object and was not used."]
    return values, []


def front_matter(text: str) -> tuple[Metadata, str, list[str]]:
    """Split front matter (``---``, ``key: value``) from a text; return metadata and the rest.

    Only scalar values are read; lists and nested values are ignored silently. A text that merely
    begins with a line of dashes is returned unchanged.
    """
    head = _FRONT.match(text)
    if head is None:
        return Metadata(), text, []
    values: dict[str, object] = {}
    for line in (head["lines"] or "").splitlines():
        if not line.strip() or line.lstrip().startswith(("#", "- ")) or line[:1].isspace():
            continue
        pair = _PAIR.match(line.rstrip())
        if pair is None:
            return Metadata(), text, []
        value = _scalar(pair["value"] or "")
        if value:
            values[pair["key"]] = value
    known = {key: value for key, value in values.items() if _name(key) in (*KEYS, "video")}
    if not values:
        return Metadata(), text, []
    meta, warnings = make_meta(known, where="The front matter")
    return meta, text[head.end() :], warnings


def make_meta(values: Mapping[str, object], *, where: str) -> tuple[Metadata, list[str]]:
    """Sort out described values; ``where`` names their origin in the warnings."""
    found: dict[str, str] = {}
    warnings: list[str] = []
    unknown: list[str] = []
    for key, value in values.items():
        name = _name(key)
        if key == CUSTOM or key.startswith(PREFIX):
            continue  # `read_custom_beside` reads it
        if name not in (*KEYS, "video"):
            unknown.append(key)
        elif value is None or value == "":
            continue
        elif name == "date" and type(value) is int:  # a year alone, as JSON has it
            found.setdefault(name, str(value))
        elif not isinstance(value, str):
            warnings.append(
                f"{where}: the value of '{normalize_whitespace(key)}' is no text and was not used."
            )
        else:
            found.setdefault(name, plain_line(value))
    if unknown:
        names = ", ".join(f"'{normalize_whitespace(key)[:40]}'" for key in unknown[:10])
        warnings.append(f"{where}: not known and not used: {names}.")
    url = _video_url(found.pop("video", "")) or normalize_url(found.get("url", ""))
    if found.get("url") and url is None:
        warnings.append(f"{where}: '{found['url'][:80]}' is not a web address and was not used.")
    language = normalize_language(found.get("language", ""))
    if found.get("language") and language is None:
        warnings.append(f"{where}: '{found['language'][:40]}' is not a language code.")
    date = normalize_date(found.get("date", ""))
    if found.get("date") and date is None:
        warnings.append(f"{where}: '{found['date'][:40]}' is not a date and was not used.")
    title, speaker = found.get("title") or None, found.get("speaker") or None
    meta = Metadata(title=title, url=url, speaker=speaker, language=language, date=date)
    return meta, warnings


def file_title(name: str) -> str:
    """Return a title made from a file name."""
    return plain_line(Path(name).stem.replace("_", " ")) or name


def normalize_url(text: str) -> str | None:
    """Return a normalized web address: YouTube in canonical form, None for other schemes."""
    address = text.strip()
    video = youtube_url(address)
    if video:
        return video
    return address if re.match(r"(?i)https?://[^\s/]+", address) else None


def normalize_language(text: str) -> str | None:
    """Return the primary part of a language code: ``fr`` for ``fr-CA``."""
    code = _LANGUAGE.fullmatch(text.strip())
    return code["primary"].lower() if code else None


def require_url(text: str) -> None:
    """Raise InputError for what is given as a web address and is none."""
    if text.strip() and normalize_url(text) is None:
        raise InputError(
            f"'{to_plain_text(text)[:80]}' is not a web address. Write one such as "
            "https://example.org/talk."
        )


def require_language(text: str) -> None:
    """Raise InputError for what is given as the code of a language and is none."""
    if text.strip() and normalize_language(text) is None:
        raise InputError(
            f"'{to_plain_text(text)[:40]}' is not a language code. Write one such as en or fr."
        )


def require_date(text: str) -> None:
    """Raise InputError for what is given as a date and is none."""
    if text.strip() and normalize_date(text) is None:
        raise InputError(
            f"'{to_plain_text(text)[:40]}' is not a date. Write one such as 2024-03-01 or 2024."
        )


def _video_url(text: str) -> str | None:
    return watch_url(text) or youtube_url(text) if text else None


def _name(key: str) -> str:
    name = key.strip().lower().replace("-", "_").replace(" ", "_")
    return _OTHER_NAMES.get(name, name)


def _scalar(value: str) -> str:
    text = value.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1].strip()
    if text[:1] in ("[", "{", "|", ">", "&", "*"):
        return ""
    return re.sub(r"(?<!\s)\s+#.*$", "", text)
