"""Answers to structural queries: the content of a page, the summary of a chapter.

Nothing is ranked against the query here, because it names a place. Summaries are made at ingestion.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from quoth.answering.extractive.candidates import MIN_STANDALONE_SCORE, Quotable
from quoth.answering.extractive.score import CandidateSentences
from quoth.answering.extractive.select import Statement, statement_of
from quoth.core.outline import Heading, SummarySentence
from quoth.core.types import Chunk, Passage, Query
from quoth.ingest.enrich.chapters import is_formality, is_front_or_back_matter
from quoth.query.filters.patterns import word_set
from quoth.query.keywords import names_a_topic, only_asks_for_a_place
from quoth.query.tokens import FUNCTION_WORDS, folded_words
from quoth.store.blobs import source_name
from quoth.text.analyzer import normalize_name
from quoth.text.contents import is_contents, is_index
from quoth.text.locators import CELL_GAP

MAX_PLACE_CHARACTERS = 2700
"""Length of what is quoted from a requested place, shared by its passages."""
MAX_PLACE_PASSAGES = 8
MIN_TITLE_WORDS = 2
"""Words of a document's title by which a query names it."""
MAX_SUMMARY_CHARACTERS = 320
"""Length up to which a sentence of a summary takes those after it along."""
MAX_ABSTRACT = 1200
"""Length of what is quoted from an abstract."""
MAX_LONG_SECTIONS = 10
"""Sections of which more than a sentence is quoted; of more it is one of each."""
MIN_FRONT_SCORE = 0.95
"""Least standalone score of what a text is said to begin with: no title and no names of authors."""
_BEFORE = r"(?<![^\w\s])[^\w\s]*+(?:(?<=«)[^\S\n])?"
_BEHIND = r"(?:[^\S\n](?=»))?[^\w\s]*+"
"""Signs around the words of a title; French quotation marks have a blank within."""
_FIRST_WORD = re.compile(r"^[^\w\n]*([^\W\d_]+)[^\S\n]*(?:[.:—–]|$)", re.MULTILINE)
"""The only word of a line, or the one before a colon, a stop or a dash."""
_LINE = re.compile(r"\S.*")
_BEGINNING = re.compile(r"\S.{0,120}(?!\S)|\S{1,120}")
"""The first words of a line, up to 120 characters."""


def summary_statements(
    summary: Sequence[SummarySentence], candidates: CandidateSentences, passages: Sequence[Passage]
) -> tuple[Statement, ...]:
    """Quote a summary's sentences, each with what follows it in its paragraph.

    Those of several parts get the title of their part as heading. A sentence that was quoted with
    the one before is not quoted again.
    """
    found: list[Statement] = []
    paths: list[tuple[str, ...]] = []
    for wanted in summary:
        at = _sentence_at(candidates, wanted)
        if at is None or any(each.holds(candidates.sentences[at]) for each in found):
            continue
        parts = _paragraph(candidates, at, longest=MAX_SUMMARY_CHARACTERS)
        passage = passages[parts[0].passage]
        paths.append((passage.document.title, *parts[0].section))
        found.append(statement_of(parts, passage))
    titles = part_titles(paths)
    return tuple(replace(each, heading=title) for each, title in zip(found, titles, strict=True))


def heading_statements(
    headings: Sequence[Heading], passages: Sequence[Passage]
) -> tuple[Statement, ...]:
    """Quote the headings as they stand at the beginning of their parts, line by line.

    Where the text lacks one, such as the chapter of a video, its first words follow its title.
    """
    places = {
        (chunk.document_id, chunk.ordinal): (at, chunk)
        for at, passage in enumerate(passages)
        for chunk in passage.chunks
    }
    found = []
    for heading in headings:
        if (heading.document_id, heading.first) not in places:
            continue
        at, chunk = places[heading.document_id, heading.first]
        # Signs and blanks may differ, as in the outline of a PDF.
        words = r"[\W_]+".join(re.findall(r"\w+", heading.path[-1]))
        titled = re.search(rf"{_BEFORE}{words}{_BEHIND}", chunk.text) if words else None
        written = titled or _first_line(chunk.text)
        if written is None:
            continue
        start, end = chunk.start + written.start(), chunk.start + written.end()
        found.append(
            Statement(
                document_id=heading.document_id,
                chunk_id=chunk.chunk_id,
                start=start,
                end=end,
                text=written.group(),
                passage=at,
                parts=((start, end),),
                heading="" if written is titled else heading.path[-1],
                line=True,
            )
        )
    return tuple(found)


def section_statements(
    headings: Sequence[Heading],
    summary: Sequence[SummarySentence],
    candidates: CandidateSentences,
    passages: Sequence[Passage],
) -> tuple[Statement, ...]:
    """Name the sections of a part, and quote each from its beginning and from its summary.

    What stands in front of the first one is quoted as well; contents, indexes, licences and the
    like are left out where there is anything else.
    """
    chunks = (chunk for passage in passages for chunk in passage.chunks)
    document = headings[0].document_id
    mine = {each.ordinal: each for each in chunks if each.document_id == document}
    known = (passage.document for passage in passages)
    title = normalize_name(next((each.title for each in known if each.document_id == document), ""))
    ordered = [mine[ordinal] for ordinal in sorted(mine)]
    told = summary_statements(summary, candidates, passages)
    longest = MAX_SUMMARY_CHARACTERS if len(headings) <= MAX_LONG_SECTIONS else 0
    limit = max(1, len(summary) // len(headings))
    found: list[Statement] = []
    front = [each for each in ordered if each.ordinal < headings[0].first]
    found += _abstract(front, candidates, passages)
    if front and not found and front[0].kind not in ("pdf", "book"):  # There it is a title page.
        found += _opening(front[:1], candidates, passages, longest=longest, least=MIN_FRONT_SCORE)
    for heading in [each for each in headings if not is_formality(each)] or headings:
        here = [each for each in ordered if heading.first <= each.ordinal <= heading.last]
        matter = is_front_or_back_matter(heading)
        if not here or is_contents(here[0].text) or is_index(here[0].text):
            continue
        ids = {each.chunk_id for each in here}
        own = [each for each in told if each.chunk_id in ids]
        if not own or here[0].kind != "transcript":  # What is spoken begins with greetings.
            least = MIN_FRONT_SCORE if matter else MIN_STANDALONE_SCORE
            is_abstract = heading.path[-1].lower() in word_set("abstract_words")
            most = MAX_ABSTRACT if is_abstract else longest
            begun = _opening(here[:2], candidates, passages, longest=most, least=least)
            own = begun + [each for each in own if not overlaps(each, begun)]
        found += [replace(each, heading=heading.path[-1]) for each in own[:limit]]
        # A page with the title alone says nothing of what is below it.
        is_title = len(headings) > 1 and normalize_name(heading.path[-1]) == title
        if not own and not matter and not is_title:
            titles = heading_statements([heading], passages)
            found += [replace(each, line=False) for each in titles]
    return tuple(found)


def _abstract(
    chunks: Sequence[Chunk], candidates: CandidateSentences, passages: Sequence[Passage]
) -> list[Statement]:
    """Quote the abstract of a paper: the paragraph behind a line that begins with this word.

    Of several, the one in the language of the document.
    """
    ids = {each.chunk_id for each in chunks}
    found: list[Statement] = []
    for chunk in chunks:
        for line in _FIRST_WORD.finditer(chunk.text):
            if line[1].lower() not in word_set("abstract_words"):
                continue
            begin = chunk.start + line.end()
            behind = [
                (each.start, at)
                for at, each in enumerate(candidates.sentences)
                if each.document_id == chunk.document_id and each.end > begin
            ]
            if not behind or candidates.sentences[min(behind)[1]].chunk_id not in ids:
                continue
            parts = _paragraph(candidates, min(behind)[1], longest=MAX_ABSTRACT)
            passage = passages[parts[0].passage]
            own = parts[0].language == passage.document.language
            found.insert(0 if own else len(found), statement_of(parts, passage))
    return found[:1]


def _opening(
    chunks: Sequence[Chunk],
    candidates: CandidateSentences,
    passages: Sequence[Passage],
    *,
    longest: int,
    least: float,
) -> list[Statement]:
    """Quote the first sentence of a section that stands alone, with those after it.

    A row of a table, and what announces something that is not quoted, come after all others.
    """
    ids = {each.chunk_id for each in chunks}
    possible = [
        _paragraph(candidates, at, longest=longest)
        for at, each in enumerate(candidates.sentences)
        if each.chunk_id in ids and each.standalone_score >= least
    ]
    possible.sort(key=lambda parts: CELL_GAP in parts[0].text or parts[-1].text.endswith(":"))
    return [statement_of(parts, passages[parts[0].passage]) for parts in possible[:1]]


def overlaps(part: Statement | Chunk, others: Sequence[Statement]) -> bool:
    """Return whether a statement or a chunk shares text with one of the others."""
    return any(
        each.document_id == part.document_id and each.start < part.end and part.start < each.end
        for each in others
    )


def _sentence_at(candidates: CandidateSentences, wanted: SummarySentence) -> int | None:
    return next(
        (
            at
            for at, each in enumerate(candidates.sentences)
            if each.chunk_id == wanted.chunk_id
            and each.start < wanted.end
            and wanted.start < each.end
        ),
        None,
    )


def _paragraph(candidates: CandidateSentences, at: int, *, longest: int) -> list[Quotable]:
    """Return the sentence and those after it in its paragraph that fit."""
    parts = [candidates.sentences[at]]
    for each in candidates.sentences[at + 1 :]:
        if each.passage != parts[0].passage or not each.joined:
            break
        if each.end - parts[0].start > longest:
            break
        parts.append(each)
    return parts


def part_titles(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return for each path the title at which the paths differ; empty if any lacks one.

    Paths come in the order of the source. Titles that recur after others would fragment the text,
    so that no headings are used then.
    """
    depth = 0
    while paths and all(len(path) > depth for path in paths) and len({p[depth] for p in paths}) < 2:
        depth += 1
    titles = [path[depth] if len(path) > depth else "" for path in paths]
    runs = [title for title, _ in groupby(titles)]
    torn = len(runs) != len(set(runs))
    return tuple("" if torn or not all(titles) else title for title in titles)


def restricting_files(query: Query, passages: Sequence[Passage]) -> frozenset[str]:
    """Return the names, as names are compared, of the files that a query is restricted to."""
    if not any(filter_.field == "document" for filter_ in query.filters):
        return frozenset()
    return frozenset(normalize_name(source_name(each.document.source)) for each in passages)


def names_only_a_place(query: Query, passages: Sequence[Passage]) -> bool:
    """Return whether a query names a place and at most the documents that it is restricted to.

    Where all that stands at the place is of one document, so does one with words of its title.
    """
    files = restricting_files(query, passages)
    titles = {each.document.title for each in passages}
    if not files and not (len(titles) == 1 and _names_title(query, *titles)):
        titles.clear()
    return only_asks_for_a_place(query, sources=titles | files)


def _names_title(query: Query, title: str) -> bool:
    shared = set(folded_words(title)).intersection(folded_words(query.standalone))
    return len(shared - FUNCTION_WORDS) >= MIN_TITLE_WORDS and not names_a_topic(query.standalone)


def _first_line(text: str) -> re.Match[str] | None:
    """Return the beginning of the first line with a letter."""
    lines = (each for each in _LINE.finditer(text) if any(map(str.isalpha, each.group())))
    line = next(lines, None)
    return line and _BEGINNING.match(text, line.start())


def place_statements(
    candidates: CandidateSentences, passages: Sequence[Passage], *, questions: bool = False
) -> tuple[Statement, ...]:
    """Quote what stands at a requested place, in its order, from the beginning of each passage.

    A passage that is not quoted to its end ends in an ellipsis. ``questions`` means that the
    questions of a discussion are requested.
    """
    if questions and (asked := [each for each in candidates.sentences if each.question]):
        return tuple(
            statement_of([each], passages[each.passage]) for each in asked[:MAX_PLACE_PASSAGES]
        )
    groups = sorted(
        (list(group) for _, group in groupby(candidates.sentences, key=lambda each: each.passage)),
        key=lambda group: (passages[group[0].passage].document.document_id, group[0].start),
    )[:MAX_PLACE_PASSAGES]
    found = []
    left = MAX_PLACE_CHARACTERS
    for number, group in enumerate(groups):
        longest = left // (len(groups) - number)
        parts = [each for each in group if each.end - group[0].start <= longest] or group[:1]
        quoted = statement_of(parts, passages[group[0].passage])
        left -= min(left, quoted.end - quoted.start)
        found.append(replace(quoted, goes_on=len(parts) < len(group)))
    return tuple(found)
