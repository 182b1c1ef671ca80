"""Damaged copies of good files: the same ones for the same seed."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from random import Random

HERE = Path(__file__).parents[1]
FIXTURES = HERE / "fixtures"

DOCUMENTS = FIXTURES / "documents"
FORMATS: dict[str, tuple[Path, ...]] = {
    **{
        suffix: tuple(sorted(DOCUMENTS.glob(f"*{suffix}")))
        for suffix in (
            ".epub .docx .odt .rtf .pptx .odp .xlsx .xls .ods .csv .parquet .ipynb .py .yaml .toml "
            ".xml .rst .adoc .org .tex .eml .mbox .zip"
        ).split()
    },
    ".tar": tuple(sorted(DOCUMENTS.glob("*.tar.gz"))),
    ".pdf": tuple(sorted((FIXTURES / "pdf").glob("*.pdf"))),
    ".html": (FIXTURES / "pages" / "guide.html",),
    ".md": (FIXTURES / "pages" / "guide.md", FIXTURES / "transcripts" / "podcast.md"),
    ".vtt": tuple(sorted((FIXTURES / "transcripts").glob("*.vtt"))),
    ".srt": tuple(sorted((FIXTURES / "transcripts").glob("*.srt"))),
    ".sbv": tuple(sorted((FIXTURES / "transcripts").glob("*.sbv"))),
    ".json": (FIXTURES / "transcripts" / "whisper.json", DOCUMENTS / "harbour.json"),
    ".json3": tuple(sorted((FIXTURES / "transcripts").glob("*.json3"))),
    ".jsonl": tuple(sorted((FIXTURES / "transcripts").glob("*.jsonl"))),
    ".png": tuple(sorted((FIXTURES / "pictures").glob("*"))),
    ".txt": (FIXTURES / "pages" / "guide.md", FIXTURES / "transcripts" / "lecture.srt"),
}
"""The formats that are read, by suffix, with the files that are damaged."""

_WORDS = (
    *(
        b"\x00",
        b"\xff\xfe",
        b"\xed\xa0\x80",
        b"\xf0\x9f\x90\x9d",
        b"\r",
        b"\x1b[31m",
        b"\xe2\x80\xae",
    ),
    *(b"-1", b"0", b"4294967296", b"1e999", b"NaN", b"99999999999999999999", b"0.0000000001"),
    *(b"<", b">", b"<div>" * 200, b"<table><tr><td>" * 50, b"&#x110000;", b"<!--", b"<![CDATA["),
    *(b"[" * 500, b"{" * 500, b'{"a":' * 200, b'"', b"\\", b"]", b"}", b"\\ud800", b"null"),
    *(b"-->", b"00:00:00.000", b"99:99:99,999 --> 00:00:00,000\n", b"WEBVTT", b"\n\n", b"#" * 300),
    *(
        b"<< ",
        b" >>",
        b" R",
        b"obj",
        b"endobj",
        b"stream\n",
        b"endstream",
        b"/Kids [1 0 R]",
        b"/Count",
    ),
    *(b"/Length 2147483647", b"/Filter /FlateDecode", b"xref", b"%%EOF", b"(" * 300, b"BT", b"Tj"),
)


def mutants(suffix: str, *, count: int, seed: int = 1) -> Iterator[bytes]:
    """Give so many damaged copies of the good files of a format."""
    random = Random(f"{seed} {suffix}")
    good = [file.read_bytes() for file in FORMATS[suffix]]
    for number in range(count):
        whole = good[number % len(good)]
        if whole.startswith(b"PK") and number % 4:
            yield _damaged_within(whole, random)
        else:
            yield _often_damaged(whole, random, others=good)


def _often_damaged(data: bytes, random: Random, *, others: list[bytes]) -> bytes:
    damaged = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 4, 16, 64))):
        damaged = _damaged(damaged, random, other=random.choice(others))
    return bytes(damaged[: 4 << 20])


def _damaged_within(data: bytes, random: Random) -> bytes:
    """Damage a few members of a container, whose checksums stay right."""
    copy = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as whole, zipfile.ZipFile(copy, "w") as archive:
        members = {info.filename: whole.read(info) for info in whole.infolist()}
        texts = [name for name in members if not name.endswith((".png", ".jpeg", "/"))]
        for name in random.sample(texts, min(len(texts), random.choice((1, 1, 2, 3)))):
            members[name] = _often_damaged(members[name], random, others=list(members.values()))
        for name, content in members.items():
            archive.writestr(name, content)
    return copy.getvalue()


def _damaged(data: bytearray, random: Random, *, other: bytes) -> bytearray:
    at = random.randrange(len(data) + 1)
    length = random.choice((1, 2, 8, 64, 512, 4096))
    match random.randrange(8):
        case 0 if data:  # a bit turns
            data[at % len(data)] ^= 1 << random.randrange(8)
        case 1:  # something is lost
            del data[at : at + length]
        case 2:  # something comes twice
            data[at:at] = data[at : at + length]
        case 3:  # the end is lost
            del data[max(at, 16) :]
        case 4:  # a word that means something stands there
            data[at:at] = random.choice(_WORDS)
        case 5:  # noise
            data[at : at + length] = random.randbytes(length)
        case 6:  # a piece of another file
            start = random.randrange(len(other) + 1)
            data[at : at + length] = other[start : start + length]
        case _:  # a number is another one
            digits = [i for i in range(at, min(at + 4096, len(data))) if 48 <= data[i] <= 57]
            if digits:
                data[random.choice(digits)] = random.choice(b"0123456789")
    return data
