"""Read evaluation files row by row; whatever is wrong is said with its file and line."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from quoth.core.errors import InputError

Row = Mapping[str, object]
HELD_OUT = "heldout"
"""What is measured unless another part is named; rules are written with the other one."""
ALL = "all"


def locate_file(folder: Path, name: str) -> Path:
    """Return the file of that name, plain or gzipped; raises InputError where there is none."""
    for path in (folder / name, folder / f"{name}.gz"):
        if path.is_file():
            return path
    raise InputError(f"There is no {name} or {name}.gz in {folder}. Name the folder of a set.")


def locate_rows(folder: Path, split: str | None) -> tuple[str, list[Path]]:
    """Return the part of a set that is measured, and its files, plain or gzipped.

    Without a name it is ``heldout.jsonl`` where there is one, else every file of JSON lines but
    the corpus. Of a file and its gzipped copy it is the plain one. Raises InputError where there
    is none.
    """
    if split is not None:
        return split, [locate_file(folder, f"{split}.jsonl")]
    plain = [*folder.glob("*.jsonl")]
    packed = [path for path in folder.glob("*.jsonl.gz") if path.with_suffix("") not in plain]
    found = [*plain, *packed]
    own = sorted(path for path in found if path.name.partition(".")[0] != "corpus")
    held = [path for path in own if path.name.removesuffix(".gz") == f"{HELD_OUT}.jsonl"]
    if not own:
        raise InputError(f"There is no file of JSON lines (.jsonl) in {folder}.")
    return (HELD_OUT, held) if held else (ALL, own)


def require_ids(rows: Iterable[tuple[str, str]]) -> None:
    """Raise InputError where two rows, given with their places, have the same id."""
    places: dict[str, str] = {}
    for key, at in rows:
        if key in places:
            raise InputError(f"{at} has the id '{key}' of {places[key]}.")
        places[key] = at


def read_rows(path: Path) -> Iterator[tuple[Row, str]]:
    """Yield every JSON object with its place, as ``file, line n``; raises InputError."""
    for number, line in read_lines(path):
        at = f"{path}, line {number}"
        try:
            row = json.loads(line)
        except ValueError as error:
            raise InputError(f"{at} is not JSON: {error}.") from None
        if not isinstance(row, dict):
            raise InputError(f"{at} is not a JSON object.")
        yield row, at


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, with their numbers from 1; raises InputError."""
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield number, line.rstrip("\r\n")
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8 text. Save it as UTF-8.") from None
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise InputError(f"{path} is a damaged gzip file. Fetch it again.") from None


def read_object(path: Path) -> Row:
    """Read a file that is one JSON object; raises InputError."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"There is no {path}.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}.") from None
    except ValueError as error:
        raise InputError(f"{path} is not JSON: {error}.") from None
    if not isinstance(found, dict):
        raise InputError(f"{path} is not a JSON object.")
    return found


def text(row: Row, key: str, at: str, *, empty: bool = False) -> str:
    """Return the text under a key; an id may be a whole number, or stand under '_id' as in BEIR.

    Raises InputError.
    """
    value = row.get("_id") if key == "id" and "id" not in row else row.get(key)
    if key == "id" and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not (value.strip() or empty):
        raise InputError(f"{at} needs a text under '{key}'.")
    return value


def optional(row: Row, key: str, at: str) -> str:
    """Return the text under a key, empty where there is none; raises InputError."""
    return "" if row.get(key) is None else text(row, key, at, empty=True)


def truth(row: Row, key: str, at: str) -> bool:
    """Return the true or false under a key; raises InputError."""
    value = row.get(key)
    if not isinstance(value, bool):
        raise InputError(f"{at} needs true or false under '{key}'.")
    return value


def texts(row: Row, key: str, at: str) -> tuple[str, ...]:
    """Return the list of texts under a key, empty where there is none; raises InputError."""
    values = row.get(key, [])
    if not isinstance(values, list) or not all(isinstance(each, str) for each in values):
        raise InputError(f"{at} needs a list of texts under '{key}'.")
    return tuple(values)


def objects(row: Row, key: str, at: str) -> tuple[Row, ...]:
    """Return the list of objects under a key, empty where there is none; raises InputError."""
    values = row.get(key, [])
    if not isinstance(values, list) or not all(isinstance(each, dict) for each in values):
        raise InputError(f"{at} needs a list of objects under '{key}'.")
    return tuple(values)
