"""The text of an extractive answer: quotations with citation markers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from quoth.answering.extractive.relations import are_quoted
from quoth.answering.extractive.select import Statement
from quoth.answering.generative.sanitize import plain_footnotes, plain_quotation
from quoth.core.translations import translate
from quoth.core.types import Hit, Sentence
from quoth.text.sentences import sentences

WRAPPED = 50
"""Minimum characters of a line that was wrapped."""
FULL = 0.9
"""Minimum share of the longest line that a wrapped line has with the next word."""
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
"""Signs that a terminal would obey; what stands on either side is not joined."""
_ITEM = re.compile(r"\s*(?:[-–—•‣▪◦·*|$#>%]|\(?\d{1,3}[.)°]|[a-z]\))\s|\s{2,}")
_LABEL_MARK = r"(?:[-*•]\s|\d{1,3}[.)]\s)?"
_LABEL_END = r"(?: ?\([^()\n]{1,40}\))?(?:\s?:|\. ?[—–]|\s[-–—])(?=\s)"
"""What stands on both sides of a speaker's name: "- Ann Lee (chair): …", "Lee. — …"."""


def new_first(statements: Sequence[Statement], answer: str) -> tuple[Statement, ...]:
    """Put what the last answer quoted behind what is new; leave it out where the best is new.

    The last answer may show the sentences of a quotation in another order.
    """
    said = (
        [each.text[start - each.start : end - each.start] for start, end in each.parts]
        for each in statements
    )
    quoted = [all(are_quoted(parts, [answer])) for parts in said]
    again = [each for each, is_old in zip(statements, quoted, strict=True) if is_old]
    new = tuple(each for each in statements if each not in again)
    return new if new[:1] == tuple(statements[:1]) else (*new, *again)


def write_answer(statements: Sequence[Statement]) -> tuple[str, tuple[Sentence, ...]]:
    """Join the statements to a text with citation markers, and locate each sentence in it.

    Numbers follow the order of the text; the same span has the same number. Each statement is a
    paragraph of one or more sentences with its marker at the end, or two where it is not shown from
    its start. White space inside a sentence becomes single spaces, lines of lists, tables and code
    stay lines, a piece of a longer sentence is shown between ellipses and one follows a list that
    goes on; nothing else differs from the source, but for the names of several speakers. Headings
    are on lines of their own, in no sentence.
    """
    text = ""
    found: list[Sentence] = []
    numbers = number_spans(statements)
    heading = ""
    for statement in statements:
        if text:
            text += "\n" if statement.line else "\n\n"
        if statement.heading != heading or heading == "…" or statement.line:
            heading = statement.heading
            colon = "" if heading.endswith(tuple("?!:…？！：")) else ":"
            shown = "\n".join(map(plain_quotation, heading.splitlines()))
            text += f"{shown}{colon}\n" if heading else ""
        number = numbers[statement_span(statement)]
        for at, part in enumerate(_parts(statement)):
            text += "\n\n" if at else ""
            shown, spans = _shown(part)
            low, high = _marked_characters(part, shown)
            found += [
                Sentence(
                    len(text) + start,
                    len(text) + end,
                    (number,),
                    "supported",
                    1.0,
                    marked=(len(spans) > 1 or part != statement) and start < high and low < end,
                )
                for start, end in spans
            ]
            text += f"{shown} [{number}]"
    return text, tuple(found)


def _parts(statement: Statement) -> list[Statement]:
    """Return the statement, or what is shown of it first and what stands before that."""
    cut = statement.shown_from
    if cut is None:
        return [statement]
    at = cut - statement.start
    speaking = [(cut, name) for begin, name in statement.turns if begin <= cut][-1:]
    turns = (*speaking, *(turn for turn in statement.turns if turn[0] > cut))
    first = replace(statement, start=cut, text=statement.text[at:], turns=turns)
    before = replace(
        statement, end=cut, text=statement.text[:at], marked=None, cut=False, goes_on=False
    )
    return [first, before]


def _shown(statement: Statement) -> tuple[str, list[tuple[int, int]]]:
    """Return the statement as it is shown, and where its sentences stand in that."""
    shown = _lines(statement, statement.start, statement.end)
    if statement.cut:
        opening = "… " if shown[:1].islower() else ""
        shown = f"{opening}{shown}{'' if shown[-1:] in '.!?…}' else ' …'}"
    spans = sentences(shown)
    if statement.goes_on and not shown.endswith("…"):
        shown += "\n…"
        spans[-1] = (spans[-1][0], len(shown))
    return shown, spans


def _lines(statement: Statement, start: int, end: int) -> str:
    """Return the lines of a part of a quotation; of several speakers each has a name before it."""
    names = dict(statement.turns)
    cuts = sorted({start, *(at for at in names if start < at < end), end})
    shown = []
    for low, high in pairwise(cuts):
        part = statement.text[low - statement.start : high - statement.start]
        if part.strip():
            lines, name = quotation_lines(part, unwrapped=statement.unwrapped), names.get(low, "")
            has_name = not name or _begins_with_label(lines, name)
            shown.append(lines if has_name else f"{name}: {lines}")
    return "\n".join(shown)


def _begins_with_label(text: str, name: str) -> bool:
    """Return whether a text begins with the label of a speaker, in any form of a dialogue."""
    label = rf"{_LABEL_MARK}{re.escape(name)}{_LABEL_END}"
    return re.match(label, text, re.IGNORECASE) is not None


def _marked_characters(statement: Statement, shown: str) -> tuple[int, int]:
    """Return where the clearly best sentence of a quotation stands in it as it is shown."""
    if statement.marked is None or not statement.clear:
        return 0, 0
    low, high = statement.marked
    # Only white space differs, so that the other characters are counted.
    before, length = (
        len("".join(_lines(statement, *span).split()))
        for span in ((statement.start, low), (low, high))
    )
    before += shown.startswith("… ") and not statement.text.lstrip().startswith("…")
    places = [at for at, character in enumerate(shown) if not character.isspace()]
    marked = places[before : before + length]
    return (marked[0], marked[-1] + 1) if marked else (0, 0)


def marked_sentences(closest: Sequence[Hit], *, language: str) -> str:
    """Return what is marked in each of the closest passages, quoted with the passage's number.

    Where nothing is marked it is empty.
    """
    quoted = ""
    for hit in closest:
        if hit.marked:
            sentence = quotation_lines(hit.text[slice(*hit.marked)])
            name = translate("answering.quoted_name", language, name=sentence)
            quoted += f"\n\n{hit.rank}. {name}"
    return f" {translate('answering.closest', language)}{quoted}" if quoted else ""


def statement_span(statement: Statement) -> tuple[str, int, int]:
    """Return the span that identifies a source: document, start and end."""
    return statement.document_id, statement.start, statement.end


def number_spans(statements: Sequence[Statement]) -> dict[tuple[str, int, int], int]:
    """Number the distinct spans from 1, in the order of the statements."""
    spans = dict.fromkeys(map(statement_span, statements))
    return {span: number for number, span in enumerate(spans, start=1)}


def quotation_lines(text: str, *, unwrapped: bool = False) -> str:
    """Return a quotation with the lines of its lists, tables and code, and no others.

    A line break is one of a wrapped paragraph where the line is long and the next word would not
    have fitted into it, but never where the text is ``unwrapped``.
    """
    shown, before = "", ""
    lines = plain_footnotes(_CONTROL.sub(" ", text)).splitlines()
    full = FULL * max(map(len, lines), default=0)
    for line in lines:
        if not line.strip():
            before = ""
            continue
        indent = line[: len(line) - len(line.lstrip())].expandtabs(4)
        filled = len(before) >= WRAPPED and len(f"{before} {line.split()[0]}") >= full
        wrapped = filled and not unwrapped and not _ITEM.match(line)
        shown += (" " if wrapped else f"\n{indent}") + plain_quotation(line)
        before = line
    return shown.strip() or "…"
