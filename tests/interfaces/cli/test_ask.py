"""The command line on where and how to look: several collections, filters, choices, rerankers."""

from __future__ import annotations

from pathlib import Path

import pytest

import quoth as package
from quoth.core.calibration import Tuning
from quoth.evaluation.tune import BestWeight, Tuned
from quoth.interfaces.cli import tune
from quoth.interfaces.cli.render import AROUND, marked_parts
from tests.support.cli import quoth
from tests.support.small_library import write_sources

NECTAR = "What is honey made from?"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two collections: the talk in one, the notes and the rest in the other."""
    folder = tmp_path_factory.mktemp("asking")
    sources = write_sources(folder / "sources")
    at = folder / "home"
    talk = str(sources / "hive.srt")
    assert quoth(at, "--quiet", "--collection", "talks", "add", talk).code == 0
    assert (
        quoth(at, "--quiet", "add", str(sources / "notes.md"), str(sources / "book.pdf")).code == 0
    )
    return at


def test_several_collections_are_asked_at_once(home: Path) -> None:
    words = ("--collection", "default", "--collection", "talks", "--json", "search", "honey")
    assert {hit["collection"] for hit in quoth(home, *words).json} == {"default", "talks"}


def test_only_questions_go_to_several_collections(home: Path) -> None:
    said = quoth(home, "--collection", "default", "--collection", "talks", "list")
    assert said.code == 2
    assert "Only ask, chat and search take several collections" in said.err


def test_the_asker_is_told_where_the_search_looked_and_takes_it_back(home: Path) -> None:
    said = quoth(home, "ask", "What is on page 3?")
    assert "Searched only in page 3" in said.out
    assert "Searched only" not in quoth(home, "ask", "What is on page 3?", "--filter", "none").out


def test_a_question_that_may_not_be_answered_shows_the_closest_passages(home: Path) -> None:
    said = quoth(home, "--json", "ask", "Who sells honey in Rome?")
    assert (said.code, said.json["status"], said.json["citations"]) == (1, "low_relevance", [])
    first = said.json["closest"][0]
    told = first["text"][slice(*first["marked"])]
    assert told.endswith(".")
    out = " ".join(quoth(home, "ask", "Who sells honey in Rome?").out.split())
    assert first["link"] in out
    assert out.count(" ".join(told.split())) == 1
    shown = quoth(home, "--json", "show", f"{said.json['query_id']}:1").json
    low, high = (at - shown["start"] for at in shown["marked"])
    assert (shown["text"][low:high], shown["document"]) == (told, first["document"])
    assert first["text"] in shown["text"]
    assert first["link"] == shown["link"]
    assert "has 0 citations" in quoth(home, "show", f"{said.json['query_id']}:99").err
    quoth(home, "remove", first["document"])
    gone = quoth(home, "show", f"{said.json['query_id']}:1")
    assert f">>> {told} <<<" in gone.out
    assert "was updated or removed since" in " ".join(gone.err.split())


def test_the_marked_part_of_a_passage_stands_between_what_surrounds_it() -> None:
    assert marked_parts("Bees sing.\n\nWe\n  listen. Then", (12, 24)) == (
        "Bees sing. ",
        "We listen.",
        " Then",
    )
    assert marked_parts("Bees.", (0, 5)) == ("", "Bees.", "")
    before, _, after = marked_parts(f"{'long ' * 90}Bees. {'after ' * 90}", (450, 455))
    assert before.startswith("… long")
    assert after.endswith("after …")
    assert max(len(before), len(after)) <= AROUND + 4


def test_a_choice_for_one_question(home: Path) -> None:
    said = quoth(home, "--json", "search", "honey", "--set", "plan.final_k=1")
    assert len(said.json) == 1
    assert quoth(home, "search", "honey", "--set", "plan.nonsense=1").code == 2


@pytest.mark.parametrize("command", [("search", "honey"), ("ask", "What is honey?"), ("chat",)])
def test_what_is_no_setting_is_told_in_a_sentence(home: Path, command: tuple[str, ...]) -> None:
    said = quoth(home, *command, "--set", "reranker=late")
    assert (said.code, said.err.strip()) == (
        2,
        "'reranker=late' is not a setting. Write --set plan.FIELD=VALUE.",
    )


def test_the_reranker_is_named(home: Path) -> None:
    said = quoth(home, "--json", "--reranker", "fake", "search", NECTAR)
    assert "rerank" in said.json[0]["legs"]
    assert "rerank" not in quoth(home, "--json", "search", NECTAR).json[0]["legs"]


@pytest.mark.parametrize("name", ["nosuch", "ms-marco-MiniLM-L-6-v2", "/nowhere/at/all"])
def test_a_reranker_that_is_not_there_is_a_wrong_set_up(home: Path, name: str) -> None:
    said = quoth(home, "--reranker", name, "ask", NECTAR)
    assert said.code == 3
    assert name.rpartition("/")[2].casefold() in said.err.casefold()


def test_a_conversation_from_python(home: Path) -> None:
    with package.open(str(home), embedder="fake") as library:
        first = "How much honey does a colony need in winter?"
        turn = package.Turn(first, library.ask(first).text)
        answer = library.ask("And why does it need that?", history=[turn])
        assert answer.query.is_followup
        assert "honey" in answer.query.standalone.casefold()
        both = library.ask_all([NECTAR, first], final_k=2)
    assert [each.query.original for each in both] == [NECTAR, first]


def test_what_tune_found_is_said_in_sentences() -> None:
    scores = {"keyword": 0.5, "semantic": 0.4, "before": 0.55, "after": 0.6}
    weights = {"en": BestWeight(0.4, 120, scores, 0.01, True)}
    silent, answered = {"before": 0.9, "after": 0.95}, {"before": 0.7, "after": 0.8}
    said = " ".join(tune.lines(Tuned(Tuning({"en": 0.4}), weights, silent, answered)))
    assert "en: 120 questions" in said
    assert "Changed: meaning now counts 40%, words the rest; both now 0.60." in said
    assert "From now on, 95% of the questions about other things" in said


def test_what_was_learnt_is_shown_and_taken_back(home: Path) -> None:
    with package.open(str(home), embedder="fake") as library:
        catalogue = library._engine.parts.catalogue
        catalogue.tune(catalogue.collection("default"), Tuning({"en": 0.4}, questions=20))
    assert "quoth --collection default tune --reset" in quoth(home, "doctor").out
    assert quoth(home, "tune", "--reset").code == 0
    assert "tune" not in quoth(home, "doctor").out
