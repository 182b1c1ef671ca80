"""A stored answer says which of its sources were updated or removed since."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from quoth.core.types import Answer, Citation
from quoth.engine import Engine
from quoth.history.source_changes import ChangedSource, changed_sources
from tests.support.small_library import add, open_tour

HIVE = "# Hive\n\nA beehive has one queen, named Ada.\n"


async def asked(engine: Engine, path: Path) -> tuple[Answer, Citation]:
    """Add the page on hives; return an answer and its citation of this page."""
    (document,) = await add(engine, path)
    answer: Answer = await engine.answer("How many queens has a beehive?")
    citation = next(each for each in answer.citations if each.document_id == document.document_id)
    return answer, citation


async def test_a_citation_says_whether_its_document_was_updated_or_removed(tmp_path: Path) -> None:
    async with open_tour(tmp_path / "home") as engine:
        catalogue, path = engine.parts.catalogue, tmp_path / "hive.md"
        path.write_text(HIVE)
        answer, citation = await asked(engine, path)
        assert changed_sources(catalogue, answer) == []
        path.write_text(HIVE.replace("# Hive", "# Hives").replace("Ada", "Eve"))
        (newer,) = await add(engine, path)
        assert changed_sources(catalogue, answer) == [ChangedSource(citation.number, "updated")]
        await engine.remove([newer.document_id])
        assert changed_sources(catalogue, answer) == [ChangedSource(citation.number, "removed")]


async def test_a_citation_whose_words_stay_where_they_are_has_not_changed(tmp_path: Path) -> None:
    async with open_tour(tmp_path / "home") as engine:
        catalogue, path = engine.parts.catalogue, tmp_path / "hive.md"
        path.write_text(HIVE)
        answer, citation = await asked(engine, path)
        path.write_text(f"{HIVE}\nShe mates once.\n")
        (newer,) = await add(engine, path)
        assert newer.document_id != citation.document_id
        assert changed_sources(catalogue, answer) == []
        for longer in ({"span_end": 999}, {"snippet_end": 999}):
            beyond = replace(answer, citations=(replace(citation, **longer),))
            assert changed_sources(catalogue, beyond) == [ChangedSource(citation.number, "updated")]
