"""Open zip containers (EPUB, Office, OpenDocument, archives) within bounds."""

from __future__ import annotations

import io
import zipfile
import zlib
from dataclasses import dataclass

from quoth.core.errors import DocumentError
from quoth.ingest.readers.source_file import password_error
from quoth.ingest.readers.xml_parts import PROLOG, Element, attribute, parse_xml, refuse_doctype

MAX_MEMBERS = 20_000
MAX_UNPACKED = 1 << 30
"""Bytes of all members together."""
MAX_MEMBER = 256 << 20
"""Bytes of one member."""
MAX_RATIO = 200
"""Unpacked bytes per packed byte of a container; text is seldom packed to a fiftieth."""
SMALL = 8 << 20
"""Unpacked bytes up to which the ratio does not matter."""

_XML = (".xml", ".rels")


@dataclass(frozen=True, slots=True)
class ZipContainer:
    """The members of a container, none of which is larger than what the container says."""

    name: str
    archive: zipfile.ZipFile

    @property
    def members(self) -> list[str]:
        """Return the names of the files in it, in order."""
        return [info.filename for info in self.archive.infolist() if not info.is_dir()]

    def has(self, member: str) -> bool:
        """Return whether there is such a member."""
        return member in self.archive.NameToInfo

    def read(self, member: str, *, limit: int = MAX_MEMBER) -> bytes:
        """Return the content of a member, or its beginning; raises DocumentError."""
        try:
            info = self.archive.getinfo(member)
            if info.flag_bits & 1:
                raise password_error(self.name)
            with self.archive.open(info) as file:
                return file.read(min(limit, info.file_size))
        except KeyError:
            raise _damaged(self.name, f"it has no part {member}") from None
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError) as error:
            raise _damaged(self.name, f"{member}: {error}") from None
        except (NotImplementedError, RuntimeError) as error:
            raise DocumentError(
                "unsupported", f"{self.name} is packed in a way that is not known ({error})."
            ) from None

    def xml(self, member: str, *, allow_external: bool = False) -> Element:
        """Return the root of a member that is XML; raises DocumentError as `parse_xml` does."""
        return parse_xml(self.read(member), name=self.name, allow_external=allow_external)

    def relations(self, member: str) -> dict[str, str]:
        """Return by their names the parts that a part of Office refers to, none without a list."""
        listed = self.xml(member) if self.has(member) else ()
        return {attribute(each, "Id"): attribute(each, "Target") for each in listed}

    def check_xml(self) -> None:
        """Raise DocumentError where a part of XML declares a document type.

        A declaration can make a parser grow without end; no Office program writes one.
        """
        for member in self.members:
            if member.lower().endswith(_XML):
                refuse_doctype(self.read(member, limit=PROLOG), name=self.name)


def open_container(data: bytes, *, name: str) -> ZipContainer:
    """Open a container and check its bounds before anything is unpacked; raises DocumentError.

    ``damaged`` for what is no zip file, ``too_large`` for a container beyond its bounds.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, EOFError) as error:
        raise _damaged(name, str(error)) from None
    members = archive.infolist()
    if len(members) > MAX_MEMBERS:
        raise DocumentError(
            "too_large", f"{name} holds {len(members):,} files; {MAX_MEMBERS:,} are read at most."
        )
    unpacked = sum(info.file_size for info in members)
    if unpacked > SMALL and unpacked > MAX_RATIO * len(data):
        raise DocumentError(
            "too_large",
            f"{name} unpacks to far more than its size, as files do that are made to fill a disk; "
            "it is not read.",
        )
    if unpacked > MAX_UNPACKED or any(info.file_size > MAX_MEMBER for info in members):
        raise DocumentError(
            "too_large",
            f"{name} unpacks to {unpacked / 1e6:,.0f} MB, which is more than is read. "
            "Unpack it and add what you need.",
        )
    return ZipContainer(name, archive)


def _damaged(name: str, reason: str) -> DocumentError:
    return DocumentError(
        "damaged", f"{name} is damaged: its container cannot be read ({reason}); repair the file."
    )
