"""The command line: what it prints where, with which exit code, for every command."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, update

from quoth.core.plan import MODE_SPELLINGS
from quoth.core.types import Chars
from quoth.interfaces.cli.session import quantity
from quoth.store.audit import Audit
from quoth.store.catalogue import Catalogue
from quoth.store.database import open_database
from quoth.store.ingest_jobs import Jobs
from quoth.text.place_name import place_name
from tests.support.cli import quoth, quoth_process
from tests.support.embedding_server import embedding_server
from tests.support.small_library import NOTES, write_sources

TRANSFER = "What is transfer learning?"
LINKED = re.compile(r"https://www\.youtube\.com/watch\?v=[\w-]{11}&t=\d+|#page=\d+")


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    return write_sources(tmp_path / "sources")


def pure(said: Any) -> Any:
    """The JSON of a call that printed nothing else on stdout."""
    assert len(said.out.splitlines()) == 1
    return said.json


# --- asking -----------------------------------------------------------------------------------


def test_ask_shows_an_answer_and_its_sources(sample_home: Path) -> None:
    said = quoth(sample_home, "ask", TRANSFER)
    assert said.code == 0
    assert "[1]" in said.out
    assert LINKED.search(said.out)
    assert re.search(r"\d+ sources? · \d+\.\d\d s · no language model", said.out)
    assert said.err == ""


def test_no_part_of_a_place_is_named_twice() -> None:
    where = Chars(0, 9, "9. Options ▸ 9.4 Names", None, "chars", "line", "12", "20")
    assert place_name("nethack", where, "9. Options ▸ 9.4 Names") == (
        " · 9. Options ▸ 9.4 Names ▸ lines 12–20"
    )
    assert place_name("9.4 Names", where, "9. Options") == (
        " · 9. Options ▸ 9.4 Names ▸ lines 12–20"
    )
    assert place_name("nethack", where, "Names") == (
        " · 9. Options ▸ 9.4 Names ▸ lines 12–20 · Names"
    )
    mail = "Boiler · Ada · 2024-01-08"
    assert place_name("Boiler", Chars(0, 9, section=mail), mail) == " · Ada · 2024-01-08"


@pytest.mark.parametrize(
    "words",
    [
        ("--json", "ask", TRANSFER),
        ("ask", TRANSFER, "--json"),
        ("ask", "--no-stream", "--json", TRANSFER),
        ("ask", TRANSFER, "--llm", "none", "--policy", "strict", "--max-usd", "0", "--json"),
    ],
)
def test_ask_gives_programs_one_object(sample_home: Path, words: tuple[str, ...]) -> None:
    said = quoth(sample_home, *words)
    assert said.code == 0
    answer = pure(said)
    assert answer["query"]["original"] == TRANSFER
    assert answer["citations"]
    assert {each["locator"]["kind"] for each in answer["citations"]} <= {"seconds", "pages"}
    assert said.err == ""


def test_ask_streams_events_to_programs(sample_home: Path) -> None:
    said = quoth(sample_home, "--json", "ask", TRANSFER, "--stream")
    events = said.lines
    assert [each["event"] for each in events][:2] == ["status", "hits"]
    assert events[-1]["event"] == "done"
    answer = events[-1]["answer"]
    assert "".join(e["text"] for e in events if e["event"] == "token") == answer["text"]


def test_a_stream_that_fails_ends_with_an_error(sample_home: Path) -> None:
    said = quoth(sample_home, "--json", "ask", TRANSFER, "--stream", "--max-ms", "1")
    assert said.code == 1
    assert [each["event"] for each in said.lines] == ["status", "error"]
    assert said.lines[-1]["code"] == "out_of_time"


def test_ask_shows_the_closest_passages_when_there_is_no_answer(sample_home: Path) -> None:
    said = quoth(sample_home, "ask", "When did the Ottoman fleet sail from Gallipoli?")
    assert said.code == 1
    assert "[1]" not in said.out
    assert "nearest passages" in said.out.replace("\n", " ")


@pytest.mark.parametrize(
    ("words", "typed"), [(("What", "is", "transfer", "learning?"), ""), (("-",), TRANSFER)]
)
def test_a_question_needs_no_quotes_and_may_come_through_a_pipe(
    sample_home: Path, words: tuple[str, ...], typed: str
) -> None:
    said = quoth(sample_home, "--json", "ask", *words, "--llm", "none", typed=typed)
    assert (said.code, said.json["query"]["original"]) == (0, TRANSFER)


# --- searching --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*MODE_SPELLINGS, "BM25"])
def test_a_search_takes_the_other_names_of_modes(home: Path, name: str) -> None:
    mode = MODE_SPELLINGS[name.casefold()]  # type: ignore[index]
    said = quoth(home, "--json", "search", "bees swarm", "--mode", name)
    assert said.code == 0
    found = {leg for hit in said.json for leg in hit["legs"]} & {"keyword", "semantic"}
    assert found == ({"keyword", "semantic"} if mode == "hybrid" else {mode})


def test_a_question_takes_a_mode(home: Path) -> None:
    said = quoth(home, "--json", "ask", "When does a colony swarm?", "--mode", "bm25")
    assert {each["retrieval_method"] for each in said.json["citations"]} == {"keyword"}


def test_search_shows_ranked_passages(sample_home: Path) -> None:
    said = quoth(sample_home, "search", TRANSFER, "-k", "2")
    assert said.code == 0
    ranks = [line[:3].strip() for line in said.out.splitlines() if line[:3].strip()]
    assert ranks == ["1", "2"]
    assert said.err == ""


# --- documents --------------------------------------------------------------------------------


def test_add_reports_each_document(
    tmp_path: Path, sources: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quoth.interfaces.cli.documents_view.LINE_S", 0.0)
    said = quoth(tmp_path / "home", "add", str(sources))
    assert said.code == 0
    assert said.out == ""
    assert re.search(r"^reading    .+ passages, \d of 4 files$", said.err, re.MULTILINE)
    assert "ready      Keeping bees · markdown, en, 2 passages" in said.err
    assert "added      4\n" in said.err
    again = quoth(tmp_path / "home", "--json", "add", str(sources))
    assert {each["status"] for each in pure(again)} == {"unchanged"}
    assert "unchanged  4\n" in again.err
    (sources / "notes.md").write_text(NOTES + "\nA hive has one entrance.\n")
    changed = quoth(tmp_path / "home", "add", str(sources))
    assert "updated    1\nunchanged  3\n" in changed.err
    more = quoth(tmp_path / "home", "--quiet", "add", str(sources))
    assert (more.code, more.out, more.err) == (0, "", "")


@pytest.mark.skipif(os.name == "nt", reason="such names cannot be written there")
def test_the_name_of_a_file_sends_no_commands_to_a_terminal(tmp_path: Path) -> None:
    folder = tmp_path / "talks"
    folder.mkdir()
    (folder / "a\x1b[2J\x9b31m.pdf").write_bytes(b"%PDF-1.4")
    said = quoth(tmp_path / "home", "add", str(folder))
    assert "a\ufffd[2J\ufffd31m.pdf" in said.err
    assert not {"\x1b", "\x9b"} & {*said.out, *said.err}


def test_add_goes_on_past_a_bad_file(tmp_path: Path, sources: Path) -> None:
    (sources / "empty [b].md").write_text("")
    (sources / "void.md").write_text("\n")
    (sources / "old").mkdir()
    (sources / "old" / "a.md").write_text("\n\n")
    (sources / "old" / "b.json").write_text("{")
    said = quoth(tmp_path / "home", "--json", "--quiet", "add", str(sources))
    assert said.code == 1
    assert sorted(each["status"] for each in pure(said)) == [*["failed"] * 4, *["ready"] * 4]
    assert "  empty [b].md is empty" in said.err
    assert "[empty]\n" in said.err
    assert "the same: old/a.md, void.md\n" in said.err
    assert "  old/b.json is not valid JSON" in said.err
    (sources / "old" / "a.md").write_text("Ants farm fungi.")
    (sources / "old" / "b.json").write_text('{"ants": "They farm fungi."}')
    (sources / "void.md").write_text("A hive has one entrance.")
    listed = quoth(tmp_path / "home", "list")
    assert listed.code == 0
    assert "failed: empty  empty [b].md" in listed.out
    (sources / "empty [b].md").write_text(NOTES.replace("bees", "wasps"))
    assert quoth(tmp_path / "home", "add", str(sources)).code == 0
    assert "failed" not in quoth(tmp_path / "home", "list").out


def test_add_takes_what_is_said_of_a_file(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "plain.txt"
    file.write_text("Wasps make paper from wood.")
    title = f"[i]Wasps[/] {'of the world ' * 6}".strip()
    options = ("--title", title, "--speaker", "Eve", "--url", "https://example.org/a b")
    said = quoth(home, "--json", "add", str(file), *options, "--language", "en")
    assert said.code == 0
    (document,) = pure(said)
    assert (document["title"], document["speaker"]) == (title, "Eve")
    quoth(home, "set", title, "date=2024-05-01")
    listed = quoth(home, "list").out
    assert f"{title} · text, en, 1 passage, Eve, 2024-05-01 · plain.txt" in listed
    shown = quoth(home, "search", "wasps paper", "-k", "1")
    assert "[i]Wasps[/] of the world" in shown.out
    assert title not in shown.out
    assert "https://example.org/a%20b" in shown.out


@pytest.mark.parametrize(
    ("dates", "found"),
    [
        ("2025", {"Harbour", "Bridge", "Tunnel"}),
        ("..2025-02", {"Harbour"}),
        ("2025-03-15..2025-06", {"Harbour", "Tunnel"}),
        ("2025-08-03..", {"Harbour", "Bridge"}),
        ("2024", set()),
    ],
)
def test_a_year_or_a_month_fits_every_date_in_it(
    tmp_path_factory: pytest.TempPathFactory, dates: str, found: set[str]
) -> None:
    folder = tmp_path_factory.getbasetemp() / "dated"
    if not folder.is_dir():
        for name, date in (("Harbour", "2025"), ("Bridge", "2025-08-03"), ("Tunnel", "2025-03")):
            file = folder / "files" / f"{name}.md"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"---\ndate: {date}\n---\n# {name}\n\nIt costs four million euros.\n")
        assert quoth(folder / "home", "add", str(folder / "files")).code == 0
    hits = quoth(
        folder / "home", "search", "million euros", "--filter", f"date={dates}", "--json"
    ).json
    assert {each["document"] for each in hits} == found


@pytest.mark.parametrize(
    ("what", "code", "said"),
    [
        ("nowhere.pdf", 1, "There is no file or folder"),
        ("empty-folder", 1, "Nothing to add"),
        ("loop", 1, "cannot be read"),
        ("http://127.0.0.1/talk", 2, "not on the public internet"),
    ],
)
def test_add_says_what_it_cannot_add(tmp_path: Path, what: str, code: int, said: str) -> None:
    (tmp_path / "empty-folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    source = what if what.startswith("http") else str(tmp_path / what)
    found = quoth(tmp_path / "home", "--quiet", "add", source)
    assert found.code == code
    assert said in found.err


def test_add_names_the_links_and_pipes_of_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "talks"
    folder.mkdir()
    (folder / "bees.md").write_text("Bees dance to show where flowers are.")
    (folder / "gone.md").symlink_to(tmp_path / "nowhere.md")
    for name in ("pipe.txt", ".quothignore", "talks.meta.csv"):
        os.mkfifo(folder / name)
    found = quoth(tmp_path / "home", "add", str(folder))
    assert found.code == 1
    assert re.search(r"added +1\n", found.out + found.err)
    assert "gone.md is a link to a file that is gone." in found.err
    assert "pipe.txt is a pipe, a device or a folder" in found.err


def test_remove(home: Path) -> None:
    first, second, *_ = pure(quoth(home, "--json", "list"))
    said = quoth(home, "remove", first["document_id"])
    assert (said.code, said.out) == (0, "")
    assert f"Removed {first['title']} ({first['document_id']})." in said.err
    both = quoth(home, "--json", "remove", second["document_id"], "[/x]", "\udce9")
    assert both.code == 1
    assert pure(both) == {"removed": [second["document_id"]], "not_found": ["[/x]", "\udce9"]}
    assert "There is no document '[/x]'" in both.err
    assert len(pure(quoth(home, "--json", "list"))) == 2


@pytest.mark.parametrize("called", ["keeping BEES", "{id:.8}"])
def test_a_document_is_removed_by_its_title_or_the_beginning_of_its_id(
    home: Path, called: str
) -> None:
    named = next(e for e in pure(quoth(home, "--json", "list")) if e["title"] == "Keeping bees")
    said = quoth(home, "--json", "remove", called.format(id=named["document_id"]))
    assert pure(said) == {"removed": [named["document_id"]], "not_found": []}


def test_a_part_of_a_title_removes_nothing_and_names_the_candidates(home: Path) -> None:
    before = pure(quoth(home, "--json", "list"))
    said = quoth(home, "remove", "keeping")
    assert (said.code, "Keeping bees" in said.err) == (1, True)
    assert pure(quoth(home, "--json", "list")) == before


def test_everything_of_a_tenant_is_deleted_with_a_receipt(home: Path) -> None:
    refused = quoth(home, "purge", "--everything")
    assert refused.code == 2
    assert "tenant 'local'" in refused.err
    assert "--yes" in refused.err
    stored = quoth(home, "list", "--json").json
    assert stored != []
    done = quoth(home, "purge", "--everything", "--yes", "--json")
    assert done.code == 0
    assert done.json["complete"]
    receipt = done.json["receipt"]
    assert receipt["rows"]["documents"] == len(stored)
    assert quoth(home, "list", "--json").json == []
    database = open_database(home / "catalogue.sqlite")
    (newest,) = Audit(database, tenant="local").rows(limit=1)
    database.close()
    assert (newest.action, newest.object_id) == ("privacy.delete", receipt["digest"])


def test_collections_are_listed_with_their_size(home: Path) -> None:
    (found,) = pure(quoth(home, "--json", "collections"))
    documents = pure(quoth(home, "--json", "list"))
    assert (found["name"], found["documents"]) == ("default", len(documents))
    assert found["chunks"] == sum(each["chunks"] for each in documents)
    assert found["embedder"] in quoth(home, "collections").out
    remove = ("--json", "collections", "--remove", "default")
    assert "Confirm with --yes" in quoth(home, *remove).err
    assert pure(quoth(home, *remove, "--yes")) == {"removed": "default"}
    assert pure(quoth(home, "--json", "collections")) == []
    assert quoth(home, *remove, "--yes").code == 1


def test_reindex(home: Path) -> None:
    assert pure(quoth(home, "--json", "reindex")) == {"reindexed": 4, "collection": "default"}
    said = quoth(home, "reindex", "--embedder", "fake")
    assert (said.code, said.out) == (0, "")
    assert "Rebuilt the index of 'default': 4 documents." in said.err
    assert quoth(home, "doctor").code == 0


def test_another_embedder_is_compared_and_the_index_before_dropped(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with embedding_server() as server:
        server.dimension = 128
        monkeypatch.setenv("QUOTH_EMBEDDER_DIMENSIONS", "128")
        name = f"openai-compatible:m@{server.url}/v1"
        said = quoth(home, "reindex", "--embedder", name)
        assert said.code == 0, said.err
        assert "made of the collection" in said.out
        assert "openai-compatible:m" in said.out
        assert "quoth reindex --drop-old" in said.err.replace("\n", " ")
        assert re.search(r"Embedding took [\d,]+ tokens\.", said.err)
        assert pure(quoth(home, "--json", "ask", "When does a colony swarm?"))["citations"]
        dropped = {"dropped": True, "collection": "default"}
        assert pure(quoth(home, "--json", "reindex", "--drop-old")) == dropped
        assert "No index of another embedder" in quoth(home, "reindex", "--drop-old").err


def test_an_index_that_is_gone_is_noticed_and_rebuilt(home: Path) -> None:
    shutil.rmtree(home / "index")
    said = quoth(home, "doctor")
    assert said.code == 1
    assert "fix  index: 4 documents are incomplete" in said.out
    assert "quoth --collection default reindex" in said.out
    assert quoth(home, "--quiet", "reindex").code == 0
    assert quoth(home, "doctor").code == 0


def test_an_index_that_is_damaged_is_a_sentence_and_rebuilt(home: Path) -> None:
    for file in (home / "index").rglob("*"):
        if file.is_file() and file.suffix != ".lock":
            file.write_bytes(b"damaged")
    said = quoth(home, "--json", "ask", "When does a colony swarm?")
    assert said.code == 1
    assert pure(said)["code"] == "retrieval_failed"
    assert quoth(home, "--quiet", "reindex").code == 0
    assert pure(quoth(home, "--json", "ask", "When does a colony swarm?"))["citations"]


def test_one_thing_is_no_plural() -> None:
    assert [quantity(number, "file") for number in (0, 1, 1200)] == [
        "0 files",
        "1 file",
        "1,200 files",
    ]
    assert [quantity(number, "index", "indexes") for number in (1, 2)] == ["1 index", "2 indexes"]


def test_doctor(sample_home: Path) -> None:
    said = quoth(sample_home, "doctor")
    assert said.code == 0
    assert all(line.startswith("ok   ") for line in said.out.splitlines())
    health = pure(quoth(sample_home, "--json", "doctor"))
    assert health["ok"]
    assert {"home", "model", "documents", "index"} <= {each["name"] for each in health["checks"]}


def test_doctor_names_documents_whose_file_is_gone(tmp_path: Path, sources: Path) -> None:
    home = tmp_path / "home"
    assert quoth(home, "add", str(sources)).code == 0
    assert "files are gone" not in quoth(home, "doctor").out
    gone = next(sources.iterdir())
    gone.unlink()
    health = pure(quoth(home, "--json", "doctor"))
    (files,) = [each for each in health["checks"] if each["name"] == "files"]
    assert (health["ok"], files["ok"]) == (True, True)
    titles = [each["title"] for each in quoth(home, "list", "--json").json]
    assert [title for title in titles if title in files["found"]] != []
    assert len([title for title in titles if title in files["found"]]) == 1


def test_an_interrupted_add_is_listed_as_such(home: Path) -> None:
    database = open_database(home / "catalogue.sqlite")
    catalogue = Catalogue(database, tenant="local")
    past = Jobs(catalogue, clock=lambda: 1_000_000.0)
    past.claim(catalogue.collection("default"), "d1", source="/wasps.txt", title="wasps.txt")
    database.close()
    assert "d1  interrupted  wasps.txt" in quoth(home, "list").out
    assert "running" in {each["status"] for each in pure(quoth(home, "--json", "list"))}
    doctor = quoth(home, "doctor")
    assert doctor.code == 1
    assert "fix  interrupted: adding was interrupted: wasps.txt" in doctor.out
    assert quoth(home, "remove", "wasps").code == 0
    assert quoth(home, "doctor").code == 0


def test_collections_are_kept_apart(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "wasps.txt"
    file.write_text("Wasps make paper from wood.")
    assert quoth(home, "add", str(file), "--collection", "wasps").code == 0
    assert len(pure(quoth(home, "--json", "--collection", "wasps", "list"))) == 1
    assert len(pure(quoth(home, "--json", "list"))) == 4
    said = quoth(home, "--json", "--collection", "ants", "ask", "What do wasps make?")
    assert said.code == 1
    assert pure(said)["code"] == "not_found"
    assert "There are: default, wasps." in pure(said)["detail"]


def test_profiles_say_what_they_need(tmp_path: Path) -> None:
    found = {each["name"]: each["missing"] for each in pure(quoth(tmp_path, "--json", "profiles"))}
    assert found["default"] == []
    assert "voyage" in found["book"][0]
    shown = quoth(tmp_path, "profiles", embedder=None).out
    assert re.search(r"default +ready .*, late, extractive", shown)


def test_models_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUOTH_MODELS", str(tmp_path / "models"))
    listed = pure(quoth(tmp_path, "--json", "models"))
    assert len(listed) > 2
    assert not any(each["built"] for each in listed)
    assert quoth(tmp_path, "models", "bake").code == 2


# --- wrong usage and wrong set-up -------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ("ask",),
        ("ask", "What is it?", "--loud"),
        ("ask", "What is it?", "--max-ms", "soon"),
        ("ask", "What is it?", "--max-ms", "-5"),
        ("ask", "What is it?", "--policy", "harsh"),
        ("search", "What is it?", "-k", "0"),
        ("search", "What is it?", "-k", "many"),
        ("search", "What is it?", "--mode", "psychic"),
        ("search", "What is it?", "--filter", "colour=red"),
        ("search", "What is it?", "--filter", "speaker=caf\udce9"),
        ("add",),
        ("add", ""),
        ("sync", ""),
        ("--home", "", "list"),
        ("remove",),
        ("dance",),
        ("--loud", "list"),
        ("list", "--collection"),
    ],
)
def test_wrong_usage_is_2(sample_home: Path, words: tuple[str, ...]) -> None:
    said = quoth(sample_home, *words)
    assert said.code == 2
    assert said.out == ""
    assert said.err.strip()
    machine = quoth(sample_home, "--json", *words)
    assert (machine.code, machine.err) == (2, said.err)
    assert (pure(machine)["code"], bool(pure(machine)["detail"])) == ("invalid_input", True)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--profile", "book", "doctor"), "VOYAGE_API_KEY"),
        (("--profile", "talks", "doctor"), "bge-m3 is not installed"),
        (("--profile", "novel", "doctor"), "The profiles are"),
        (("--collection", "", "doctor"), "collection"),
        (("--collection", "caf\udce9", "doctor"), "collection"),
        (("--embedder", "nothing", "doctor"), "There is no embedder 'nothing'"),
        (("--embedder", "/nowhere/model", "doctor"), "/nowhere/model"),
        (("ask", "What is it?", "--llm", "gemini"), "GEMINI_API_KEY"),
    ],
)
def test_a_wrong_set_up_is_3(tmp_path: Path, words: tuple[str, ...], reason: str) -> None:
    said = quoth(tmp_path / "home", "--json", *words, embedder=None)
    assert said.code == 3
    assert reason in pure(said)["detail"]
    assert reason in said.err


def test_a_home_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("I am a file.")
    said = quoth(tmp_path / "home", "--json", "list")
    assert said.code == 3
    assert "home folder" in pure(said)["detail"]
    assert (tmp_path / "home").read_text() == "I am a file."


@pytest.mark.parametrize("content", [b"This is no database, but long enough to be one." * 9, None])
def test_a_catalogue_that_is_damaged(home: Path, content: bytes | None) -> None:
    file = home / "catalogue.sqlite"
    if content is None:
        whole = file.read_bytes()
        content = whole[:100] + b"\xff" * (len(whole) - 100)
    file.write_bytes(content)
    for name in ("catalogue.sqlite-wal", "catalogue.sqlite-shm"):
        (home / name).unlink(missing_ok=True)
    said = quoth(home, "--json", "list")
    assert said.code == 3
    assert "The catalogue is damaged" in pure(said)["detail"]
    assert "backup" in pure(said)["detail"]


def test_another_model_is_refused_with_the_command_that_rebuilds(home: Path) -> None:
    from quoth.store.catalogue import Catalogue
    from quoth.store.database import open_database
    from quoth.store.schema import collections

    catalogue = Catalogue(open_database(home / "catalogue.sqlite"), tenant="local")
    with catalogue.writing("pretend") as connection:
        other = func.replace(collections.c.identity, "hash", "x")
        connection.execute(update(collections).values(identity=other))
    catalogue.close()
    said = quoth(home, "--json", "ask", "When does a colony swarm?")
    assert said.code == 3
    assert pure(said)["code"] == "index_mismatch"
    assert "quoth --collection default reindex" in said.err.replace("\n", " ")
    assert quoth(home, "doctor").code == 1
    assert quoth(home, "--collection", "default", "reindex").code == 0
    assert quoth(home, "ask", "When does a colony swarm?").code == 0


def test_version_and_help(tmp_path: Path) -> None:
    assert quoth(tmp_path, "--version").out.startswith("quoth ")
    for command in ("add", "list", "remove", "search", "ask", "reindex", "doctor", "eval"):
        assert quoth(tmp_path, command, "--help").code == 0
        assert command in quoth(tmp_path, "--help").out
    assert not (tmp_path / "catalogue.sqlite").exists()


# --- real processes ---------------------------------------------------------------------------


def test_a_process_that_can_only_print_ascii(sample_home: Path) -> None:
    words = ("search", "What do the French talks say about attention?", "-k", "3")
    filters = ("--filter", "language=fr")
    shown = quoth_process(sample_home, *words, *filters, PYTHONIOENCODING="ascii")
    assert shown.code == 0, shown.err
    assert shown.out


def test_a_reader_that_leaves_early(sample_home: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)  # gone before the first word
    environment = {**os.environ, "QUOTH_HOME": str(sample_home), "QUOTH_EMBEDDER": "fake"}
    done = subprocess.run(
        [sys.executable, "-m", "quoth", "--json", "ask", "--stream", "What is a transformer?"],
        env=environment,
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )
    os.close(writing)
    assert done.returncode == 0
    assert done.stderr == ""


def test_a_process_adds_and_answers(tmp_path: Path, sources: Path) -> None:
    said = quoth_process(tmp_path / "home", "--json", "add", str(sources))
    assert said.code == 0
    assert {each["status"] for each in said.json} == {"ready"}
    said = quoth_process(tmp_path / "home", "ask", "What is honey made from?")
    assert said.code == 0
    assert LINKED.search(said.out)
