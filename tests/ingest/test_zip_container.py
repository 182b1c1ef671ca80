"""Containers are opened within bounds, and XML in them declares no document type."""

from __future__ import annotations

import io
import zipfile

import pytest

from quoth.core.errors import DocumentError
from quoth.ingest.readers.xml_parts import parse_xml, refuse_doctype
from quoth.ingest.readers.zip_container import MAX_MEMBERS, open_container


def zipped(**members: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return made.getvalue()


def code_of(data: bytes) -> str:
    with pytest.raises(DocumentError) as caught:
        open_container(data, name="a.zip").check_xml()
    return caught.value.code


def test_members_are_read() -> None:
    container = open_container(zipped(a=b"1", b=b"22"), name="a.zip")
    assert container.members == ["a", "b"]
    assert container.read("b") == b"22"
    assert container.read("b", limit=1) == b"2"


def test_what_unpacks_to_far_more_is_refused_before_it_is_unpacked() -> None:
    assert code_of(zipped(a=bytes(20 << 20))) == "too_large"


def test_a_small_file_may_be_packed_well() -> None:
    assert open_container(zipped(a=bytes(4 << 20)), name="a.zip").read("a") == bytes(4 << 20)


def test_very_many_members_are_refused() -> None:
    assert code_of(zipped(**{str(n): b"" for n in range(MAX_MEMBERS + 1)})) == "too_large"


def test_what_is_no_container_is_damaged() -> None:
    assert code_of(b"PK\x03\x04" + bytes(50)) == "damaged"


def test_a_broken_member_is_damaged() -> None:
    data = bytearray(zipped(a=b"some words that are here" * 9))
    data[40] ^= 0xFF
    with pytest.raises(DocumentError) as caught:
        open_container(bytes(data), name="a.zip").read("a")
    assert caught.value.code == "damaged"


BOMB = b'<!DOCTYPE a [<!ENTITY b "bbbbbbbbbb">]><a>&b;</a>'
EXTERNAL = b'<?xml version="1.0"?><!DOCTYPE ncx PUBLIC "x" "http://localhost/x.dtd"><ncx/>'


@pytest.mark.parametrize("data", [BOMB, BOMB.decode().encode("utf-16"), EXTERNAL])
def test_a_document_type_is_refused(data: bytes) -> None:
    assert code_of(zipped(**{"word/document.xml": data})) == "unsupported"


def test_only_a_named_document_type_may_be_allowed() -> None:
    assert parse_xml(EXTERNAL, name="a", allow_external=True).tag == "ncx"
    with pytest.raises(DocumentError):
        parse_xml(BOMB, name="a", allow_external=True)


def test_a_document_type_behind_a_long_comment_is_refused() -> None:
    with pytest.raises(DocumentError):
        refuse_doctype(b"<!--" + b"x" * (1 << 17) + b"-->" + BOMB, name="a")
