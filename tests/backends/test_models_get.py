"""`quoth models get` against a server that speaks the hub's protocol."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from quoth.backends.embedders.registry import open_embedder
from quoth.backends.rerankers.registry import Rerankers
from quoth.backends.transcribers.moonshine import DECODER
from quoth.backends.transcribers.registry import ENCODER, live_speech_settings, speech_folder
from quoth.core.errors import ConfigError, InputError
from quoth.core.settings import Settings
from quoth.ingest.sources.download import Server
from quoth.ingest.sources.http import Internet, connect_to
from quoth_models.convert import convert_folder
from quoth_models.get import get_model
from quoth_models.table import MODELS, HubModel
from tests.backends.test_model_parity import MODELS as FIXTURES
from tests.backends.test_model_parity import QUERY, TEXTS
from tests.support.cli import quoth
from tests.support.hub_server import COMMIT, Hub, hub_server
from tests.support.toy_rerankers import chunks

LIKE = {"multilingual-e5-small": "bge-m3", "bge-reranker-v2-m3": "bge-reranker-base"}
"""The fixture that stands for a model without one of its own."""
NAME = "bge-reranker-v2-m3"
USES = ("embedder", "reranker")


def repository(name: str, folder: Path) -> dict[str, bytes]:
    """The files of a model's repository: safetensors, or ONNX where it has that."""
    source = FIXTURES / LIKE.get(name, name)
    files = {
        str(path.relative_to(source)): path.read_bytes()
        for path in source.rglob("*")
        if path.is_file() and path.name != "expected.json"
    }
    if MODELS[name].weights[0][0].endswith(".onnx"):
        for each, content in files.items():
            (folder / name / each).parent.mkdir(parents=True, exist_ok=True)
            (folder / name / each).write_bytes(content)
        model = convert_folder(folder / name, progress=lambda _: None)
        onnx.save_model(onnx.load_model(model), folder / "one.onnx")
        files["onnx/model.onnx"] = (folder / "one.onnx").read_bytes()
    return {**files, "README.md": b"# A model", "pytorch_model.bin": b"\0" * 9_000}


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    with hub_server() as served:
        known: HubModel = MODELS[NAME]
        served.files[known.repository] = repository(NAME, tmp_path / "sources")
        yield served


async def get(hub: Hub, models: Path, name: str = NAME, **more: Any) -> tuple[Path, list[str]]:
    said: list[str] = []
    server = Server(hub.url, wait_seconds=0, **more)
    return await get_model(name, models=models, server=server, progress=said.append), said


@pytest.mark.parametrize("name", [name for name in MODELS if MODELS[name].used_as in USES])
async def test_a_model_is_fetched_and_opens(name: str, hub: Hub, tmp_path: Path) -> None:
    known = MODELS[name]
    hub.files[known.repository] = repository(name, tmp_path)
    folder, said = await get(hub, tmp_path / "models", name)
    assert COMMIT[:12] in said[0]
    assert "licence mit" in said[0]
    assert any("SHA-256" in line for line in said)
    assert not list(folder.glob("*.safetensors")) + list(folder.glob("*.bin"))
    assert json.loads((folder / "quoth-hub.json").read_text())["commit"] == COMMIT
    settings = Settings(home=tmp_path, models=tmp_path / "models", threads=1, embedder=name)
    if known.used_as == "embedder":
        embedder = open_embedder(settings)
        vectors = await embedder.embed(TEXTS, role="document")
        assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
        assert not known.prompts or embedder.query_prefix
        embedder.close()
    else:
        rerankers = Rerankers(name, settings)
        assert len(await rerankers.over(None).score(QUERY, chunks(TEXTS))) == len(TEXTS)
        await rerankers.aclose()


@pytest.mark.parametrize(
    ("name", "names", "setting"),
    [
        ("whisper-base", ("vocabulary.txt", "model.bin"), "QUOTH_SPEECH_MODEL"),
        ("moonshine-base", (ENCODER, DECODER), "QUOTH_SPEECH_MODEL_ENGLISH"),
    ],
)
async def test_a_speech_model_is_fetched_as_it_is(
    name: str, names: tuple[str, ...], setting: str, hub: Hub, tmp_path: Path
) -> None:
    files = {each: each.encode() * 1_000 for each in ("config.json", "tokenizer.json", *names)}
    hub.files[MODELS[name].repository] = {**files, "onnx/model_q4.onnx": b"another"}
    folder, said = await get(hub, tmp_path, name)
    found = {each: (folder / each).read_bytes() for each in files}
    assert (found, (folder / "onnx/model_q4.onnx").exists()) == (files, False)
    assert said[-1].endswith(f"Use it with {setting}={name}.")
    settings = Settings(models=tmp_path)
    taken = (speech_folder(settings), live_speech_settings(settings).english)
    assert folder in taken


async def test_a_broken_download_goes_on_where_it_ended(hub: Hub, tmp_path: Path) -> None:
    hub.breaks = 2
    await get(hub, tmp_path)
    weights = [asked for name, asked in hub.asked if name == "model.safetensors"]
    assert weights == [None, "bytes=4000-", "bytes=8000-"]


async def test_the_next_call_goes_on_where_the_last_one_ended(hub: Hub, tmp_path: Path) -> None:
    part = tmp_path / f".{NAME}.part" / "model.safetensors"
    part.parent.mkdir()
    part.write_bytes(hub.files[MODELS[NAME].repository]["model.safetensors"][:7_000])
    await get(hub, tmp_path)
    assert hub.asked == [("model.safetensors", "bytes=7000-")]


async def test_a_server_without_ranges_begins_again(hub: Hub, tmp_path: Path) -> None:
    hub.breaks, hub.ranges = 1, False
    folder, _ = await get(hub, tmp_path)
    assert (folder / "model.onnx").is_file()


async def test_what_is_there_is_not_fetched_again(hub: Hub, tmp_path: Path) -> None:
    await get(hub, tmp_path)
    hub.files.clear()
    _, said = await get(hub, tmp_path)
    assert "is there already" in said[0]


@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
async def test_another_content_than_announced_is_refused(
    name: str, hub: Hub, tmp_path: Path
) -> None:
    content = hub.files[MODELS[NAME].repository][name]
    hub.other = {name: content[:-1] + b"?"}
    with pytest.raises(ConfigError, match=rf"{name} that arrived is not the one"):
        await get(hub, tmp_path)
    assert not (tmp_path / NAME).exists()
    hub.other = {}
    await get(hub, tmp_path)


async def test_more_than_announced_is_refused(hub: Hub, tmp_path: Path) -> None:
    content = hub.files[MODELS[NAME].repository]["model.safetensors"]
    hub.other = {"model.safetensors": content * 2}
    with pytest.raises(ConfigError, match="sent more than"):
        await get(hub, tmp_path)


async def test_a_redirect_to_the_internal_network_is_refused(hub: Hub, tmp_path: Path) -> None:
    hub.cdn = "http://10.0.0.1"
    with pytest.raises(ConfigError, match="is not visited"):
        await get(hub, tmp_path)
    assert not hub.asked


async def test_a_redirect_to_the_public_internet_is_followed(hub: Hub, tmp_path: Path) -> None:
    hub.cdn = "http://cdn.example"
    port = int(hub.url.rpartition(":")[2])

    async def resolve(host: str, _port: int) -> Sequence[str]:
        return ["93.184.216.34"] if host == "cdn.example" else ["127.0.0.1"]

    async def connect(address: str, _port: int) -> Any:
        return await connect_to("127.0.0.1", port)

    await get(hub, tmp_path, internet=Internet(resolve, connect))
    assert hub.asked


async def test_a_hub_that_is_not_there_says_how_to_bring_the_folder(tmp_path: Path) -> None:
    hub = Hub(url="http://127.0.0.1:9")
    with pytest.raises(ConfigError, match=r"Without a network, download .* quoth models convert"):
        await get(hub, tmp_path)


async def test_a_repository_without_weights_is_named(hub: Hub, tmp_path: Path) -> None:
    del hub.files[MODELS[NAME].repository]["model.safetensors"]
    with pytest.raises(ConfigError, match=r"has no model\.safetensors"):
        await get(hub, tmp_path)


async def test_an_unknown_name_lists_the_known_ones(hub: Hub, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="bge-m3, qwen3-embedding"):
        await get(hub, tmp_path, "gpt")


def test_the_commands(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    models = tmp_path / "models"
    monkeypatch.setenv("QUOTH_MODELS_HUB", hub.url)
    monkeypatch.setenv("QUOTH_MODELS", str(models))
    done = quoth(tmp_path, "models", "get", NAME)
    assert (done.code, "is ready in" in done.err) == (0, True)
    done = quoth(tmp_path, "--json", "models", "list")
    assert {row["name"] for row in done.json if row["built"]} == {NAME}
    (models / NAME / "model.onnx").unlink()
    done = quoth(tmp_path, "models", "convert", NAME)
    assert (done.code, "has no model.safetensors" in done.err) == (3, True)
    monkeypatch.setenv("QUOTH_MODELS_HUB", "http://127.0.0.1:9")
    done = quoth(tmp_path, "models", "get", "bge-m3")
    assert (done.code, "Without a network" in done.err) == (3, True)
    assert quoth(tmp_path, "models", "get").code == 2
    for name in ("", "bge-m4", "/nowhere", str(hub_file := tmp_path / "file")):
        hub_file.touch()
        done = quoth(tmp_path, "models", "convert", name)
        assert (done.code, f"There is no folder '{name}'" in done.err) == (3, True)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert "The folder . has no config.json" in quoth(tmp_path, "models", "convert", ".").err


async def test_two_that_fetch_one_model_at_once_both_have_it(hub: Hub, tmp_path: Path) -> None:
    both = await asyncio.gather(get(hub, tmp_path / "models"), get(hub, tmp_path / "models"))
    assert both[0][0] == both[1][0]
    said = [line for _folder, lines in both for line in lines]
    assert sum("waiting for it" in line for line in said) == 1
    assert sum("another process has fetched it" in line for line in said) == 1
