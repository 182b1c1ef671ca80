"""Mail and archives: what is within is read by its own reader, within bounds."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from quoth.core.errors import DocumentError
from quoth.core.types import Chars
from quoth.ingest.readers.registry import read
from quoth.text.links import link
from quoth.text.locators import label
from tests.conftest import FIXTURES
from tests.support.passages import document_at

DOCUMENTS = FIXTURES / "documents"


def code_of(path: Path) -> str:
    with pytest.raises(DocumentError) as caught:
        read(path)
    return caught.value.code


def test_a_message_with_its_attachment() -> None:
    mail = read(DOCUMENTS / "fog.eml")
    assert (mail.kind, mail.title, mail.speaker, mail.date) == (
        "mail",
        "Re: Fog at the pier",
        "Bo Lamp",
        "2024-05-07",
    )
    assert mail.sections[0].path == ("Re: Fog at the pier · Bo Lamp · 2024-05-07",)
    at = mail.text.index("Dover")
    (place,) = [each for each in mail.places if each.start <= at < each.end]
    assert label(place.locator).endswith("2024-05-07 ▸ gauges.csv ▸ row 2")


def test_a_talk_within_an_archive_keeps_its_seconds_and_speakers(tmp_path: Path) -> None:
    talk = (
        "WEBVTT\n\n00:00:05.000 --> 00:00:09.000\n<v Ada>The lamp burns whale oil.\n\n"
        "00:01:10.000 --> 00:01:15.000\n<v Ben>The horn sounds twice a minute.\n"
    )
    with zipfile.ZipFile(tmp_path / "talks.zip", "w") as archive:
        archive.writestr("pier/fog.vtt", talk)
    found = read(tmp_path / "talks.zip")
    at = found.text.index("The horn")
    (place,) = [each for each in found.places if each.start <= at < each.end]
    assert label(place.locator) == "pier/fog.vtt ▸ 1:10 · Ben"


def test_a_box_quotes_nothing_twice() -> None:
    box = read(DOCUMENTS / "fog.mbox")
    assert box.text.count("The fog horn is silent since Sunday.") == 1
    assert [section.path[0].split(" · ")[1] for section in box.sections] == ["Ada Pilot", "Bo Lamp"]
    assert "The lamp keeper comes on Friday." in box.text
    numbers = [each.locator.label_first for each in box.places if isinstance(each.locator, Chars)]
    assert numbers == ["1", "1", "1", "2", "2", "2"]


def test_the_charset_of_a_message_may_be_missing_or_unknown(tmp_path: Path) -> None:
    (tmp_path / "a.mbox").write_bytes(
        b"From a\nSubject: 1\n\nLa jet\xe9e est ferm\xe9e.\n\n"
        b"From b\nSubject: 2\nContent-Type: text/plain; charset=x-none\n\nL'\xc3\xa9t\xc3\xa9.\n"
    )
    box = read(tmp_path / "a.mbox").text
    assert "La jetée est fermée." in box
    assert "L'été." in box


def test_the_text_of_a_message_may_be_a_part_without_headers(tmp_path: Path) -> None:
    (tmp_path / "a.eml").write_text(
        "Subject: 1\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=Q\n\n"
        "--Q\n\nThe pump is broken.\n--Q--\n"
    )
    assert "The pump is broken." in read(tmp_path / "a.eml").text


def test_what_is_only_named_a_message_is_none(tmp_path: Path) -> None:
    (tmp_path / "a.eml").write_bytes(bytes(range(256)) * 20)
    assert code_of(tmp_path / "a.eml") == "unsupported"


def test_what_a_reply_quotes_in_lines_of_its_own_is_left_out(tmp_path: Path) -> None:
    said = "We know that the pump of forklift 3 is broken since Friday."
    (tmp_path / "a.mbox").write_text(
        f"From a\nMessage-ID: <1@x>\nSubject: Pump\n\n{said}\n\n"
        "From b\nMessage-ID: <2@x>\nIn-Reply-To: <1@x>\nSubject: Re: Pump\n\n"
        "> We know that the pump of forklift 3 is broken since\n> Friday.\n"
        "> Who pays?\n> no\n\nRent one.\n"
    )
    box = read(tmp_path / "a.mbox")
    assert box.text.count("forklift 3") == 1
    assert "> Who pays?\n> no\n" in box.text  # nobody said that before
    assert box.text.count("Friday") == 1
    assert box.text.endswith("Rent one.")


def test_files_within_an_archive() -> None:
    pack = read(DOCUMENTS / "pack.zip")
    assert pack.warnings == (
        "pack/wind.odp: Hidden slides, which are read, too: 4.",
        "Files within that are not read: pack/photo.gif.",
    )
    at = pack.text.index("Station: Light ship")
    (place,) = [each for each in pack.places if each.start <= at < each.end]
    assert label(place.locator) == "pack/wind.odp ▸ Speeds ▸ slide 2"
    assert link(place.locator, document_at("/pack.zip")) == ("file:///pack.zip#pack/wind.odp")
    assert all(place.start == place.locator.start for place in pack.places)  # type: ignore[union-attr]


def test_a_file_that_cannot_be_read_does_not_stop_the_others(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("bad.pdf", b"%PDF-1.7 nothing")
        archive.writestr("good.md", "# Good\n\nWords.")
    pack = read(tmp_path / "a.zip")
    assert "Words." in pack.text
    assert pack.warnings[0].startswith("A part was not read: bad.pdf")


def nested(depth: int) -> bytes:
    data, name = b"# Deep\n\nWords.", "deep.md"
    for level in range(depth):
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w") as archive:
            archive.writestr(name, data)
        data, name = made.getvalue(), f"{level}.zip"
    return data


def test_a_name_that_leads_out_of_an_archive_is_read_as_one_within(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "slip.zip", "w") as archive:
        archive.writestr("../../etc/tide.md", "The tide turns.")
    document = read(tmp_path / "slip.zip")
    assert (document.text, document.sections[0].path) == ("The tide turns.", ("etc/tide.md",))


def test_archives_within_archives_are_opened_to_a_depth(tmp_path: Path) -> None:
    (tmp_path / "three.zip").write_bytes(nested(3))
    assert "Words." in read(tmp_path / "three.zip").text
    (tmp_path / "nine.zip").write_bytes(nested(9))
    assert code_of(tmp_path / "nine.zip") == "empty"


def test_bombs_are_refused(tmp_path: Path) -> None:
    (tmp_path / "bomb.txt.gz").write_bytes(gzip.compress(bytes(64 << 20)))
    assert code_of(tmp_path / "bomb.txt.gz") == "too_large"
    with tarfile.open(tmp_path / "bomb.tar.gz", "w:gz") as archive:
        info = tarfile.TarInfo("a.txt")
        info.size = 64 << 20
        archive.addfile(info, io.BytesIO(bytes(info.size)))
    assert code_of(tmp_path / "bomb.tar.gz") == "too_large"
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as zipped:
        zipped.writestr("a.txt", bytes(64 << 20))
    assert code_of(tmp_path / "bomb.zip") == "too_large"


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME])
def test_a_long_extended_header_of_a_tar_archive_is_not_read(tmp_path: Path, kind: bytes) -> None:
    header = tarfile.TarInfo("x")
    header.type, header.size = kind, 1 << 20
    made = header.tobuf(tarfile.USTAR_FORMAT) + b"0" * header.size + bytes(1024)
    (tmp_path / "small.tar.gz").write_bytes(gzip.compress(made))
    with pytest.raises(DocumentError, match="an extended header is too long"):
        read(tmp_path / "small.tar.gz")


@pytest.mark.parametrize("form", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT])
def test_a_long_path_in_a_tar_archive_is_read(tmp_path: Path, form: int) -> None:
    path = "/".join(["mouillage"] * 400) + "/é.md"
    with tarfile.open(tmp_path / "long.tar", "w", format=form) as archive:
        info = tarfile.TarInfo(path)
        info.size = 15
        archive.addfile(info, io.BytesIO(b"The tide turns."))
    assert read(tmp_path / "long.tar").text == "The tide turns."


def test_a_file_packed_alone_is_read_as_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "notes.md.gz").write_bytes(gzip.compress(b"# Notes\n\nThe buoy is red."))
    notes = read(tmp_path / "notes.md.gz")
    assert (notes.kind, notes.title) == ("markdown", "Notes")
