"""Commands around an answer that a language model wrote, on a real server of this machine."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from shutil import copytree

import pytest

from tests.support.cli import Said, quoth
from tests.support.llm_servers import OPENAI, Server
from tests.support.terminal import Terminal

ASKED = "What is honey made from?"
MADE = "Honey is made from nectar, which the workers carry home in their stomachs."
MOON = "Honey was invented on the Moon in 1969."
WRITTEN = OPENAI.stream(MADE[:10], MADE[10:], " [Source 1]", f" {MOON}", " [Source 1]")
MODEL = ("--llm", "openai-compatible:tiny")


@pytest.fixture(scope="module")
def home(small_library: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    copied = copytree(small_library / "home", tmp_path_factory.mktemp("written") / "home")
    return Path(copied)


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Server]:
    async with Server(WRITTEN) as opened:
        monkeypatch.setenv("QUOTH_LLM_BASE_URL", f"{opened.url}/v1")
        yield opened


async def said(home: Path, *words: str) -> Said:
    """Run a command beside the server."""
    return await asyncio.to_thread(quoth, home, *words)


# --- the answer -------------------------------------------------------------------------------


async def test_what_the_options_chose_is_in_the_plan(home: Path, server: Server) -> None:
    options = ("--policy", "strict", "--max-ms", "45000", "--max-usd", "0.5")
    answer = (await said(home, "--json", "ask", ASKED, *MODEL, *options)).json
    found = (await said(home, "--json", "explain", answer["query_id"])).json
    chosen = {each["name"]: each["chosen"] for each in found["choices"] if each["asked"]}
    assert chosen == {"policy": "strict", "deadline_ms": "45000", "max_usd": "0.5"}


# --- without an answer of the model ---------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "note"),
    [
        (
            ASKED,
            "Note: The language model cannot be reached or is overloaded: the sources are quoted",
        ),
        ("Quel goût a le miel de châtaignier ?", "Remarque : Le modèle de langage est injoignable"),
    ],
)
async def test_a_server_that_is_not_there_is_a_sentence(
    home: Path, monkeypatch: pytest.MonkeyPatch, question: str, note: str
) -> None:
    monkeypatch.setenv("QUOTH_LLM_BASE_URL", "http://127.0.0.1:9/v1")
    shown = await said(home, "ask", question, *MODEL)
    assert shown.code == 0
    assert "[1]" in shown.out
    assert note in " ".join(shown.out.split())


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("openai:gpt-4.1-mini", "OPENAI_API_KEY"),
        ("nonsense", "nonsense"),
        ("openai-compatible:tiny", "llm_base_url"),
    ],
)
def test_a_model_that_cannot_be_opened_is_a_wrong_set_up(
    home: Path, model: str, reason: str
) -> None:
    shown = quoth(home, "ask", ASKED, "--llm", model)
    assert shown.code == 3
    assert reason in shown.err
    assert shown.out == ""


# --- afterwards -------------------------------------------------------------------------------


async def test_what_was_asked_is_listed_explained_and_handed_on(
    home: Path, server: Server, tmp_path: Path
) -> None:
    answer = (await said(home, "--json", "ask", ASKED, *MODEL)).json
    name = answer["query_id"]
    listed = (await said(home, "history", "-n", "1")).out
    assert listed.startswith(name)
    assert listed.rstrip().endswith(ASKED)
    explained = (await said(home, "explain", name)).out
    assert "cited as 1" in explained
    assert f"{MOON} [unsupported]" in explained
    missed = (await said(home, "explain", name, "--why-not", "liquide pendant des années")).out
    assert "acacia" in missed
    page = tmp_path / "way.html"
    assert (await said(home, "explain", name, "--html", str(page))).code == 0
    assert "cited as 1" in page.read_text()
    assert MADE in (await said(home, "export", name)).out.replace("\\", "")


async def test_a_replay_is_the_same_with_the_model_and_not_without(
    home: Path, server: Server
) -> None:
    name = (await said(home, "--json", "ask", ASKED, *MODEL)).json["query_id"]
    again = await said(home, "replay", name, *MODEL)
    assert "answer: the same, word for word" in again.out
    assert again.code == 0
    without = await said(home, "replay", name)
    assert without.code == 1
    assert "generator: openai-compatible:tiny → none" in without.out


@pytest.mark.parametrize("command", ["explain", "replay", "export"])
def test_an_unknown_id_is_1_and_says_where_to_look(home: Path, command: str) -> None:
    shown = quoth(home, command, "q_nosuch")
    assert shown.code == 1
    assert "quoth history" in shown.err


# --- at a terminal ----------------------------------------------------------------------------


@pytest.mark.soak
async def test_the_evidence_is_there_before_the_model_writes(home: Path) -> None:
    held = OPENAI.stream(MADE, " [Source 1]", f" {MOON}", " [Source 1]", hold=0)
    async with Server(held) as server:
        address = {"QUOTH_LLM_BASE_URL": f"{server.url}/v1"}
        async with Terminal(home, "ask", ASKED, *MODEL, **address) as screen:
            first = await screen.until("is reading")
            server.go_on.set()
            assert await screen.end() == 0
    assert "nectar" in first
    assert "1969" not in first
    assert "\x1b[31m [unsupported]" in screen.seen
    assert screen.seen.count("1969") == 1


@pytest.mark.soak
async def test_sources_that_stand_for_a_failed_model_are_shown_once(home: Path) -> None:
    address = {"QUOTH_LLM_BASE_URL": "http://127.0.0.1:9/v1"}
    async with Terminal(home, "ask", ASKED, *MODEL, **address) as screen:
        assert await screen.end() == 0
    assert screen.seen.count("carry home in their stomachs") == 2  # the answer, and its source


@pytest.mark.soak
async def test_dropped_sentences_are_never_shown_and_lines_break_between_words(home: Path) -> None:
    long = " ".join([MADE] * 4)
    pieces = [*(f"{each} " for each in long.split()), "[Source 1] ", f"{MOON} [Source 1]"]
    async with Server(OPENAI.stream(*pieces)) as here:
        address = {"QUOTH_LLM_BASE_URL": f"{here.url}/v1"}
        async with Terminal(home, "ask", ASKED, *MODEL, "--policy", "drop", **address) as screen:
            assert await screen.end() == 0
    assert "Moon" not in screen.seen
    lines = screen.seen.splitlines()
    written = [each for each in lines if "workers carry" in each and "“" not in each]
    assert written
    assert all(len(each) <= 100 for each in written)
    assert not any(each.startswith("[") for each in lines)


async def test_a_file_gets_no_colours_and_no_line_breaks(home: Path, server: Server) -> None:
    shown = await said(home, "ask", ASKED, *MODEL)
    assert "\x1b" not in shown.out
    assert f"{MADE} [1] {MOON}" in shown.out


@pytest.mark.soak
async def test_an_answer_that_is_stopped_is_130_and_says_so_shortly(home: Path) -> None:
    async with Server(OPENAI.stream(MADE, hold=0)) as here:
        address = {"QUOTH_LLM_BASE_URL": f"{here.url}/v1"}
        async with Terminal(home, "ask", ASKED, *MODEL, **address) as screen:
            await here.came.wait()
            await screen.until("is reading")
            screen.interrupt()
            assert await screen.end() == 130
        await here.left.wait()
    assert screen.seen.rstrip().endswith("Stopped.")
