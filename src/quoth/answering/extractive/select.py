"""Selection of the quotations of an extractive answer: runs of sentences, not lone ones.

A run grows from the sentence with the highest score to its neighbours while these score well, so
that a definition brings the sentence that it explains and a list its items.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from quoth.answering.extractive.candidates import (
    Quotable,
    asks_title,
    is_sound,
    list_start,
    quotable_sentences,
)
from quoth.answering.extractive.lead import shown_from
from quoth.answering.extractive.relations import (
    asked_rows,
    begins_with,
    best_of_aspects,
    fullest_row,
    is_duplicate,
    is_row,
    linked_sentence,
    speaks_of,
)
from quoth.answering.extractive.runs import (
    MAX_REST,
    SentenceRun,
    are_of_two_speakers,
    begins_note,
    grow,
    is_speech,
    may_be_wrapped,
    turns_of,
)
from quoth.answering.extractive.score import (
    CandidateSentences,
    Scores,
    collect_features,
    prefer_language,
    stems_of,
)
from quoth.core.types import Chunk, Filter, Passage, Query, QueryKind
from quoth.text.locators import CELL_GAP, filters_from_moment, is_within_filters, locate_in

MARGIN = 1.5
"""Maximum distance of the best sentence of a further run from the best of all."""
LINK_MARGIN = 6.0
"""The same for a document that names the first one, or is named by it: a second step."""
MORE_MARGIN = 6.0
"""The same for a further answer to the question of an earlier one."""
CLEAR_MARGIN = 1.0
"""Log-odds from the others of its run that emphasise a sentence: .74 are right, without .62."""
HEAD_MARGIN = 3.0
"""How much the score of what follows a heading or a question may rise."""
MAX_RUNS = 3
MAX_CHARACTERS = 600
"""Maximum length of a run that has more than one sentence."""
BROAD_CHARACTERS = 900
"""The same for a question that asks for more than a fact."""
SPOKEN_CHARACTERS = 400
"""The same for a fact in speech, which has no paragraphs at whose end a quotation could end."""
SPOKEN_BEFORE = 200
"""Maximum of the characters that a quotation of speech has before its best sentence."""
BROAD: frozenset[QueryKind] = frozenset(("exploratory", "summary", "comparison"))


@dataclass(frozen=True, slots=True)
class Statement:
    """A run of sentences chosen for the answer, with its exact span in the document's stored text.

    ``marked`` is the span of the best sentence (None of rows), ``clear`` that it is clearly best,
    ``parts`` are the spans of all sentences. ``passage`` is the index of its passage. ``heading``
    is its heading in the answer, such as the aspect it is about; it is no part of the statement.
    It is shown from ``shown_from`` on, and then from its start to there (None: in its order).
    ``unwrapped`` means that each of its lines is one, ``goes_on`` that the list which it ends with
    has further items, ``line`` that it is a line of a list, below the one before. ``turns`` are
    where each of several people begins to speak, and their names.
    """

    document_id: str
    chunk_id: str
    start: int
    end: int
    text: str
    passage: int
    parts: tuple[tuple[int, int], ...] = ()
    marked: tuple[int, int] | None = None
    clear: bool = False
    cut: bool = False
    heading: str = ""
    unwrapped: bool = False
    goes_on: bool = False
    line: bool = False
    turns: tuple[tuple[int, str], ...] = ()
    shown_from: int | None = None

    def holds(self, sentence: Quotable) -> bool:
        """Return whether a sentence begins in the run."""
        same = self.document_id == sentence.document_id
        return same and self.start <= sentence.start < self.end


def collect_sentences(
    query: Query, passages: Sequence[Passage], *, filters: Sequence[Filter] = ()
) -> CandidateSentences:
    """Split the passages into sentences and prepare the query's terms.

    Only sentences on the pages and in the seconds that ``filters`` name count, for a moment those
    of the minute from it on: a passage may begin a page before.
    """
    sentences = quotable_sentences(passages)
    filters = filters_from_moment(filters)
    if filters:
        sentences = tuple(
            each
            for each in sentences
            if is_within_filters(
                locate_in(passages[each.passage].chunks, each.start, each.end), filters
            )
        )
    return collect_features(query, passages, sentences=sentences, filters=filters)


def sentence_spans(
    candidates: CandidateSentences, passages: Sequence[Passage]
) -> tuple[tuple[Chunk, ...], tuple[tuple[int, int, int], ...]]:
    """Return the passages' chunks, and the sentences as spans of their texts.

    A span is the index of its chunk and the characters of that chunk's text; the part of a sentence
    after the end of its chunk is left out.
    """
    chunks = {chunk.chunk_id: chunk for passage in passages for chunk in passage.chunks}
    at = {key: place for place, key in enumerate(chunks)}
    spans = []
    for sentence in candidates.sentences:
        chunk = chunks[sentence.chunk_id]
        end = min(sentence.end - chunk.start, len(chunk.text))
        spans.append((at[sentence.chunk_id], sentence.start - chunk.start, end))
    return tuple(chunks.values()), tuple(spans)


def choose_statements(
    query: Query,
    candidates: CandidateSentences,
    *,
    scores: Scores,
    passages: Sequence[Passage],
    max_sentences: int,
    shown: Collection[int] = (),
) -> tuple[Statement, ...]:
    """Choose up to `MAX_RUNS` runs of sentences, the best one first.

    Others of its document follow; one of a document that is linked to it may, since a question may
    need both. A comparison has a run for each of its aspects, under its name if each begins with
    it. A run that repeats another one is left out. ``scores`` are those of `sentence_scores`.
    ``shown`` are sentences of earlier answers: the best of the others are chosen.
    """
    scores = _with_heads(candidates, prefer_language(query, candidates, scores))
    ranked = [int(place) for place in (-scores).argsort(kind="stable")]
    order = [place for place in ranked if place not in shown]
    if not order or scores[ranked[0]] - scores[order[0]] > MORE_MARGIN:
        return ()
    titles, sentences = asks_title(query), candidates.sentences
    sound = [at for at in order if is_sound(sentences[at]) or (titles and sentences[at].title)]
    order = sound or order
    best = scores[order[0]]
    language = sentences[order[0]].language
    about = best_of_aspects(query, candidates, order, scores)
    seeds = about | {at: "" for at in order if at not in about and best - scores[at] <= MARGIN}
    limit = max(MAX_RUNS, len(about))
    longest = BROAD_CHARACTERS if query.kind in BROAD else MAX_CHARACTERS
    chooser = _Chooser(
        candidates,
        scores,
        passages,
        max_sentences=max_sentences + len(shown),
        longest=longest,
        spoken=SPOKEN_CHARACTERS if query.kind == "factual" else MAX_CHARACTERS,
        reserved=about,
        used=set(shown),
    )
    for seed in seeds:
        if len(chooser.runs) < limit and not chooser.repeats(seed, language=language):
            chooser.add(seed)
    second = linked_sentence(candidates, order, chooser.runs, passages)
    if second is not None and best - scores[second] <= LINK_MARGIN:
        chooser.keep(limit - 1)
        chooser.add(second)
    about = about if len(chooser.runs) > 1 else {}
    runs = chooser.runs if about else chooser.by_document()
    # A sentence that only mentions an aspect, or begins with two, may be about another one.
    begun = ([n for n in query.aspects if begins_with(candidates, at, n)] for at in about)
    sure = all(names == [name] for names, name in zip(begun, about.values(), strict=True))
    names = about if sure else {}
    found = [_statement_of_run(candidates, run, seed, scores, passages) for run, seed in runs]
    if query.kind == "factual" and not about:
        begin = shown_from(candidates, *runs[0], scores=scores, passages=passages)
        found[0] = replace(found[0], shown_from=begin)
    named = zip(found, runs, strict=True)
    return tuple(replace(each, heading=names.get(seed, each.heading)) for each, (_, seed) in named)


def unquoted_aspects(
    query: Query, candidates: CandidateSentences, statements: Sequence[Statement]
) -> tuple[str, ...]:
    """Return the aspects of a comparison with no word of their own in any statement.

    None unless a statement names another one. Words that aspects share tell nothing.
    """
    at_each = enumerate(candidates.sentences)
    quoted = [at for at, sentence in at_each if any(each.holds(sentence) for each in statements)]
    if not any(speaks_of(candidates, at, name) for at in quoted for name in query.aspects):
        return ()
    said = frozenset[str]().union(*(candidates.stems[at] | candidates.around[at] for at in quoted))
    stems = [stems_of(name, query.language) for name in query.aspects]
    unquoted = []
    for at, (name, own) in enumerate(zip(query.aspects, stems, strict=True)):
        others = frozenset[str]().union(*stems[:at], *stems[at + 1 :])
        terms = [term for term in candidates.terms if term.forms & (own - others or own)]
        if terms and not any(term.among(said) for term in terms):
            unquoted.append(name)
    return tuple(unquoted)


def _with_heads(candidates: CandidateSentences, scores: Scores) -> Scores:
    """Return the scores, with that of a heading or question also given to what follows it.

    "Is it thread-safe?" or the term of a glossary fits a question best, but the next sentence
    answers it. No score rises by more than `HEAD_MARGIN`.
    """
    found = scores.copy()
    for at, (head, each) in enumerate(pairwise(candidates.sentences), start=1):
        if each.passage == head.passage and not is_sound(head) and not head.listing:
            found[at] = max(scores[at], min(found[at - 1], scores[at] + HEAD_MARGIN))
    return found


def _statement_of_run(
    candidates: CandidateSentences,
    run: range,
    seed: int,
    scores: Scores,
    passages: Sequence[Passage],
) -> Statement:
    parts, best = [candidates.sentences[at] for at in run], candidates.sentences[seed]
    passage = passages[parts[0].passage]
    grown = SentenceRun(candidates, passage, set(), 0, first=run[0], last=run[-1])
    others = [float(scores[at]) for at in run if at != seed]
    statement = statement_of(parts, passage)
    return replace(
        statement,
        marked=None if others and is_row(best, passage) else (best.start, best.end),
        clear=bool(others) and float(scores[seed]) - max(others) >= CLEAR_MARGIN,
        heading=grown.announcement(),
        goes_on=grown.ends_within_list(),
        cut=statement.cut and not grown.is_code(run[-1]),
    )


@dataclass(slots=True)
class _Chooser:
    """Runs of sentences chosen so far, each with the sentence that it grew from.

    ``longest`` are the characters of a run, ``spoken`` those of one in speech. ``reserved`` are
    sentences that have a run of their own, ``used`` those that are quoted, and beside
    ``max_sentences``, those that earlier answers quote.
    """

    candidates: CandidateSentences
    scores: Scores
    passages: Sequence[Passage]
    max_sentences: int
    longest: int
    spoken: int
    reserved: Collection[int]
    used: set[int]
    runs: list[tuple[range, int]] = field(default_factory=list)

    def repeats(self, seed: int, *, language: str) -> bool:
        """Return whether a sentence says what a run says, or is in another language."""
        foreign = bool(self.runs) and self.candidates.sentences[seed].language != language
        return foreign or any(is_duplicate(self.candidates, seed, other) for other in self.used)

    def add(self, seed: int) -> None:
        """Grow a run from a sentence that is in none yet, or quote the rows that are asked for."""
        left = self.max_sentences - len(self.used)
        if left <= 0 or seed in self.used:
            return
        if seed not in self.reserved:
            seed = fullest_row(self.candidates, seed, scores=self.scores, passages=self.passages)
        rows = asked_rows(self.candidates, seed, scores=self.scores, passages=self.passages)
        fresh = [row for row in rows if row not in self.used]
        if rows and len(fresh) <= left:
            self.used.update(fresh)
            self.runs += [(range(row, row + 1), row) for row in fresh]
            return
        passage = self.passages[self.candidates.sentences[seed].passage]
        speech = is_speech(passage)
        longest = self.spoken if speech else self.longest
        taken = self.used | ({*self.reserved} - {seed})
        start = SentenceRun(self.candidates, passage, taken, left, first=seed, last=seed)
        before = SPOKEN_BEFORE if speech else longest
        run = grow(start, scores=self.scores, longest=longest, before=before)
        self.used.update(run)
        self.runs.append((run, seed))

    def keep(self, count: int) -> None:
        """Keep the first runs only."""
        for run, _ in self.runs[count:]:
            self.used.difference_update(run)
        del self.runs[count:]

    def by_document(self) -> list[tuple[range, int]]:
        """Return the best run, and the others by document and in reading order within each.

        Neighbours are one run, together with what little stands between them.
        """
        sentences = self.candidates.sentences
        documents = [sentences[seed].document_id for _, seed in self.runs]
        runs = sorted(
            self.runs,
            key=lambda pair: (
                documents.index(sentences[pair[1]].document_id),
                sentences[pair[0][0]].start,
            ),
        )
        joined: list[tuple[range, int]] = []
        for run, seed in runs:
            before, told = joined[-1] if joined else (range(-1, -1), seed)
            if sentences[told].passage == sentences[seed].passage and self._are_near(before, run):
                best = max(told, seed, key=lambda at: float(self.scores[at]))
                self.used.update(range(before.stop, run.start))
                joined[-1] = (range(before.start, run.stop), best)
            else:
                joined.append((run, seed))
        best = self.runs[0][1]
        return sorted(joined, key=lambda pair: pair[1] != best)

    def _are_near(self, before: range, run: range) -> bool:
        """Return whether little of one section stands between two runs of no table.

        What another speaker says before is quoted apart: it may be the question.
        """
        if not before or begins_note(self.candidates.sentences[run[0]].text):
            return False
        last, first = (self.candidates.sentences[at] for at in (before[-1], run[0]))
        if are_of_two_speakers(self.passages[first.passage], last, first):
            return False
        # What others say between two statements of the person asked about is not quoted with them.
        said_by = self.candidates.asked_speaker
        if any(said_by(at) != said_by(run[0]) for at in range(before[-1], run[0])):
            return False
        if before.stop == run.start:
            return True
        between = range(before.stop, run.start)
        return (
            len(self.used) + len(between) <= self.max_sentences
            and self.used.isdisjoint(between)
            and CELL_GAP not in last.text + first.text
            and last.section == first.section
            and first.start - last.end <= MAX_REST
        )


def statement_of(parts: Sequence[Quotable], passage: Passage) -> Statement:
    """Make a statement of consecutive sentences of a passage."""
    end = parts[-1].end
    start = passage.start + list_start(
        passage.text, parts[0].start - passage.start, end - passage.start
    )
    return Statement(
        document_id=parts[0].document_id,
        chunk_id=parts[0].chunk_id,
        start=start,
        end=end,
        text=passage.text[start - passage.start : end - passage.start],
        passage=parts[0].passage,
        parts=tuple((each.start, each.end) for each in parts),
        cut=parts[0].cut or parts[-1].cut,
        unwrapped=not may_be_wrapped(passage),
        turns=turns_of(passage, start, end),
    )
