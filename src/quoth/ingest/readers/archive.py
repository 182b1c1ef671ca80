"""Archives: ZIP and TAR, each file within read by its own reader, within bounds."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, Self

from quoth.core.errors import DocumentError
from quoth.core.types import ParsedDocument
from quoth.ingest.readers.enclosed import Enclosure
from quoth.ingest.readers.formats import HIDDEN, SUFFIXES
from quoth.ingest.readers.metadata import SIDECARS
from quoth.ingest.readers.source_file import MAX_NESTING, SourceFile
from quoth.ingest.readers.zip_container import (
    MAX_MEMBER,
    MAX_MEMBERS,
    MAX_RATIO,
    MAX_UNPACKED,
    SMALL,
    open_container,
)

_OPENERS: Mapping[bytes, Callable[[io.BytesIO], Any]] = {
    b"\x1f\x8b": lambda data: gzip.GzipFile(fileobj=data),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
}
_WAYS = ("..", "/")
LISTED = 10
"""Files that are named which are not read."""
MAX_HEADER = 16 << 10
"""Bytes of an extended header, which holds a long path and little else."""
_EXTENDED = (
    *(tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE),
    *(tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK),
)
TAR_FAULTS = (tarfile.TarError, OSError, EOFError, ValueError, zlib.error, lzma.LZMAError)


class _TarHeader(tarfile.TarInfo):
    """A header of bounded length: Python before 3.11.10 reads one in quadratic time
    (CVE-2024-6232), and some hundred bytes unpack to a long one.
    """

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        """Return the header of a block; raises ReadError where what follows it is too long."""
        header = super().frombuf(buf, encoding, errors)
        if header.type in _EXTENDED and header.size > MAX_HEADER:
            raise tarfile.ReadError("an extended header is too long")
        return header


def read_zip(file: SourceFile) -> ParsedDocument:
    """Read the files of a ZIP archive; raises DocumentError, ``too_large`` beyond its bounds."""
    container = open_container(file.data, name=file.name)
    return _read(file, ((name, container.read(name)) for name in container.members))


def read_tar(file: SourceFile) -> ParsedDocument:
    """Read the files of a TAR archive, also a packed one; raises DocumentError as `read_zip`."""
    try:
        packed = _unpacked(file) if file.data.startswith(tuple(_OPENERS)) else None
        if packed is not None and packed[257:262] != b"ustar":
            return _single(file, packed)
        return _read(file, _tar_members(file))
    except TAR_FAULTS as error:
        raise DocumentError(
            "damaged", f"{file.name} is damaged: the archive cannot be read ({error})."
        ) from None


def _unpacked(file: SourceFile) -> bytes:
    """Return the content of a packed file up to what one file may have."""
    opener = next(each for magic, each in _OPENERS.items() if file.data.startswith(magic))
    with opener(io.BytesIO(file.data)) as packed:
        return bytes(packed.read(min(MAX_MEMBER, max(SMALL, MAX_RATIO * len(file.data))) + 1))


def _single(file: SourceFile, data: bytes) -> ParsedDocument:
    """Read a file that is packed alone, such as ``notes.txt.gz``."""
    from quoth.ingest.readers.registry import read_data

    if len(data) > min(MAX_MEMBER, max(SMALL, MAX_RATIO * len(file.data))):
        raise _too_large(file.name)
    if file.nesting >= MAX_NESTING:
        raise DocumentError("unsupported", f"{file.name} is packed several times over.")
    name = PurePosixPath(file.name)
    return read_data(SourceFile(name.stem or name.name, data, file.meta, nesting=file.nesting + 1))


def _too_large(name: str) -> DocumentError:
    return DocumentError(
        "too_large",
        f"{name} unpacks to more than is read, or to far more than its size. "
        "Unpack it and add what you need.",
    )


def _tar_members(file: SourceFile) -> Iterator[tuple[str, bytes]]:
    unpacked = 0
    data = io.BytesIO(file.data)
    with tarfile.open(fileobj=data, mode="r|*", tarinfo=_TarHeader) as archive:
        for number, member in enumerate(archive):
            unpacked += member.size
            too_many = number >= MAX_MEMBERS or max(unpacked, 0) > MAX_UNPACKED
            bomb = unpacked > SMALL and unpacked > MAX_RATIO * len(file.data)
            if too_many or bomb or member.size > MAX_MEMBER:
                raise _too_large(file.name)
            content = archive.extractfile(member) if member.isfile() else None
            if content is not None:
                yield member.name, content.read(member.size)


def _read(file: SourceFile, members: Iterator[tuple[str, bytes]]) -> ParsedDocument:
    enclosure = Enclosure()
    others: list[str] = []
    for name, data in members:
        # Nothing is unpacked to the disk: a way up or from the root is a part of a name.
        path = PurePosixPath(*(part for part in PurePosixPath(name).parts if part not in _WAYS))
        hidden = any(part.startswith((*HIDDEN, "__MACOSX")) for part in path.parts)
        if hidden or name.lower().endswith(SIDECARS):
            continue
        if path.suffix.lower() not in SUFFIXES:
            others.append(name)
            continue
        enclosure.add_file(SourceFile(path.name, data, nesting=file.nesting + 1), path=(str(path),))
    if others:
        named = ", ".join(others[:LISTED])
        more = f" and {len(others) - LISTED} others" if len(others) > LISTED else ""
        enclosure.warnings.append(f"Files within that are not read: {named}{more}.")
    if not enclosure.parts:
        reason = f" {enclosure.warnings[0]}" if enclosure.warnings else ""
        raise DocumentError("empty", f"{file.name} holds no file that can be read.{reason}")
    return file.document("archive", enclosure.content, warnings=enclosure.warnings)
