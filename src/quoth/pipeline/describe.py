"""Changing what is known of a document: its title, address, speaker, language and date."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from quoth.core.errors import DocumentError, InputError
from quoth.core.types import Document
from quoth.ingest.readers.metadata import SIDECAR, make_meta, read_sidecar
from quoth.pipeline.sync import source_path

KEYS = ("title", "url", "speaker", "language", "date")


def read_pairs(texts: Sequence[str]) -> dict[str, str]:
    """Read ``KEY=VALUE`` texts; raises InputError for an unknown key or a value that is none."""
    values: dict[str, str] = {}
    for text in texts:
        key, found, value = text.partition("=")
        if not found or key not in KEYS:
            raise InputError(f"'{text}' is not a change. Write KEY=VALUE, KEY one of: {_keys()}.")
        values[key] = value.strip()
    _known, problems = make_meta(values, where="Nothing was changed")
    if problems:
        raise InputError(problems[0])
    return values


def describe(document: Document, given: Mapping[str, str]) -> Path:
    """Write values beside a document's file; return the file, to be added again.

    What is known of the document stays as it is where nothing is given. Raises InputError and
    DocumentError.
    """
    path = source_path(document.source)
    if path is None:
        raise InputError(
            f"'{document.title}' came from the web or an upload, and no file is beside which its "
            "values could be kept. Add it again with: quoth add URL --title …"
        )
    if not path.is_file():
        raise DocumentError("not_found", f"The file {path} of '{document.title}' is gone.")
    beside, _warnings = read_sidecar(path)
    known = {key: getattr(document, key) or getattr(beside, key) for key in KEYS} | dict(given)
    text = json.dumps({key: value for key, value in known.items() if value}, ensure_ascii=False)
    try:
        path.with_name(path.name + SIDECAR).write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"The values cannot be kept beside {path}: {error.strerror}. Nothing was changed."
        ) from None
    return path


def _keys() -> str:
    return ", ".join(KEYS)
