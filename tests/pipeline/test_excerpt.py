"""The text around a citation, page, time or section is the stored text, and marks what is cited."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from quoth.core.errors import InputError, NotFound
from quoth.core.outline import Heading
from quoth.core.types import Chars, Chunk, ParsedDocument, Seconds
from quoth.ingest.chunker import chunk
from quoth.ingest.readers.source_file import SourceFile
from quoth.ingest.readers.spreadsheet import read_spreadsheet
from quoth.ingest.readers.text import read_plain
from quoth.pipeline.excerpt import Excerpt, cited_excerpt, find_excerpt
from quoth.pipeline.named_places import find_place
from quoth.pipeline.uploads import documents_in, find_document
from quoth.store.catalogue import Catalogue
from quoth.store.database import open_database
from quoth.text.json_codec import to_json
from quoth.text.links import TEXT_MARK, link
from tests.support.cli import quoth
from tests.support.passages import document_at
from tests.support.small_library import add, open_tour


@pytest.fixture(scope="module")
def catalogue(small_library: Path) -> Iterator[Catalogue]:
    opened = Catalogue(open_database(small_library / "home" / "catalogue.sqlite"), tenant="local")
    yield opened
    opened.close()


def excerpt(catalogue: Catalogue, reference: str, *, window: int = 0) -> Excerpt:
    documents = documents_in(catalogue, "default")
    found = find_excerpt(catalogue, reference, documents=documents, window=window)
    stored = "".join(each.text for each in catalogue.document_chunks(found.document_id))
    assert found.text == stored[found.start : found.end]
    return found


@pytest.mark.parametrize(
    ("reference", "shown", "link"),
    [
        ("inside the hive:≈0:15", "Honey is made from nectar", "&t=12"),
        ("inside the hive:0:15", "Honey is made from nectar", "&t=12"),
        ("Inside the hive:25s", "They fan it", "&t=21"),
        ("notes.md:winter", "fifteen kilograms", "notes.md#"),
        ("notes:winter", "fifteen kilograms", "notes.md#"),
        ("Keeping bees:Swarms", "becomes too small", "#swarms"),
        ("Keeping bees:5-40", "", "notes.md"),
        ("book.pdf:pdf 2", "", "book.pdf#page=2"),
    ],
)
def test_a_place_is_shown_in_the_stored_text(
    catalogue: Catalogue, reference: str, shown: str, link: str
) -> None:
    found = excerpt(catalogue, reference)
    low, high = found.marked or (found.start, found.end)
    assert shown in found.text[low - found.start : high - found.start]
    assert link in (found.link or "")


@pytest.mark.parametrize(
    "url",
    [
        "https://youtu.be/00GKzGyWFEs",
        "https://dai.ly/x84sh87",
        "https://video.e.org/w/kkGMgK9ZtnKfYAgnEtQxbv?token=a",
        "https://vimeo.com/97276391",
    ],
)
def test_the_link_of_a_video_is_shown(catalogue: Catalogue, url: str) -> None:
    documents = documents_in(catalogue, "default")
    (talk,) = (replace(each, url=url) for each in documents if each.title == "Inside the hive")
    others = [each for each in documents if each.kind != "transcript"]
    opens = link(Seconds(21.5, 25.0), talk) or ""
    found = find_excerpt(catalogue, opens, documents=[*others, talk], window=0)
    assert found.marked is not None
    low, high = (at - found.start for at in found.marked)
    assert found.text[low:high].startswith("They fan it")


@pytest.mark.parametrize("fragment", ["", "#winter"])
def test_an_address_with_a_number_named_t_is_no_second(catalogue: Catalogue, fragment: str) -> None:
    url = "https://forum.e.org/viewtopic.php?f=1&t=123"
    documents = [replace(each, url=url) for each in documents_in(catalogue, "default")]
    notes = [each for each in documents if each.source.endswith("notes.md")]
    found = find_excerpt(catalogue, url + fragment, documents=notes, window=0)
    assert found.document_id == notes[0].document_id


def test_the_link_of_a_recording_is_shown_in_its_captions(
    catalogue: Catalogue, tmp_path: Path
) -> None:
    documents = []
    for name, kind in (("talk.pdf", "pdf"), ("talk.en.srt", "transcript")):
        (held,) = (each for each in documents_in(catalogue, "default") if each.kind == kind)
        documents.append(replace(held, url=None, source=str(tmp_path / name)))
    recording = tmp_path / "talk.mp4"
    recording.touch()
    for address in (recording.as_uri(), str(recording)):
        found = find_excerpt(catalogue, f"{address}#t=25", documents=documents, window=0)
        assert found.document == "Inside the hive"
        assert found.marked is not None
        low, high = (at - found.start for at in found.marked)
        assert found.text[low:high].startswith("They fan it")


def test_who_speaks_is_shown_where_there_are_several(tmp_path: Path) -> None:
    home, talk = tmp_path / "home", tmp_path / "talk.vtt"
    talk.write_text(
        "WEBVTT\n\n00:01.000 --> 00:04.000\n<v Ada>Where does honey come from?\n\n"
        "00:04.000 --> 00:08.000\n<v Ben>It is made from nectar.\n\n"
        "00:08.000 --> 00:12.000\n<v Ben>Bees dry it with their wings.\n"
    )
    assert quoth(home, "add", str(talk)).code == 0
    shown = quoth(home, "show", "talk:0:05").out.split("\n\n", 1)[1]
    assert "Ada: Where does honey come from?" in shown
    assert "Ben: >>> It is made from nectar. <<<" in shown
    assert shown.count("Ben: ") == 1


def test_the_link_of_every_place_is_shown(catalogue: Catalogue) -> None:
    documents = [each for each in documents_in(catalogue, "default") if each.status == "ready"]
    kinds = set()
    for document in documents:
        chunks = catalogue.document_chunks(document.document_id)
        for place in (place for each in chunks for place in each.places):
            opens = link(place.locator, document, text="a text fragment")
            found = excerpt(catalogue, opens or "")
            low, high = found.marked or (found.start, found.end)
            assert found.document_id == document.document_id
            assert low < place.end
            assert place.start < high
            kinds.add(document.kind)
    assert kinds >= {"markdown", "pdf", "transcript"}
    (notes,) = (each for each in documents if each.source.endswith("notes.md"))
    for given in ("notes.md#winter", f"{notes.source}#winter"):
        assert excerpt(catalogue, given).document_id == notes.document_id


def test_an_empty_line_shows_the_next_one() -> None:
    reading = read_plain(SourceFile("n.txt", b"", text="One.\n\n\n\nTwo.\n"))
    chunks = chunks_of(reading)
    (start, end), _ = find_place(chunks, "3", headings=[])
    assert reading.text[start:end] == "Two."
    with pytest.raises(NotFound):
        find_place(chunks, "6", headings=[])


@pytest.mark.parametrize(("place", "at"), [("article 2", 1), ("art. II", 1), ("article 1", 0)])
def test_a_division_is_found_however_its_number_is_written(place: str, at: int) -> None:
    text = "ARTICLE PREMIER. Boats wait.\n\nARTICLE II. Boats go.\n\nARTICLE XII. Boats come.\n"
    reading = read_plain(SourceFile("n.txt", b"", text=text))
    headings = [Heading("d", each.path, at, at) for at, each in enumerate(reading.sections)]
    (start, end), _ = find_place(chunks_of(reading), place, headings=headings)
    assert reading.text[start:end].strip() == text.split("\n\n")[at]


@pytest.mark.parametrize(
    "quoted",
    [
        "The fee, in advance, is 75,000 $ (a year).",
        "The second: a company pays at least 75,000 $ per year in advance, quarterly or not.",
    ],
)
def test_the_words_that_a_link_quotes_are_found(quoted: str) -> None:
    reading = read_plain(SourceFile("n.html", b"", text=f"The first.\n\n{quoted}\n\nThe third."))
    chunks = chunks_of(reading)
    place = Chars(0, 9, anchor="fees")
    opens = link(place, document_at("/tmp/n.html"), text=quoted) or ""
    base, _, fragment = opens.partition("#")
    assert (base, fragment.partition(TEXT_MARK)[0]) == ("file:///tmp/n.html", "fees")
    (start, end), whole = find_place(chunks, f"#{fragment}", headings=[])
    assert (reading.text[start:end], whole) == (quoted, False)
    for gone in ("not%20there", "%20", ",", "The,,,,,,,ZZ"):
        with pytest.raises(NotFound, match="quotes"):
            find_place(chunks, f"{TEXT_MARK}{gone}", headings=[])


def chunks_of(reading: ParsedDocument) -> tuple[Chunk, ...]:
    return chunk(
        reading,
        document_id="d",
        chunk_id=str,
        count_tokens=lambda texts: [len(each) for each in texts],
        language="en",
    )


def test_a_paragraph_is_found_by_its_number_and_by_its_line() -> None:
    text = "2.1. Boats pay.\n\n3.2. See 3.21.\n\n3.21. Rafts do not, says 2.1.\n"
    reading = read_plain(SourceFile("rules.txt", b"", text=text))
    chunks = chunks_of(reading)
    (start, end), is_whole = find_place(chunks, "3.21", headings=[])
    assert reading.text[start:end] == "3.21. Rafts do not, says 2.1."
    assert not is_whole
    for line in ("3", "line 3", "L3", "lines 2-4", "lines 3–3", "2-4", "characters 17-31"):
        (start, end), is_whole = find_place(chunks, line, headings=[])
        assert reading.text[start:end] == "3.2. See 3.21."
        assert not is_whole
    for beyond in ("9" * 5000, "15-40"):
        with pytest.raises(NotFound):
            find_place(chunks, beyond, headings=[])
    with pytest.raises(NotFound, match=r"no '4\.1'"):
        find_place(chunks, "4.1", headings=[])


def test_a_row_is_found_by_its_sheet() -> None:
    file = Path(__file__).parents[1] / "fixtures" / "documents" / "fish.xlsx"
    reading = read_spreadsheet(SourceFile(file.name, file.read_bytes()))
    chunks = chunks_of(reading)
    english = ("row 5", "Landings row 5", "landings ▸ rows 5", "Landings rows 5–9")
    for place in (
        *english,
        "ligne 5",
        "Landings ligne 5",
        "Landings ▸ lignes 5–9",
        "Zeile 5",
        "filas 5-9",
    ):
        (start, end), is_whole = find_place(chunks, place, headings=[])
        assert reading.text[start:end].startswith("Port: Newlyn | ")
        assert not is_whole
    (start, end), _ = find_place(chunks, "Spare row 1", headings=[])
    assert reading.text[start:end] == "Spare\n\nAn old total"
    with pytest.raises(InputError, match=r"Landings, Notes, Spare.*'Landings row 1'"):
        find_place(chunks, "rows 1-2", headings=[])
    with pytest.raises(NotFound):
        find_place(chunks, "Spare row 5", headings=[])


def test_a_printed_page_label_comes_before_the_number_of_the_pdf_page(catalogue: Catalogue) -> None:
    documents = documents_in(catalogue, "default")
    book = find_document(documents, "book.pdf")
    labels = catalogue.labels(catalogue.collection("default"))[book.document_id]
    at = next(i for i, each in enumerate(labels) if each != str(i + 1))
    assert (excerpt(catalogue, f"book.pdf:{labels[at]}").link or "").endswith(f"#page={at + 1}")


@pytest.mark.parametrize(
    ("reference", "error"),
    [
        ("book.pdf:9999", NotFound),
        ("Inside the hive:59:59", NotFound),
        ("notes.md:honeymoon", NotFound),
        ("nothing of this name", NotFound),
        ("c_0000000000000000", NotFound),
        ("q_zz", InputError),
    ],
)
def test_what_is_not_there_is_a_sentence(
    catalogue: Catalogue, reference: str, error: type[Exception]
) -> None:
    with pytest.raises(error, match=r"\.$|quoth "):
        excerpt(catalogue, reference)


async def test_the_id_of_a_document_that_was_replaced_shows_what_stayed(tmp_path: Path) -> None:
    path = tmp_path / "hive.md"
    path.write_text("# Hive\n\nA hive has one queen.\n", encoding="utf-8")
    async with open_tour(tmp_path / "home") as engine:
        catalogue = engine.parts.catalogue
        (old,) = await add(engine, path)
        answer = await engine.answer("How many queens has a hive?")
        cited = next(each for each in answer.citations if each.document_id == old.document_id)
        path.write_text("# Hive\n\nA hive has one queen.\n\nBees sleep.\n", encoding="utf-8")
        (new,) = await add(engine, path)
        found = cited_excerpt(catalogue, to_json(cited))
        assert (found.document_id, found.is_replaced) == (new.document_id, False)
        assert found.marked == (cited.snippet_start, cited.snippet_end)
        assert "Bees sleep." in found.text
        text = "".join(each.text for each in catalogue.document_chunks(new.document_id))
        late = text.index("sleep")
        places = ("", f":characters {cited.snippet_start}-{cited.snippet_end}")
        for place in places:
            assert excerpt(catalogue, old.document_id + place).document_id == new.document_id
        for gone in (f":characters {late}-{late + 5}", ":page 3"):
            with pytest.raises(NotFound):
                excerpt(catalogue, old.document_id + gone)
        with pytest.raises(NotFound):  # of another collection than those that were named
            find_excerpt(catalogue, old.document_id, documents=[])


def test_a_citation_is_shown_and_opened_from_the_command_line(home: Path) -> None:
    answer = quoth(home, "--json", "ask", "How much honey does a colony need in winter?").json
    cited = answer["citations"][0]
    for reference in (f"{answer['query_id']}:1", f"{answer['query_id'][2:9]}:1", cited["id"]):
        shown = quoth(home, "--json", "show", reference).json
        low, high = (at - shown["start"] for at in shown["marked"])
        assert shown["text"][low:high] == cited["snippet"]
        assert json.dumps(shown["link"]) == json.dumps(cited["link"])
    assert f">>> {cited['snippet']} <<<" in quoth(home, "show", f"{answer['query_id']}:1").out
    opened = quoth(home, "open", "--print", f"{answer['query_id']}:1")
    assert (opened.code, opened.out.strip()) == (0, cited["link"])
    quoth(home, "remove", cited["document_name"])
    gone = quoth(home, "show", cited["id"])
    assert f">>> {cited['snippet']} <<<" in gone.out
    assert "was updated or removed since" in " ".join(gone.err.split())


def test_titles_stand_once_above_what_is_shown(home: Path, tmp_path: Path) -> None:
    text = "# Of the port\n\nIt is small.\n\n## Boats\n\nTwo.\n\n### Rafts\n\nNone is let in.\n"
    (tmp_path / "port.md").write_text(text, encoding="utf-8")
    assert quoth(home, "add", str(tmp_path / "port.md")).code == 0
    head = quoth(home, "show", "port.md:rafts").out.splitlines()[0]
    assert head.startswith("Of the port · Boats ▸ Rafts · ")
    assert head.count("Rafts") == head.count("Of the port") == 1
