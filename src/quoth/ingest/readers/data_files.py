"""JSON, YAML, TOML, XML and INI: their lines, with a section for every part at the top."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from quoth.core.errors import DocumentError
from quoth.core.types import ParsedDocument
from quoth.ingest.readers.source_file import SourceFile
from quoth.ingest.readers.source_lines import Symbol, numbered_lines

LONG_LINE = 2_000
"""Characters of a line from which JSON is taken for written without line breaks."""
MAX_SYMBOLS = 500
"""Parts of a file that are sections of their own."""
MAX_REWRITTEN = 20 << 20

_JSON_KEY = re.compile(r'^(?P<indent>[ \t]+)"(?P<key>(?:[^"\\]|\\.){1,100})"\s*:')
_YAML_KEY = re.compile(r"^(?P<key>[^\s#'\"\[{&*!|>%@`-][^:#]{0,100}?):(?=\s|$)")
_TABLE = re.compile(r"^\s*\[{1,2}\s*+(?P<key>[^\[\]]{1,100}?)\s*\]{1,2}\s*(?:[#;].*)?$")
_XML_TAG = re.compile(r"^(?P<indent>\s*)<(?P<key>[A-Za-z][\w:.-]{0,80})[\s>]")


def read_data_file(file: SourceFile) -> ParsedDocument:
    """Read a file of data as it is; raises DocumentError for JSON that is none.

    JSON in one long line is written anew, with a line for every value.
    """
    suffix = Path(file.name).suffix.lower()
    text = file.text
    warnings: tuple[str, ...] = ()
    if suffix in (".json", ".jsonl", ".json3"):
        text, warnings = _json_text(file, by_line=suffix == ".jsonl")
    found = list(_symbols(text, suffix=suffix))[:MAX_SYMBOLS]
    return file.document("code", numbered_lines(text, found), warnings=warnings)


def _json_text(file: SourceFile, *, by_line: bool) -> tuple[str, tuple[str, ...]]:
    if by_line:
        return file.text, ()
    try:
        value = json.loads(file.text)
    except ValueError:
        raise DocumentError(
            "damaged", f"{file.name} is not valid JSON. Write the file again."
        ) from None
    except RecursionError:
        raise DocumentError("too_large", f"{file.name} is nested too deeply to be read.") from None
    longest = max(map(len, file.text.split("\n")))
    if longest < LONG_LINE or len(file.text) > MAX_REWRITTEN:
        return file.text, ()
    try:
        text = json.dumps(value, ensure_ascii=False, indent=1)
    except (ValueError, RecursionError):
        return file.text, ()
    warning = "The file has no line breaks: its lines are counted as they are shown here."
    return text.encode("utf-8", "replace").decode(), (warning,)


def _symbols(text: str, *, suffix: str) -> Iterator[Symbol]:
    """Return the keys, tables and elements at the top of a file."""
    lines = text.split("\n")
    if suffix in (".toml", ".ini", ".cfg", ".conf", ".properties"):
        pattern = _TABLE
    elif suffix in (".yaml", ".yml"):
        pattern = _YAML_KEY
    else:
        pattern = _JSON_KEY if text.lstrip()[:1] in "{[" else _XML_TAG
    matches = [
        (number, match) for number, line in enumerate(lines, 1) if (match := pattern.match(line))
    ]
    if "indent" in pattern.groupindex:
        widths = [len(match["indent"].expandtabs()) for _, match in matches]
        top = min((width for width in widths if width), default=0)
        matches = [each for each, width in zip(matches, widths, strict=True) if width == top]
    for number, match in matches:
        if pattern not in (_JSON_KEY, _YAML_KEY) or not lines[number - 1][match.end() :].strip(
            " {["
        ):
            yield Symbol(number, match["key"].strip())
