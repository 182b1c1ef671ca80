"""Core value types: frozen values that all stages take and return.

Offsets named ``start`` and ``end`` count characters of a document's stored text, except in
`Seconds`, where they are seconds. Field names are those of the machine output: a value turned into
a dictionary is the JSON that the command line, the service and Python all show.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from quoth.core.custom_metadata import MetadataValue
from quoth.core.usage import Usage as Usage

DocumentKind = Literal[
    "pdf", "markdown", "text", "html", "transcript",
    "book", "document", "slides", "table", "notebook", "code", "mail", "archive",
]  # fmt: skip
"""What a document is: "document" is one of a word processor, "table" a sheet or a list of rows."""
Unit = Literal["page", "slide", "line", "row", "cell", "message"]
"""What the program of a source counts it in: the row of a workbook, the line of a program text."""
DocumentStatus = Literal["ready", "failed", "unchanged", "queued", "running"]
QueryKind = Literal[
    "factual", "conceptual", "comparison", "summary", "exploratory", "page_specific"
]
Mode = Literal["hybrid", "semantic", "keyword"]
ScoreKind = Literal["rerank", "convex", "rrf", "cosine", "bm25", "place"]
"""What a score is; "place" is 1 for all chunks at a requested place."""
Support = Literal["supported", "partly", "unsupported", "unverified"]
AnswerStatus = Literal[
    "answered", "partial", "low_relevance", "no_results", "degraded", "small_talk"
]
"""The outcome of a query; "small_talk" is a reply to thanks or a greeting, without a search."""
FilterField = Literal[
    "document", "kind", "language", "speaker", "label", "page", "seconds",
    "chapter", "section", "segment", "date",
]  # fmt: skip
Segment = Literal["", "qa", "demo"]
"""Kind of a part of a talk: questions from the audience, a demonstration, or the talk itself."""
FilterOperator = Literal["in", "overlaps"]

# --- locators ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on a PDF page, in points from the page's lower left corner."""

    page: int
    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True)
class Pages:
    """Locator in a paged document: pages or slides from 1, printed labels, the e-book's anchor."""

    first: int
    last: int
    label_first: str
    label_last: str
    section: str | None = None
    boxes: tuple[Box, ...] = ()
    kind: Literal["pages"] = "pages"
    unit: Literal["page", "slide"] = "page"
    anchor: str | None = None
    speaker: str | None = None


@dataclass(frozen=True, slots=True)
class Seconds:
    """Locator in a recording, in seconds from its beginning, ``estimated`` between known times."""

    start: float
    end: float
    speaker: str | None = None
    section: str | None = None
    kind: Literal["seconds"] = "seconds"
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class Chars:
    """Locator in a document without pages: characters of its stored text, and the anchor above.

    Where the source counts lines, rows or cells, ``unit`` names them, and the labels are the first
    and the last of them: "12" to "20".
    """

    start: int
    end: int
    section: str | None = None
    anchor: str | None = None
    kind: Literal["chars"] = "chars"
    unit: Unit | None = None
    label_first: str = ""
    label_last: str = ""
    speaker: str | None = None


Locator = Pages | Seconds | Chars


@dataclass(frozen=True, slots=True)
class SpanLocator:
    """Locates the characters from `start` to `end` of a text in the source.

    A reader makes one for each line of a PDF, cue of a transcript or block of a page. ``hyphen`` is
    what the reader removed after the last character to join a word broken over two lines, so that
    ``text[start:end] + hyphen`` is the line as printed.
    """

    start: int
    end: int
    locator: Locator
    hyphen: str = ""


# --- documents --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Section:
    """A chapter, section or part of a document, with the titles that lead to it."""

    start: int
    end: int
    path: tuple[str, ...]
    anchor: str | None = None


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """Result of parsing one file: its text, and the locator of every part.

    ``places`` are sorted, do not overlap and cover every character that is not white space;
    ``sections`` are sorted and do not overlap (text before the first one has no section).
    Paragraphs are separated by an empty line. ``labels`` holds the printed page labels, in order.
    ``is_language_given`` says that people named the language, which is more than what a program
    wrote into the file.
    """

    kind: DocumentKind
    title: str
    text: str
    places: tuple[SpanLocator, ...]
    sections: tuple[Section, ...] = ()
    language: str | None = None
    url: str | None = None
    speaker: str | None = None
    pages: int | None = None
    labels: tuple[str, ...] = ()
    seconds: float | None = None
    date: str | None = None
    warnings: tuple[str, ...] = ()
    is_language_given: bool = False


@dataclass(frozen=True, slots=True)
class Problem:
    """Reason of a failure: a fixed code for programs and a sentence for people."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Document:
    """A book, file, page or talk in a collection; ``metadata`` are keys of its owner's own."""

    document_id: str
    title: str
    kind: DocumentKind | None
    status: DocumentStatus
    chunks: int = 0
    pages: int | None = None
    seconds: float | None = None
    language: str | None = None
    error: Problem | None = None
    collection: str = "default"
    source: str = ""
    url: str | None = None
    speaker: str | None = None
    date: str | None = None
    warnings: tuple[str, ...] = ()
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Chunk:
    """The indexed unit: the characters from `start` to `end` of a document's stored text.

    The chunks of a document partition its text: concatenated they are the text. ``prefix`` (title,
    chapter, heading, speaker) is indexed with the text and never shown as it. ``chapter`` is its
    chapter's number as spoken ("3", "iv" is "4", "a" for an appendix), empty where there is none;
    ``date`` is the document's, ISO 8601.
    """

    chunk_id: str
    document_id: str
    ordinal: int
    start: int
    end: int
    text: str
    locator: Locator
    kind: DocumentKind
    places: tuple[SpanLocator, ...] = ()
    section: tuple[str, ...] = ()
    prefix: str = ""
    language: str = "en"
    tokens: int = 0
    chapter: str = ""
    segment: Segment = ""
    date: str | None = None

    @property
    def indexed(self) -> str:
        """Return the text that models read: the chunk below its titles."""
        return f"{self.prefix}\n{self.text}" if self.prefix else self.text


@dataclass(frozen=True, slots=True)
class IndexIdentity:
    """Fingerprint of an index build; vectors and terms of other builds cannot be mixed in."""

    embedder: str
    revision: str
    dimension: int
    query_prefix: str
    document_prefix: str
    analyser: str
    normalised: bool = True


# --- queries -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Filter:
    """One condition on chunks: the field is one of `values`, or its range overlaps them.

    ``in`` takes strings; ``overlaps`` takes two numbers, both ends included (``page`` counts PDF
    pages from 1, ``label`` is the page number as printed, ``seconds`` are seconds, ``date`` is the
    day as a number such as 20261231). ``section`` is a title on the chunk's section path, compared
    without case and accents.
    """

    field: FilterField
    operator: FilterOperator
    values: tuple[str, ...] | tuple[float, float]


@dataclass(frozen=True, slots=True)
class Turn:
    """An earlier question of the conversation and its answer."""

    question: str
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Query:
    """An analysed query.

    ``filters`` were inferred from it and narrow the search; ``boosts`` are soft filters that only
    lift what they match. ``aspects`` are the subjects of a comparison. ``in_context`` is the
    query after the last turns, where it was not detected as a follow-up but may be one.
    ``notes`` are sentences for the user about how the query was read. ``continues`` means that
    further passages of an earlier question are wanted; ``standalone`` is that question.
    """

    original: str
    standalone: str
    language: str
    kind: QueryKind = "factual"
    is_followup: bool = False
    filters: tuple[Filter, ...] = ()
    entities: tuple[str, ...] = ()
    boosts: tuple[Filter, ...] = ()
    aspects: tuple[str, ...] = ()
    in_context: str = ""
    notes: tuple[str, ...] = ()
    continues: bool = False


@dataclass(frozen=True, slots=True)
class Variant:
    """A wording to search with; ``weight`` is its share in the fusion, the query's own is 1.

    ``semantic`` and ``keyword`` select the retrievers; ``name`` is empty for the query itself.
    ``filters`` narrow this wording's search only, in addition to those of the plan.
    """

    text: str
    weight: float = 1.0
    name: str = ""
    semantic: bool = True
    keyword: bool = True
    filters: tuple[Filter, ...] = ()


@dataclass(frozen=True, slots=True)
class LegScore:
    """A chunk's rank (1 is best) and raw score in a leg: one retriever's or reranker's ranking."""

    rank: int
    score: float


class Candidate(NamedTuple):
    """A chunk in a ranking; a ranking is a sequence of candidates, of which a query makes hundreds.

    ``score`` is that of the last stage, ``legs`` those of each retriever and reranker, by name.
    """

    chunk_id: str
    score: float
    score_kind: ScoreKind
    legs: Mapping[str, LegScore] = {}


@dataclass(frozen=True, slots=True)
class Hit:
    """A ranked chunk with its text, which begins at ``start`` of the document, and locator.

    ``marked`` are characters of the text: what comes closest to the query, in `Answer.closest`.
    """

    rank: int
    chunk_id: str
    document_id: str
    document: str
    collection: str
    text: str
    locator: Locator
    link: str | None
    score: float
    score_kind: ScoreKind
    legs: Mapping[str, LegScore] = field(default_factory=dict)
    marked: tuple[int, int] | None = None
    start: int = 0


@dataclass(frozen=True, slots=True)
class Passage:
    """A hit widened by its neighbours: consecutive chunks of one document, numbered for citing."""

    number: int
    document: Document
    chunks: tuple[Chunk, ...]
    hit_ids: tuple[str, ...]
    score: float
    page: str = ""  # the stored text of a document that opens as a page, where it is to be cited

    @property
    def start(self) -> int:
        """Return the first character, in the document's stored text."""
        return self.chunks[0].start

    @property
    def text(self) -> str:
        """Return the stored text from the first chunk to the last."""
        return "".join(chunk.text for chunk in self.chunks)


# --- answers ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of an answer: characters of `Answer.text`, and the numbers it cites.

    ``score`` is how well its citations support it, 0 to 1; None where that was not verified.
    ``marked`` means that it answers clearly better than the others of its quotation.
    """

    start: int
    end: int
    citations: tuple[int, ...]
    support: Support
    score: float | None = None
    marked: bool = False


@dataclass(frozen=True, slots=True)
class Citation:
    """The evidence for a sentence: an exact span of a stored text and the link to it.

    ``snippet`` is the stored text from `snippet_start` to `snippet_end`, byte for byte. ``page`` is
    the printed label and ``page_number`` the 1-based PDF page that the link opens. ``marked`` are
    characters of the snippet: its best sentence, which the link opens; None for the whole. The span
    that is cited ends at ``span_end`` (0: not stored); ``cut`` says that the snippet ends before.
    ``link_locator`` is the place of the marked part, None where it is ``locator``, the snippet's.
    """

    id: str
    number: int
    document_id: str
    document_name: str
    chunk_id: str
    section_heading: str | None
    locator: Locator
    page: str | None
    page_number: int | None
    snippet: str
    snippet_start: int
    snippet_end: int
    link: str | None
    relevance_score: float | None
    support: Support
    support_score: float | None
    retrieval_method: Mode
    created_at: str
    marked: tuple[int, int] | None = None
    span_end: int = 0
    cut: bool = False
    link_locator: Locator | None = None

    @property
    def place(self) -> Locator:
        """Return the place that the link opens."""
        return self.link_locator or self.locator


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of chunks after each stage.

    ``invented`` counts citations of sources that the language model never saw; they are removed.
    """

    retrieved: int = 0
    reranked: int = 0
    in_context: int = 0
    cited: int = 0
    invented: int = 0


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two contradicting citations, by number, and what they differ in."""

    first: int
    second: int
    about: str


@dataclass(frozen=True, slots=True)
class RejectedSentence:
    """What a language model wrote and no source supports; ``score`` is the probability of support.

    ``reasons`` say what differs: "number 45", "elsewhere number 1974", "omitted condition if".
    """

    text: str
    score: float
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """A cited answer, and everything needed to see how it came about.

    ``closest`` are passages that it does not quote, ``degraded`` are "stage:reason:replacement".
    """

    query_id: str
    query: Query
    text: str
    sentences: tuple[Sentence, ...]
    citations: tuple[Citation, ...]
    closest: tuple[Hit, ...]
    status: AnswerStatus
    grounded: bool  # whether citations support all of it
    degraded: tuple[str, ...]
    warnings: tuple[str, ...]
    counts: Counts
    used_chunks: tuple[str, ...]
    timings_ms: Mapping[str, float]
    profile: str
    index_version: str
    usage: Usage = field(default_factory=Usage)
    provider: str | None = None
    model: str | None = None
    prompt: str | None = None  # the hash of its prompt
    contradictions: tuple[Contradiction, ...] = ()
    cached: bool = False
    rejected: tuple[RejectedSentence, ...] = ()
    """What a language model wrote without the support of a source, shown or not."""
    confidence: float | None = None  # calibrated probability of an answer; None: not known


Scored = tuple[str, float]
"""A chunk id and a score; higher is better, whatever the backend."""

Json = dict[str, Any]
