"""Optical character recognition by the program tesseract, which may be missing.

A page goes to the program as a grey bitmap on its standard input; words come back as a table with
their boxes and confidences. The program runs within the limits of the process that starts it.
"""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from shutil import which

from quoth.core.errors import DocumentError
from quoth.core.extras import is_installed

PROGRAM = "tesseract"
PAGE_SECONDS = 120
"""Wall time of one page; it takes one or two seconds."""
DPI = 300
_CODES = {
    "en": "eng",
    "fr": "fra",
    "de": "deu",
    "es": "spa",
    "it": "ita",
    "pt": "por",
    "nl": "nld",
    "ru": "rus",
    "ar": "ara",
    "zh": "chi_sim",
    "ja": "jpn",
    "ko": "kor",
}
"""The program's names of languages. English and French are always recognised where installed."""
_USUAL = ("eng", "fra")
_DATA = re.compile(r"[a-z_]{3,12}")


@dataclass(frozen=True, slots=True)
class OcrWord:
    """A word, its confidence from 0 to 100, and its box in pixels from the upper left corner."""

    text: str
    confidence: float
    left: int
    top: int
    right: int
    bottom: int


OcrLine = tuple[OcrWord, ...]
OcrParagraph = tuple[OcrLine, ...]


def missing_program() -> str | None:
    """Return the command that installs the program, None where it is there."""
    if which(PROGRAM):
        return None
    if sys.platform == "darwin":
        return "brew install tesseract tesseract-lang"
    if sys.platform == "win32":
        return "winget install UB-Mannheim.TesseractOCR"
    return "apt-get install tesseract-ocr tesseract-ocr-eng tesseract-ocr-fra"


def missing_for_pictures() -> str | None:
    """Return the commands that install what reads pictures, None where all is there."""
    package = None if is_installed("PIL") else "pip install 'quoth[ocr]'"
    return " && ".join(filter(None, (package, missing_program()))) or None


def recognise(bitmap: bytes, *, language: str | None) -> list[OcrParagraph]:
    """Return the paragraphs of a picture in a format of Netpbm, in reading order.

    ``language`` is the document's, if known. Raises DocumentError.
    """
    command = [PROGRAM, "stdin", "stdout", "--dpi", str(DPI), "-l", _languages(language), "tsv"]
    try:
        done = subprocess.run(  # noqa: S603 - a fixed command; the page is its input
            command,
            input=bitmap,
            capture_output=True,
            check=False,
            timeout=PAGE_SECONDS,
            # The limit is not for this process: with it, models for speech recognise nonsense.
            env={**os.environ, "OMP_THREAD_LIMIT": "1"},
        )
    except subprocess.TimeoutExpired:
        raise DocumentError("needs_ocr", f"it took longer than {PAGE_SECONDS} s") from None
    if done.returncode != 0:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        reason = lines[-1] if lines else f"exit code {done.returncode}"
        raise DocumentError("needs_ocr", f"{PROGRAM} stopped: {reason[:200]}")
    return list(_paragraphs(done.stdout.decode("utf-8", "replace")))


def _languages(language: str | None) -> str:
    own = _CODES.get((language or "").split("-")[0])
    wanted = [code for code in dict.fromkeys((own, *_USUAL)) if code in _installed()]
    return "+".join(filter(None, wanted)) or "eng"


@cache
def _installed() -> frozenset[str]:
    """Return the languages whose data is there, by the program's names."""
    listed = subprocess.run(  # noqa: S603 - a fixed command
        [PROGRAM, "--list-langs"], capture_output=True, check=False, timeout=PAGE_SECONDS
    )
    return frozenset(_DATA.findall(listed.stdout.decode("utf-8", "replace")))


def _paragraphs(table: str) -> Iterator[OcrParagraph]:
    """Read the table: a row for each word, with the numbers of its block, paragraph and line."""
    rows = [
        row
        for row in csv.DictReader(table.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
        if row["level"] == "5" and (row["text"] or "").strip()
    ]
    for _, paragraph in groupby(rows, key=lambda row: (row["block_num"], row["par_num"])):
        lines = groupby(paragraph, key=lambda row: row["line_num"])
        yield tuple(tuple(map(_word, line)) for _, line in lines)


def _word(row: dict[str, str]) -> OcrWord:
    left, top, width, height = (int(row[key]) for key in ("left", "top", "width", "height"))
    text = row["text"].strip()
    return OcrWord(text, float(row["conf"]), left, top, left + width, top + height)
