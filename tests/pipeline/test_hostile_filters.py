"""Filters and questions that are written to be code: they are values, and words."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quoth.backends.indexes.lancedb.index import LanceIndex
from quoth.bootstrap import open_engine
from quoth.core.errors import InputError
from quoth.core.protocols import Index
from quoth.core.settings import Settings
from quoth.core.types import (
    Chunk,
    Filter,
    FilterField,
    Pages,
    Seconds,
)
from quoth.engine import Engine
from quoth.query.filters.parse import parse_filters
from quoth.testing import MemoryIndex, passes
from tests.contracts.test_index import BOOK, DIMENSION, units

VALUES = (
    *("x' OR '1'='1", "' OR 1=1 --", "') OR ('1'='1", '" OR ""="', 'x" OR "1"="1', "O'Brien"),
    *("O''Brien", "D'Arcy d’Arcy", "\\'", "\\", "\\\\", "'", "''", '"', "`", "´", "‘", "’", "ʼ"),
    *("a'; DROP TABLE c_1; --", "a); DELETE FROM chunks; --", "1; SELECT 1", "/* x */", "-- x"),
    *("%", "_", "%_", "a%", "[a-z]", "*", "?", "^", "$", ".*", "|", "a|b", "||", "(", ")", "()"),
    *("NaN", "nan", "inf", "-1", "0", "1e999", "null", "NULL", "None", "true", "FALSE", "{}", "[]"),
    *("IS NOT NULL", "1=1", "true) --", "id IN (SELECT id)", "chr(39)", "CAST(1 AS STRING)"),
    *("é", "e\u0301", "\u202e", "👩‍🔬", "漢字", "\ufeff", "ﬁ", "Ⅳ", "\u037e", "＇ OR 1=1", "a\tb"),
    *("a\nb", "a\r\nb", "\x1b[31m", "\x7f", "${jndi:ldap://x}", "{{7*7}}", "%00", "x" * 10_000),
)
FIELDS: tuple[FilterField, ...] = (
    *("document", "kind", "language", "speaker", "label", "chapter", "segment", "section"),
)


def chunks() -> list[Chunk]:
    """A chunk for each value in each field that may hold it, and a plain one."""
    made = [replace(BOOK, chunk_id="plain", document_id="plain")]
    for at, value in enumerate(VALUES):
        paged = Pages(1, 1, value, value, section=value)
        made += [
            replace(BOOK, chunk_id=f"d{at}", document_id=value),
            replace(BOOK, chunk_id=f"l{at}", document_id=f"l{at}", language=value),
            replace(BOOK, chunk_id=f"s{at}", document_id="s", locator=Seconds(0, 1, speaker=value)),
            replace(BOOK, chunk_id=f"p{at}", document_id="p", locator=paged),
            replace(BOOK, chunk_id=f"c{at}", document_id="c", chapter=value, segment=value),
        ]
    return made


@pytest.fixture(scope="module", params=["lance"])
def index(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("filters")
    opened = LanceIndex(folder, "c_1", dimension=DIMENSION)
    made = chunks()
    asyncio.run(opened.upsert(made, vectors=units(len(made))))
    yield opened
    opened.close()


@pytest.mark.parametrize("field", FIELDS)
async def test_a_filter_finds_what_the_reference_finds(index: Index, field: FilterField) -> None:
    made, vector = chunks(), units(1)[0]
    for value in VALUES:
        asked = [Filter(field, "in", (value,))]
        wanted = {each.chunk_id for each in made if passes(each, asked)}
        found = await index.nearest(vector, limit=len(made), filters=asked)
        assert {key for key, _score in found} == wanted, (field, value)


async def test_deleting_a_hostile_id_deletes_nothing_else(tmp_path: Path) -> None:
    opened = LanceIndex(tmp_path, "c_1", dimension=DIMENSION)
    made = chunks()
    await opened.upsert(made, vectors=units(len(made)))
    there = dict(await opened.document_ids())
    for value in VALUES[:12]:
        await opened.delete([value])
        there.pop(value)
        assert dict(await opened.document_ids()) == there
    opened.close()


@pytest.mark.parametrize("value", VALUES)
def test_a_filter_as_it_is_written_is_read_or_refused(value: str) -> None:
    for key in ("speaker", "section", "document", "page", "page_number", "time", "date", "chapter"):
        try:
            (found,) = parse_filters([f"{key}={value}"])
        except InputError:
            continue
        assert found.values


# --- questions --------------------------------------------------------------------------------

ODD = ("what is C++?", "don't panic", "e-mail", "page 42?", "AND", "OR", "NOT", "NEAR(", "a*", "^b")
PIECES = st.sampled_from([*VALUES[:60], *ODD, "title:x", '"', "honey", "token", "chapter 3", "-"])
QUESTIONS = st.one_of(st.text(max_size=300), st.lists(PIECES, max_size=12).map(" ".join))


@pytest.fixture
def asking(sample_home: Path) -> Settings:
    return Settings(home=sample_home, embedder="fake")


async def ask_all(chosen: Settings, *, count: int) -> int:
    """Search with so many texts in every mode; gives how many of them were questions."""
    questions: list[str] = []

    @settings(max_examples=count, database=None)
    @given(QUESTIONS)
    def collect(text: str) -> None:
        questions.append(text)

    collect()
    asked = 0
    async with open_engine(chosen) as engine:
        for text in questions[:count]:
            asked += await _searched(engine, text[:1000])
    return asked


async def _searched(engine: Engine, text: str) -> bool:
    try:
        await engine.search(text)
    except InputError as error:
        assert str(error).endswith(".")  # noqa: PT017 - most texts are no questions
        return False
    return True


@pytest.mark.parametrize(
    ("count", "questions"), [(60, 20), pytest.param(2000, 500, marks=pytest.mark.soak)]
)
async def test_any_text_is_a_question_or_refused(
    asking: Settings, count: int, questions: int
) -> None:
    assert await ask_all(asking, count=count) >= questions


@pytest.mark.parametrize("make", [MemoryIndex, None], ids=["memory", "lance"])
async def test_ten_thousand_characters_of_operators_take_less_than_a_second(
    make: Callable[[], Index] | None, tmp_path: Path
) -> None:
    opened = make() if make else LanceIndex(tmp_path, "c_1", dimension=DIMENSION)
    texts = [" ".join(f"{chr(97 + n % 26)}{n % 9}* NEAR(x {n})" for n in range(2000))[:10_000]]
    texts += ["a* " * 3333, '"' * 10_000, "(" * 10_000, "x OR " * 2000, "-" * 10_000]
    await opened.upsert([BOOK], vectors=np.asarray(units(1)))
    await opened.match("warm", languages=["en"], limit=10)
    for text in texts:
        began = time.process_time()
        await opened.match(text, languages=["en"], limit=10)
        assert time.process_time() - began < 1
    opened.close()
