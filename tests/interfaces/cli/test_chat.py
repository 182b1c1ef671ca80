"""A conversation on the command line: over a pipe for scripts, at a terminal for people."""

from __future__ import annotations

import json
from pathlib import Path
from shutil import copytree

import pytest
from typer.testing import CliRunner

from quoth.interfaces.cli.app import app
from tests.support.cli import COLUMNS, Said, quoth
from tests.support.llm_servers import OPENAI, Server
from tests.support.terminal import Terminal

WINTER = "How much honey does a colony need in winter?"
MADE = "Honey is made from nectar, which the workers carry home in their stomachs."
MODEL = "openai-compatible:tiny"


@pytest.fixture(scope="module")
def home(small_library: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    copied = copytree(small_library / "home", tmp_path_factory.mktemp("chat") / "home")
    return Path(copied)


def chat(home: Path, *lines: str, words: tuple[str, ...] = ()) -> Said:
    """Send the lines through a pipe."""
    runner = CliRunner(env={**COLUMNS, "QUOTH_HOME": str(home), "QUOTH_EMBEDDER": "fake"})
    result = runner.invoke(app, [*words, "chat"], input="".join(f"{line}\n" for line in lines))
    return Said(result.exit_code, result.stdout, result.stderr)


def test_a_pipe_gets_every_question_with_its_answer(home: Path) -> None:
    said = chat(home, WINTER, "", "What is honey made from?")
    assert said.code == 0
    first, second = said.out.split("\n> ")[1:]
    assert first.startswith(WINTER)
    assert "fifteen kilograms" in first
    assert "nectar" in second


def test_a_script_hears_no_suggestions_and_no_prompt(home: Path) -> None:
    assert chat(home, WINTER).err == ""


def test_programs_get_one_line_for_each_answer(home: Path) -> None:
    said = chat(home, WINTER, "And why does it need that?", words=("--json",))
    first, second = said.lines
    assert first["citations"]
    assert (first["query"]["is_followup"], second["query"]["is_followup"]) == (False, True)
    assert "honey" in second["query"]["standalone"].casefold()


def test_a_new_conversation_knows_nothing_of_the_old_one(home: Path) -> None:
    said = chat(home, WINTER, "/new", "And why does it need that?", words=("--json",))
    assert said.lines[1]["query"]["is_followup"] is False


def test_an_unknown_command_says_what_there_is(home: Path) -> None:
    said = chat(home, "/nonsense")
    assert "/quit" in said.err
    assert said.out == ""


def test_a_question_that_fails_ends_nothing_but_shows_in_the_exit_code(home: Path) -> None:
    said = chat(home, "honey " * 400, WINTER, words=("--json",))
    error, answer = said.lines
    assert error["code"] == "invalid_input"
    assert answer["citations"]
    assert said.code == 1


def test_a_wrong_set_up_ends_it(home: Path) -> None:
    assert chat(home, WINTER, words=("--collection", "default", "--reranker", "nosuch")).code == 3


async def test_people_are_told_what_they_may_ask_next_once(home: Path) -> None:
    async with Terminal(home, "chat") as screen:
        await screen.until("> ")
        screen.enter("When does a colony swarm?\n")
        first = await screen.until("\n> ")
        screen.enter("When does a colony swarm?\n")
        second = await screen.until("\n> ")
        screen.enter("/show 1\n")
        assert "A colony swarms when" in await screen.until("\n> ")
        screen.enter("/show 9\n")
        assert "takes the number of a citation" in await screen.until("\n> ")
        screen.interrupt()  # between answers it ends the conversation
        screen.enter("\n")  # a signal that comes before readline waits is seen at the next key
        assert await screen.end() == 0
    suggested = {line for line in first.splitlines() if "→" in line}
    assert suggested
    assert not suggested & set(second.splitlines())
    assert screen.seen.rstrip().endswith(">")


def test_the_last_conversation_is_continued(home: Path, tmp_path: Path) -> None:
    assert chat(home, WINTER, words=("--json",)).code == 0
    continued = "And why does it need that?\n"
    said = quoth(home, "--json", "chat", "--continue", typed=continued)
    assert said.json["query"]["is_followup"] is True
    assert f"Continuing after: {WINTER}" in said.err
    assert "No earlier conversation" in quoth(tmp_path, "chat", "-c", typed="/exit\n").err


async def test_a_stopped_answer_ends_its_call_and_the_next_question_knows_of_it(home: Path) -> None:
    whole = OPENAI.stream(f"{MADE} [Source 1]")
    async with Server(OPENAI.stream("Honey is ", "gold.", hold=1), whole) as server:
        address = {"QUOTH_LLM_BASE_URL": f"{server.url}/v1"}
        async with Terminal(home, "chat", "--llm", MODEL, **address) as screen:
            await screen.until("> ")
            screen.enter(f"{WINTER}\n")
            await screen.until("is reading")  # readline goes on only where its output is read
            await server.came.wait()
            screen.interrupt()
            await screen.until("Stopped.")
            await server.left.wait()
            screen.enter("And why does it need that?\n")
            await screen.until("quoth explain")
            screen.enter("/nonsense\n")
            await screen.until("/new starts again")
            screen.enter("/exit\n")
            assert await screen.end() == 0
        asked = json.dumps(server.asked[-1].body)
    assert WINTER in asked
    assert "Traceback" not in screen.seen
