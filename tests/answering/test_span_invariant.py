"""Every citation is the stored text at its place, whatever the text is made of."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, groupby, pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from quoth.answering.citations import cite_statements
from quoth.answering.extractive.runs import MAX_LIST
from quoth.answering.extractive.select import (
    MAX_CHARACTERS,
    Statement,
    choose_statements,
    collect_sentences,
)
from quoth.answering.extractive.write import write_answer
from quoth.answering.generative.sanitize import plain_quotation
from quoth.core.types import (
    Box,
    Chars,
    Chunk,
    Document,
    Locator,
    Pages,
    ParsedDocument,
    Passage,
    Query,
    Seconds,
    Section,
    SpanLocator,
)
from quoth.ingest.chunker import chunk
from tests.support.citation_checks import check_spans, cite_every_sentence

ODD = (
    "of\ufb01ce e\u0301t\u00e9 na\u00efve x\u0332\u0305y A\u00adB co\u2011op "
    "\U0001f469\u200d\U0001f680 \U0001f1eb\U0001f1f7 "
    "\u0645\u0631\u062d\u0628\u0627 \u05e9\u05dc\u05d5\u05dd. \u200fRTL\u200e "
    "\u6c34\u662f\u751f\u547d\u3002 \u6771\u4eac\u306f\u5927\u304d\u3044 \ud55c\uad6d\uc5b4 "
    "\u0939\u093f\u0928\u094d\u0926\u0940 word Stop. Why? e.g. 3.14 \u201cQuoted.\u201d "
    "[Music] \u2022 - a, b; It Cette [12, 13]"
)
"""Marks, soft hyphens, ligatures, joined emoji, writing from the right and without spaces."""
WORDS = st.sampled_from([*ODD.split(), "\u00a0", "\u2009", "z" * 60])
LINES = st.lists(WORDS, min_size=1, max_size=14).map(" ".join)
KINDS = st.sampled_from(["pdf", "transcript", "text"])


@st.composite
def readings(draw: st.DrawFn) -> ParsedDocument:
    """A document of lines; in a PDF some of them end with a hyphen that was taken away."""
    kind = draw(KINDS)
    text, places, sections = "", [], []
    for number, line in enumerate(draw(st.lists(LINES, min_size=1, max_size=25))):
        if not line.strip():
            continue
        start = len(text)
        text += line
        hyphen = "-" if kind == "pdf" and draw(st.booleans()) else ""
        places.append(SpanLocator(start, len(text), _where(kind, number, start, len(text)), hyphen))
        gap = "" if hyphen else draw(st.sampled_from([" ", "\n", "\n\n"]))
        text += gap
        if gap == "\n\n" and draw(st.booleans()):
            sections.append(len(text))
    edges = [*sections, len(text)]
    parts = tuple(Section(a, b, (f"{a} Part",)) for a, b in pairwise(edges) if a < b)
    return ParsedDocument(
        kind=kind, title="Title", text=text, places=tuple(places), sections=parts, seconds=900.0
    )


def _where(kind: str, number: int, start: int, end: int) -> Locator:
    if kind == "pdf":
        page = 1 + number // 5
        box = Box(page, 50.0, 700.0 - 12 * (number % 5), 400.0, 710.0 - 12 * (number % 5))
        return Pages(page, page, f"p{page}", f"p{page}", boxes=(box,))
    if kind == "transcript":
        return Seconds(3.0 * number, 3.0 * number + 8)
    return Chars(start, end)


def count(texts: Sequence[str]) -> list[int]:
    return [1 + len(text) // 4 for text in texts]


def passages_of(reading: ParsedDocument, *, target: int, width: int) -> list[Passage]:
    """Passages of `width` chunks each, made as retrieval makes them."""
    chunks: list[Chunk] = chunk(
        reading,
        document_id="d",
        chunk_id=lambda ordinal: f"c{ordinal}",
        count_tokens=count,
        target_tokens=target,
        language="en",
    )
    document = Document("d", "Title", reading.kind, "ready", seconds=900.0, source="/d.pdf")
    groups = [tuple(chunks[at : at + width]) for at in range(0, len(chunks), width)]
    return [
        Passage(number, document, group, (group[0].chunk_id,), 1.0 / number)
        for number, group in enumerate(groups, start=1)
    ]


def touched(reading: ParsedDocument, start: int, end: int) -> list[SpanLocator]:
    return [place for place in reading.places if place.start < end and start < place.end]


def inside(locator: Locator, place: SpanLocator) -> bool:
    """Whether the locator reaches into the place: its page, its seconds or its characters."""
    other = place.locator
    if isinstance(locator, Pages) and isinstance(other, Pages):
        return locator.first <= other.first <= locator.last
    if isinstance(locator, Seconds) and isinstance(other, Seconds):
        return locator.start <= other.end and other.start <= locator.end
    if isinstance(locator, Chars) and isinstance(other, Chars):
        return locator.start < other.end and other.start < locator.end
    return False


@given(readings(), st.integers(8, 60), st.integers(1, 3))
def test_every_sentence_of_every_chunk_can_be_cited(
    reading: ParsedDocument, target: int, width: int
) -> None:
    passages = passages_of(reading, target=target, width=width)
    citations = cite_every_sentence(passages, created_at="2026-01-01T00:00:00Z")
    assert check_spans(citations, lambda _: reading.text) == []
    for citation in citations:
        places = touched(reading, citation.snippet_start, citation.snippet_end)
        assert places
        assert all(inside(citation.locator, place) for place in places)


@given(readings(), st.integers(8, 60), st.integers(1, 3), st.integers(0, 99), st.integers(1, 12))
def test_every_run_of_an_answer_is_the_text_it_cites(
    reading: ParsedDocument, target: int, width: int, seed: int, most: int
) -> None:
    """Whatever the scores are, here any numbers."""
    passages = passages_of(reading, target=target, width=width)
    query = Query("word?", "word?", "en")
    candidates = collect_sentences(query, passages)
    scores = np.random.default_rng(seed).normal(scale=3, size=len(candidates.sentences))
    statements = choose_statements(
        query, candidates, scores=scores, passages=passages, max_sentences=most
    )
    citations = cite_statements(
        statements, passages, retrieval_method="hybrid", created_at="2026-01-01T00:00:00Z"
    )
    text, sentences = write_answer(statements)
    assert check_spans(citations, lambda _: reading.text) == []
    runs = [list(run) for _cited, run in groupby(sentences, key=lambda each: each.citations)]
    assert len(runs) == len(statements) == len(citations)
    assert sum(len(each.parts) for each in statements) <= most
    for one, two in combinations(statements, 2):
        assert one.end <= two.start or two.end <= one.start
    for run, statement, citation in zip(runs, statements, citations, strict=True):
        check_run(statement, passages[statement.passage])
        assert run[0].citations == (citation.number,)
        said = text[run[0].start : run[-1].end]
        spoken = "".join(text[each.start : each.end] for each in run)
        assert "".join(spoken.split()) == "".join(said.split())
        shown = said.removeprefix("… ").removesuffix(" …").removesuffix("\n…")
        stored = reading.text[statement.start : statement.end]
        # What nobody sees is in the snippet alone; nothing that is seen is missing.
        assert shown.split() == plain_quotation(stored).split()
        assert stored.startswith(citation.snippet)
        assert text[run[-1].end :].startswith(f" [{citation.number}]")
        if citation.marked:
            start, end = (at + citation.snippet_start for at in citation.marked)
            assert (start, end) in statement.parts
            assert citation.snippet_start <= start < end <= citation.snippet_end


def check_run(statement: Statement, passage: Passage) -> None:
    """Check that a run is of its passage, of consecutive sentences, and not too long."""
    end = passage.start + len(passage.text)
    assert passage.start <= statement.start < statement.end <= end
    assert (statement.parts[0][0], statement.parts[-1][1]) == (statement.start, statement.end)
    between = [
        passage.text[one[1] - passage.start : two[0] - passage.start]
        for one, two in pairwise(statement.parts)
    ]
    listed = any(gap.strip() for gap in between)
    longest = MAX_LIST if listed else MAX_CHARACTERS
    assert len(statement.parts) == 1 or statement.end - statement.start <= longest
