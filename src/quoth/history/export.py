"""An answer with its citations as a document to hand on: Markdown, HTML, JSON or CSV."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from io import StringIO
from typing import Literal

from quoth.answering.citations import marked_runs
from quoth.core.errors import Conflict
from quoth.core.translations import translate
from quoth.core.types import Answer, Locator, Pages, Seconds
from quoth.pipeline.record import Record
from quoth.text.html_page import render_page
from quoth.text.json_codec import to_json
from quoth.text.markdown import escape_markdown, markdown_link
from quoth.text.place_name import place_name

Format = Literal["md", "html", "json", "csv"]

_MARKERS = re.compile(r"(?: ?\[(\d+)\])+")
DOUBTS = {
    "partly": "history.doubt_partly",
    "unsupported": "history.doubt_unsupported",
    "unverified": "history.doubt_unverified",
}
"""What is written behind a sentence that its source does not bear out.

A sentence that cites nothing and was not checked says nothing of the sources."""
COLUMNS = (
    *("question", "sentence", "support", "number", "source", "snippet", "link"),
    *("document", "page", "page_number", "start", "end", "speaker", "section"),
)
FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
"""What makes a spreadsheet compute a cell, or begin another one."""


def exported(record: Record, form: Format) -> str:
    """Write an answer; raises Conflict where its text is not stored."""
    if record.keeping == "hash":
        raise Conflict(
            "Only a hash of this question is stored, and no answer. Set QUOTH_HISTORY=full to keep "
            "answers."
        )
    match form:
        case "md":
            return _markdown(record)
        case "html":
            return _html(record)
        case "json":
            asked = {"question": record.request.question, "created_at": record.created_at}
            return json.dumps({**asked, **to_json(record.answer)}, ensure_ascii=False, indent=2)
        case "csv":
            return _csv(record)


def pieces(
    answer: Answer, *, language: str = "en"
) -> Iterator[tuple[str, tuple[int, ...], str, int]]:
    """Cut the answer's text where markers stand: text, numbers it cites, what is doubtful, number.

    The number is that of the first sentence. The markers behind a piece are left out, since the
    numbers say the same. A piece that is no sentence (white space, a heading) cites nothing and has
    the number 0.
    """
    at = 0
    for number, first, last in marked_runs(answer.text, answer.sentences):
        if first.start > at:
            yield answer.text[at : first.start], (), "", 0
        in_doubt = first.support in DOUBTS and (first.citations or first.support != "unverified")
        doubt = translate(DOUBTS[first.support], language) if in_doubt else ""
        yield answer.text[first.start : last.end], first.citations, doubt, number
        at = _behind_markers(answer.text, last.end, numbers=first.citations)
    if at < len(answer.text):
        yield answer.text[at:], (), "", 0


def _behind_markers(text: str, at: int, *, numbers: tuple[int, ...]) -> int:
    """Return where the markers of these numbers end, if they stand here."""
    found = _MARKERS.match(text, at)
    named = re.findall(r"\d+", found[0]) if found else []
    return found.end() if found and {int(each) for each in named} <= set(numbers) else at


def _facts(record: Record) -> str:
    answer = record.answer
    model = answer.model or translate("history.no_model", answer.query.language)
    return f"{record.created_at[:19].replace('T', ' ')} UTC · {model} · {answer.query_id}"


@dataclass(frozen=True, slots=True)
class ShownSource:
    """A source of an answer as a person reads it: the name of its document and place, its words.

    ``page`` is the printed label and the number of the PDF page, where the source has pages;
    ``quotation`` are its words in the quotation marks of a language.
    """

    number: int
    name: str
    link: str | None
    snippet: str
    quotation: str
    document: str
    place: Locator
    page: tuple[str | None, int | None]
    section: str | None

    @property
    def cells(self) -> tuple[object, ...]:
        """The cells of a row from its number on, as `COLUMNS` names them; times in seconds."""
        timed = self.place if isinstance(self.place, Seconds) else None
        times = (timed.start, timed.end) if timed else (None, None)
        shown = (self.number, self.name, self.snippet, self.link)
        return (*shown, self.document, *self.page, *times, self.place.speaker, self.section)


def shown_sources(answer: Answer, *, language: str = "en") -> list[ShownSource]:
    """Return what an answer cites, or the closest passages where it cites nothing."""

    def source(
        number: int,
        document: str,
        locator: Locator,
        section: str | None,
        *,
        link: str | None,
        said: str,
    ) -> ShownSource:
        pages = locator if isinstance(locator, Pages) else None
        return ShownSource(
            number,
            document + place_name(document, locator, section, language=language),
            link,
            said,
            translate("history.quotation", language, text=said),
            document,
            locator,
            (pages.label_first, pages.first) if pages else (None, None),
            section,
        )

    cited = [
        replace(
            source(
                each.number,
                each.document_name,
                each.locator,
                each.section_heading,
                link=each.link,
                said=each.snippet + " …" * each.cut,
            ),
            page=(each.page, each.page_number),
        )
        for each in answer.citations
    ]
    return cited or [
        source(
            each.rank,
            each.document,
            each.locator,
            each.locator.section,
            link=each.link,
            said=each.text[slice(*each.marked)] if each.marked else each.text,
        )
        for each in answer.closest
    ]


# --- Markdown ---------------------------------------------------------------------------------


def _markdown(record: Record) -> str:
    answer, language = record.answer, record.answer.query.language
    text = "".join(_marked(*piece[:3]) for piece in pieces(answer, language=language))
    lines = [f"# {escape_markdown(record.request.question)}", "", text.strip(), ""]
    lines += [f"> {escape_markdown(each)}\n" for each in answer.warnings]
    sources = shown_sources(answer, language=language)
    if sources:
        lines += ["## Sources", ""]
    for source in sources:
        lines += [
            f"{source.number}. {markdown_link(source.link, source.name)}  ",
            f"   {translate('history.quotation', language, text=escape_markdown(source.snippet))}",
            "",
        ]
    return "\n".join([*lines, f"*{escape_markdown(_facts(record))}*", ""])


def _marked(text: str, numbers: tuple[int, ...], doubt: str) -> str:
    cited = "".join(f" \\[{number}\\]" for number in numbers)
    doubt = f" *({doubt})*" if doubt else ""
    bare = text.rstrip()
    before, after = text[: len(text) - len(text.lstrip())], text[len(bare) :]
    lines = "\n".join(escape_markdown(line) for line in bare.splitlines())
    return f"{before if bare else ''}{lines}{cited}{doubt}{after}"


# --- CSV --------------------------------------------------------------------------------------


def _csv(record: Record) -> str:
    """Write a row for each sentence and citation; what a spreadsheet would compute is a text."""
    answer = record.answer
    sources = shown_sources(answer, language=answer.query.language)
    by_number = {each.number: each for each in sources}
    out = StringIO()
    rows = csv.writer(out)
    rows.writerow(COLUMNS)
    for each in answer.sentences:
        said = answer.text[each.start : each.end]
        cited = [by_number.get(number) for number in each.citations if number in by_number]
        for one in cited or [None]:
            proof = one.cells if one else [None] * (len(COLUMNS) - 3)
            cells = (record.request.question, said, each.support, *proof)
            rows.writerow([_cell(cell) for cell in cells])
    for one in sources if not answer.citations else ():
        cells = (record.request.question, "", answer.status, *one.cells)
        rows.writerow([_cell(cell) for cell in cells])
    return out.getvalue()


def _cell(value: object) -> str:
    """Write a cell; one that begins as a formula does gets an apostrophe before it."""
    text = "" if value is None else str(value)
    return f"'{text}" if text.lstrip().startswith(FORMULA) else text


# --- HTML -------------------------------------------------------------------------------------


def _html(record: Record) -> str:
    answer, language = record.answer, record.answer.query.language
    return render_page(
        "answer.html",
        package="quoth.history",
        title=record.request.question,
        language=language,
        pieces=list(pieces(answer, language=language)),
        warnings=answer.warnings,
        proofs=shown_sources(answer, language=language),
        about=_facts(record),
    )
