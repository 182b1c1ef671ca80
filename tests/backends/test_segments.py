"""Many small segments, after any writes, answer as one segment of what is left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoth.backends.indexes.lancedb.schema import rows
from quoth.backends.indexes.snapshot.build import merge_arrays, rows_to_arrays, with_product
from quoth.backends.indexes.snapshot.search import Part, Snapshot
from quoth.backends.indexes.snapshot.segment import Arrays, Segment
from quoth.backends.indexes.snapshot.store import SegmentStore
from quoth.backends.indexes.snapshot.write import MOST_SMALL, SegmentWriter
from quoth.core.protocols import Matrix
from quoth.core.types import Chunk, Filter, Pages, Scored
from quoth.testing import bm25

WIDE, SEGMENT_ROWS = 24, 40
WORDS = ("forest", "forrest", "owl", "fox", "foxes", "heron", "river", "rivers")
CHUNK = Chunk("c", "d", 0, 0, 3, "fox", Pages(1, 1, "1", "1"), "text")
FILTERS = (
    [],
    [Filter("document", "in", ("d1", "d3"))],
    [Filter("page", "overlaps", (2, 4))],
    [Filter("label", "in", ("3",)), Filter("language", "in", ("fr",))],
)

Living = dict[str, tuple[Chunk, Matrix]]
"""What a brute-force search goes through: chunks and vectors by id."""


def arrays_of(chunks: Sequence[Chunk], vectors: Matrix) -> Arrays:
    return rows_to_arrays(rows(chunks, vectors=vectors), vectors)


@st.composite
def writes(draw: st.DrawFn) -> list[tuple[str, list[Chunk], list[str]]]:
    """Writes: chunks that are new or replace others, documents that are deleted, or a rest."""
    steps: list[tuple[str, list[Chunk], list[str]]] = []
    for _ in range(draw(st.integers(1, 14))):
        kind = draw(st.sampled_from(["add", "add", "add", "delete", "settle"]))
        documents = draw(st.lists(st.integers(0, 6), min_size=1, max_size=3, unique=True))
        chunks = []
        for document in documents if kind == "add" else ():
            for ordinal in range(draw(st.integers(1, 9))):
                words = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6))
                page = draw(st.integers(1, 5))
                chunks.append(
                    replace(
                        CHUNK,
                        chunk_id=f"d{document}.{ordinal}",
                        document_id=f"d{document}",
                        text=" ".join(words),
                        language=draw(st.sampled_from(["en", "fr"])),
                        locator=Pages(page, page, str(page), str(page)),
                    )
                )
        steps.append((kind, chunks, [f"d{document}" for document in documents]))
    return steps


def apply(writer: SegmentWriter, steps: Sequence[tuple[str, list[Chunk], list[str]]]) -> Living:
    """Make the writes; gives what is left of them."""
    living: Living = {}
    drawn = np.random.default_rng(7)
    for at, (kind, chunks, documents) in enumerate(steps):
        version = {"before": (at, 0), "after": (at + 1, 0)}
        if kind == "add":
            vectors = drawn.standard_normal((len(chunks), WIDE)).astype(np.float32) + 1
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            living |= {
                chunk.chunk_id: (chunk, row) for chunk, row in zip(chunks, vectors, strict=True)
            }
            assert writer.change(arrays_of(chunks, vectors), **version)
        elif kind == "delete":
            living = {
                key: row for key, row in living.items() if row[0].document_id not in documents
            }
            assert writer.change(deleted=documents, **version)
        else:
            assert writer.settle(**version)
    return living


def alike(one: Sequence[Scored], other: Sequence[Scored]) -> None:
    assert dict(one) == pytest.approx(dict(other), rel=1e-5, abs=1e-6)
    assert [score for _, score in one] == sorted((score for _, score in one), reverse=True)


@given(steps=writes())
def test_segments_answer_as_one_after_any_writes(
    steps: list[tuple[str, list[Chunk], list[str]]],
) -> None:
    with TemporaryDirectory() as folder:
        store = SegmentStore(Path(folder), "c_1")
        store.activate([], version=(0, 0))
        living = apply(SegmentWriter(store, segment_rows=SEGMENT_ROWS), steps)
        manifest = store.manifest()
        assert manifest is not None
        parts = SegmentStore(Path(folder), "c_1").parts(manifest)
        found = Snapshot(parts)
        assert found.count == len(living)
        assert all(part.count <= SEGMENT_ROWS for part in parts)
        assert sum(part.count < SEGMENT_ROWS // 2 for part in parts) <= MOST_SMALL
        assert len(list(Path(folder).glob("*.scan"))) == len(parts)
        compare(found, living)


def compare(found: Snapshot, living: Living) -> None:
    chunks = [chunk for chunk, _ in living.values()]
    vectors = np.array([row for _, row in living.values()], np.float32).reshape(-1, WIDE)
    single = Snapshot([Part(Segment(arrays_of(chunks, vectors)))] if chunks else [])
    question = np.ones(WIDE, np.float32) / np.sqrt(WIDE)
    for filters in FILTERS:
        for terms in (["owl"], ["fox", "fox", "river"], ["forrst"], ["rivver", "heron"], []):
            alike(
                found.match(terms, limit=99, filters=filters),
                single.match(terms, limit=99, filters=filters),
            )
        near = found.nearest(question, limit=99, filters=filters)
        alike(near, single.nearest(question, limit=99, filters=filters))
        assert dict(near) == pytest.approx(
            {key: float(living[key][1] @ question) for key, _ in near}, abs=3e-5
        )
    asked = {key: chunk.text for key, (chunk, _) in living.items()}
    alike(
        found.match(["owl", "heron"], limit=99),
        sorted(bm25("owl heron", asked).items(), key=lambda one: -one[1]),
    )
    stored = found.vectors([*living, "nonsense"])
    assert stored.keys() == living.keys()
    assert all(stored[key] == pytest.approx(row, abs=3e-5) for key, (_, row) in living.items())


def test_merging_gives_what_building_at_once_gives() -> None:
    drawn = np.random.default_rng(3).standard_normal((3000, WIDE)).astype(np.float32)
    chunks = [
        replace(
            CHUNK,
            chunk_id=f"c{at}",
            document_id=f"d{at % 9}",
            text=f"{WORDS[at % 8]} {WORDS[at % 3]} n{at}",
        )
        for at in range(3000)
    ]
    pieces = [
        (arrays_of(chunks[at : at + 700], drawn[at : at + 700]), None) for at in range(0, 3000, 700)
    ]
    merged, whole = with_product(merge_arrays(pieces)), with_product(arrays_of(chunks, drawn))
    assert merged.keys() == whole.keys()
    for name, array in whole.items():
        assert merged[name].dtype == array.dtype, name
        assert np.array_equal(merged[name], array), name


def test_a_write_of_another_version_is_refused(tmp_path: Path) -> None:
    store = SegmentStore(tmp_path, "c_1")
    writer = SegmentWriter(store)
    assert not writer.change(deleted=["d"], before=(1, 0), after=(2, 0))
    store.activate([], version=(1, 0))
    assert writer.change(deleted=["d"], before=(1, 0), after=(2, 0))
    assert not writer.settle(before=(1, 0), after=(3, 0))
