"""Pictures of pages as a ranked list: the model, the drawing, and a library that has them."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import pypdfium2 as pdfium2
import pytest

from quoth.backends.page_embedders.onnx import OnnxPageEmbedder
from quoth.bootstrap import open_engine
from quoth.core.errors import ConfigError, DocumentError
from quoth.core.page_images import PictureShape
from quoth.core.settings import Settings
from quoth.core.trace import Trace
from quoth.engine import Engine
from quoth.ingest.readers.pdf.page_image import draw_pixels
from quoth.ingest.sandbox.parent import PdfPages
from quoth.interfaces.http.uploads.receive import receive_whole
from quoth.operations.add_uploads import add_file
from quoth.operations.purge import purge
from quoth.pipeline.page_pictures import DocumentPictures
from quoth.pipeline.retrieve import Request
from quoth.pipeline.uploads import tenant_blobs
from tests.support.toy_page_model import (
    HEIGHT,
    SHORTER,
    WIDTH,
    seen,
    words,
    write_coloured_pdf,
    write_page_model,
)
from tests.support.upload_service import one

TOLERANCE = 1e-4
TEXTS = {
    "crimson": "The council met in March and spoke of roads",
    "emerald": "Gardeners plant beans before the council meets",
    "azure": "Boats leave the harbour when the tide is high",
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_page_model(tmp_path_factory.mktemp("models") / "toy-clip")


@asynccontextmanager
async def library(home: Path, model: Path | None) -> AsyncIterator[Engine]:
    named = None if model is None else str(model)
    settings = Settings(home=home, embedder="fake", page_embedder=named, threads=1)
    async with open_engine(settings) as engine:
        yield engine


async def fill(engine: Engine, sources: Path) -> None:
    async for _ in engine.add([sources]):
        pass


async def asked(engine: Engine, question: str, **choices: object) -> tuple[list[str], list[str]]:
    """The documents that the pictures of pages rank, best first, and what failed."""
    trace = Trace()
    found = await engine.retrieve(Request(question, choices=choices), trace=trace)
    ranked = [hit for hit in found.hits if "pages" in hit.legs]
    ranked.sort(key=lambda hit: hit.legs["pages"].rank)
    return [hit.document for hit in ranked], list(trace.failures)


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    folder = tmp_path / "sources"
    folder.mkdir()
    for colour, text in TEXTS.items():
        write_coloured_pdf(folder / f"{colour[:3]}.pdf", [(colour, text)])
    (folder / "note.md").write_text("# A note\n\nThe minutes of the council are written down.\n")
    return folder


# --- the model --------------------------------------------------------------------------------


async def test_pictures_and_texts_are_embedded_as_the_reference_does(model: Path) -> None:
    picture = np.random.default_rng(1).integers(0, 256, (HEIGHT, WIDTH, 3), np.uint8)
    embedder = OnnxPageEmbedder(model, threads=2)
    try:
        assert embedder.shape == PictureShape(WIDTH, HEIGHT, SHORTER)
        (row,) = await embedder.embed_pages([picture.tobytes()])
        assert np.allclose(row, seen(picture), rtol=0, atol=TOLERANCE)
        expected = words()[-1] + words()[-2]  # [CLS] and [SEP] are faint
        found = await embedder.embed_query("azure emerald")
        assert np.allclose(found, expected / np.linalg.norm(expected), rtol=0, atol=TOLERANCE)
    finally:
        embedder.close()


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("tokenizer.json", None, "has no tokenizer.json"),
        ("onnx/vision_model.onnx", None, "has no vision_model.onnx"),
        ("preprocessor_config.json", {"size": {"shortest_edge": 9}}, "how large a picture is"),
        ("preprocessor_config.json", {"size": {"height": 0, "width": 4}}, "how large"),
    ],
)
def test_a_folder_that_lacks_something_is_named(
    tmp_path: Path, file: str, content: object, message: str
) -> None:
    folder = write_page_model(tmp_path / "clip")
    if content is None:
        (folder / file).unlink()
    else:
        (folder / file).write_text(json.dumps(content))
    with pytest.raises(ConfigError, match=message):
        OnnxPageEmbedder(folder, threads=1)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [("vision", "another input than pixel_values"), ("text", "the unknown input pixel_values")],
)
async def test_a_wrong_file_is_found_when_pages_are_added(
    tmp_path: Path, wrong: str, message: str
) -> None:
    folder = write_page_model(tmp_path / "clip") / "onnx"
    towers = {name: (folder / f"{name}_model.onnx").read_bytes() for name in ("vision", "text")}
    (other,) = towers.keys() - {wrong}
    (folder / f"{wrong}_model.onnx").write_bytes(towers[other])
    embedder = OnnxPageEmbedder(tmp_path / "clip", threads=1)
    try:
        with pytest.raises(ConfigError, match=message):
            await embedder.embed_pages([bytes(3 * WIDTH * HEIGHT)])
    finally:
        embedder.close()


# --- the drawing ------------------------------------------------------------------------------


def test_the_middle_of_a_page_is_drawn_as_the_reference_cuts_it(tmp_path: Path) -> None:
    file = write_coloured_pdf(tmp_path / "a.pdf", [("azure", "A line of text in the picture")])
    shape = PictureShape(160, 120, 200)
    drawn = np.frombuffer(draw_pixels(file, page=1, shape=shape), np.uint8).reshape(120, 160, 3)
    with pdfium2.PdfDocument(file) as document:
        whole = document[0].render(scale=0.5, rev_byteorder=True).to_numpy()  # 200 by 300
    assert whole.shape == (300, 200, 3)
    assert np.abs(drawn.astype(int) - whole[90:210, 20:180]).max() <= 2
    assert (drawn[..., 2] == 255).all()
    squeezed = draw_pixels(file, page=1, shape=PictureShape(30, 30))
    assert len(squeezed) == 3 * 30 * 30


class CountedPages(PdfPages):
    """Counts the pages that are drawn at once."""

    def __init__(self) -> None:
        super().__init__()
        self.now = self.most = 0

    async def pixels(self, path: Path, *, page: int, shape: PictureShape) -> bytes:
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0)
        self.now -= 1
        if page == 3:
            raise DocumentError("damaged", "Page 3 cannot be drawn.")
        return bytes(3)


async def test_pages_are_drawn_one_by_one_beside_those_that_readers_wait_for(
    tmp_path: Path, sources: Path
) -> None:
    async with library(tmp_path / "home", None) as engine:
        await fill(engine, sources / "azu.pdf")
        (document,) = await engine.documents()
        pages = CountedPages()
        pictures = DocumentPictures(engine.parts.catalogue, tenant_blobs(engine.parts), pages)
        drawn = await pictures.draw(document.document_id, [1, 2, 3, 4], shape=PictureShape(1, 1))
    assert (list(drawn), pages.most) == ([1, 2, 4], 1)


# --- a library --------------------------------------------------------------------------------


async def test_pages_are_found_by_what_they_show(
    tmp_path: Path, model: Path, sources: Path
) -> None:
    async with library(tmp_path / "home", model) as engine:
        await fill(engine, sources)
        for colour in TEXTS:
            ranked, failed = await asked(engine, colour)
            assert len(ranked) == 3, "a note has no pages"
            assert ranked[0] == colour[:3]
            assert not failed
        assert (await asked(engine, "azure", page_weight=0.0))[0] == []
        assert (await asked(engine, "azure", mode="semantic"))[0] == []
        first = await engine.retrieve(Request("emerald council meeting"), trace=Trace())
        assert first.hits[0].document == "eme"
        documents = {each.title: each.document_id for each in await engine.documents()}
        await engine.remove([documents["azu"]])
        assert set((await asked(engine, "azure"))[0]) == {"cri", "eme"}
    stored = next((tmp_path / "home").glob("index/*/*.pages.sqlite"))
    assert documents["azu"].encode() not in stored.read_bytes()


async def test_pages_of_an_uploaded_file_are_found(tmp_path: Path, model: Path) -> None:
    file = write_coloured_pdf(tmp_path / "sent.pdf", [("azure", TEXTS["azure"])])
    async with library(tmp_path / "home", model) as engine:
        task, _new = await receive_whole(
            engine.parts,
            one(file.read_bytes()),
            about=lambda: {"name": "azu.pdf", "collection": None},
            key_id="k",
        )
        assert (await add_file(engine, task)).status == "ready"
        assert await asked(engine, "azure") == (["azu"], [])


async def test_a_purge_keeps_the_pictures_of_pages_and_draws_none(
    tmp_path: Path, model: Path, sources: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quoth.operations.purge.DROP_AFTER_S", 0)  # nobody else is searching
    async with library(tmp_path / "home", model) as engine:
        await fill(engine, sources)
        documents = {each.title: each.document_id for each in await engine.documents()}
        shutil.rmtree(sources)  # the pages cannot be drawn again
        await engine.remove([documents["azu"]])
        assert (await purge(engine.parts)).complete
        assert (await asked(engine, "emerald"))[0] == ["eme", "cri"]
        shown = {check.name: check.found for check in (await engine.health()).checks}
        assert shown["pictures"].startswith("the pages of 2 of 2 documents")
    assert not [
        file
        for file in (tmp_path / "home").glob("index/*/*.pages.sqlite*")
        if documents["azu"].encode() in file.read_bytes()
    ]


async def test_filters_hold_for_pictures_of_pages(
    tmp_path: Path, model: Path, sources: Path
) -> None:
    async with library(tmp_path / "home", model) as engine:
        await fill(engine, sources)
        documents = {each.title: each.document_id for each in await engine.documents()}
        trace = Trace()
        found = await engine.retrieve(
            Request("azure", filters=(f"document={documents['cri']}",)), trace=trace
        )
        assert {hit.document for hit in found.hits} == {"cri"}


async def test_a_library_without_pictures_says_so_until_it_is_built_again(
    tmp_path: Path, model: Path, sources: Path
) -> None:
    home = tmp_path / "home"
    async with library(home, None) as engine:
        await fill(engine, sources)
    async with library(home, model) as engine:
        ranked, failed = await asked(engine, "azure")
        assert not ranked
        assert any(each.startswith("pages:") for each in failed)
        async for _ in engine.reindex():
            pass
        assert (await asked(engine, "azure"))[0][0] == "azu"
    async with library(home, write_page_model(tmp_path / "other", seed=4)) as engine:
        ranked, failed = await asked(engine, "azure")  # vectors of two models are not compared
        assert not ranked
        assert any(each.startswith("pages:") for each in failed)
    async with library(home, None) as engine:  # without the model its vectors still go
        documents = {each.title: each.document_id for each in await engine.documents()}
        await engine.remove(list(documents.values()))
    assert not [
        file
        for file in home.glob("index/*/*.pages.sqlite*")
        for key in documents.values()
        if key.encode() in file.read_bytes()
    ]
