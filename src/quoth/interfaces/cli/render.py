"""Showing results to a person: tables, passages, answers, progress."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import unquote

from rich.console import Console
from rich.style import Style
from rich.text import Text

from quoth.core.command_line import command_line
from quoth.core.translations import translate
from quoth.core.types import Answer, Hit, Sentence
from quoth.interfaces.cli.session import CliSession
from quoth.interfaces.doubt_mark import doubt_mark
from quoth.interfaces.links import answer_page, mark_links, public_answer
from quoth.text.place_name import place_name

if TYPE_CHECKING:
    from quoth.pipeline.maintain import Health

SNIPPET = 150
"""Characters of a snippet that a person is shown."""
AROUND = 300
"""Characters on either side of the likeliest sentence of a passage."""
WIDEST = 110
"""Columns of an answer on the widest terminal; longer lines are hard to read."""
MAX_TITLE = 60
"""Characters of a document's title in a list of sources."""
TIE = "\ue000"
"""Stands for a blank at which no line may end."""


def hit_list(session: CliSession, hits: Sequence[Hit], *, quoted: bool = False) -> None:
    """Show ranked passages; ``quoted`` means that what is marked in them was shown already."""
    if not hits:
        session.say(f"Nothing found. Try other words, or: {command_line('list', session.settings)}")
    for hit in hits:
        head = Text(f"{hit.rank:>3}  ")
        head.append(trim(hit.document, MAX_TITLE), style="bold")
        head.append(place_name(hit.document, hit.locator, hit.locator.section)).append("  ")
        session.out.print_line(head.append(_link(session.out, hit.link)))
        if quoted and hit.marked is not None:
            continue
        shown = Text(f"“{trim(hit.text)}”")
        if hit.marked is not None:
            before, told, after = marked_parts(hit.text, hit.marked)
            shown = Text(f"“{before}").append(told, style="bold not dim").append(f"{after}”")
        session.out.print_line(Text("     ", style="dim").append(shown))


def marked_parts(text: str, span: tuple[int, int]) -> tuple[str, str, str]:
    """Return up to `AROUND` characters before the marked part, the part, and as many after it."""
    before, told, after = (
        " ".join(part.split()) for part in (text[: span[0]], text[slice(*span)], text[span[1] :])
    )
    before = f"{_trim_start(before)} " if before else ""
    return before, told, f" {trim(after, AROUND)}" if after else ""


def answer_text(session: CliSession, answer: Answer) -> None:
    """Show an answer's text; what no source supports says so."""
    public = session.settings.public_url
    page = answer_page(session.settings, answer.query_id) if public else None
    session.out.print_line(wrap_text(session.out, marked(answer, page=page)))


def with_links(text: str, sentences: Sequence[Sentence], *, page: str | None) -> Text:
    """Return a text whose marks link to their sentences on the ``page`` of the answer.

    A sentence that answers clearly better than the others of its quotation is bold.
    """
    linked = Text(text)
    for start, end, address in mark_links(text, sentences, page=page) if page else ():
        linked.stylize(Style(link=address), start, end)
    for each in sentences:
        if each.marked:
            linked.stylize("bold", each.start, each.end)
    return linked


def marked(answer: Answer, *, page: str | None = None) -> Text:
    """Return an answer's text with a mark behind every sentence that is not proved."""
    text, whole = Text(), with_links(answer.text, answer.sentences, page=page)
    done = 0
    for each in answer.sentences:
        if doubt := doubt_mark(each, answer.query.language):
            text.append(whole[done : each.end])
            text.append(f" {doubt}", style="red")
            done = each.end
    return text.append(whole[done:])


def wrap_text(screen: Console, text: Text) -> Text:
    """Break a text into lines for a terminal, never in front of a mark; a file gets none."""
    if not screen.is_terminal:
        return text
    tied = text.copy()
    tied.plain = text.plain.replace(" [", f"{TIE}[")
    lines = tied.wrap(screen, min(screen.width, WIDEST))
    for line in lines:
        line.rstrip()
        line.plain = line.plain.replace(TIE, " ")
    return Text("\n").join(lines)


def answer_sources(session: CliSession, answer: Answer) -> None:
    """Show the notes on an answer, what it cites or the closest passages, and how it came about.

    With a ``public_url`` the sources are links into the web app.
    """
    from quoth.answering.answerability import is_doubtful, notes

    settings = session.settings
    if settings.public_url:
        answer = public_answer(answer, base=settings.public_url)
    out = session.out
    out.print()
    said = partial(translate, language=answer.query.language)
    if told := [said("interfaces.note", text=out.in_home(line)) for line in notes(answer)]:
        out.print_line(Text("\n".join(told), style="yellow"))
        out.print()
    for each in answer.citations:
        head = Text(f"{each.number:>3}  ")
        head.append(trim(each.document_name, MAX_TITLE), style="bold")
        head.append(place_name(each.document_name, each.place, each.section_heading))
        if each.support == "partly":
            head.append(" · in part", style="yellow")
        if each.support == "unverified":
            head.append(f" · {said('history.doubt_unverified')}", style="yellow")
        out.print_line(head.append("  ").append(_link(out, each.link)))
        quoted = each.snippet[slice(*each.marked)] if each.marked else each.snippet
        shown = said("history.quotation", text=trim(quoted))
        out.print_line(Text(f"     {shown}", style="dim"))
    if answer.closest and (is_doubtful(answer) or not answer.citations):
        if answer.citations:
            out.print()
            out.print_line(Text("  Also found:", style="dim"))
        hit_list(session, answer.closest, quoted=not answer.citations)
    sources = len({each.document_id for each in answer.citations})
    foot = [
        f"{sources} source{'' if sources == 1 else 's'}" if sources else "",
        f"{answer.timings_ms['total'] / 1000:.2f} s",
        answer.model or "no language model",
        f"${answer.usage.usd:.4f}" if answer.usage.usd else "",
        "answered before" if answer.cached else "",
        out.in_home(f"quoth explain {answer.query_id}"),
    ]
    out.print_line(Text(f"\n  {' · '.join(filter(None, foot))}", style="dim"))
    if settings.public_url and (page := answer_page(settings, answer.query_id)):
        out.print_line(Text("  ").append(_link(out, page)))


def health_report(session: CliSession, health: Health) -> None:
    """Show what the doctor found."""
    for check in health.checks:
        mark = Text("ok   " if check.ok else "fix  ", style="green" if check.ok else "red")
        found = session.out.in_home(check.found)
        session.out.print_line(mark.append(f"{check.name}: {found}", style=""))
        if check.advice:
            session.out.print_message(f"     {check.advice}")


def trim(text: str, most: int = SNIPPET) -> str:
    """One line of at most ``most`` characters, cut between words."""
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    return line[:most].rsplit(" ", 1)[0] + " …"


def _trim_start(line: str) -> str:
    """Return the last `AROUND` characters of a line, cut between words."""
    return line if len(line) <= AROUND else "… " + line[-AROUND:].partition(" ")[2]


def _link(screen: Console, address: str | None) -> Text:
    """Return a link; where it can be clicked, that of a file shows the file's name alone."""
    if address is None:
        return Text("")
    clickable = screen.is_terminal and address.startswith("file:")
    shown = unquote(address.rpartition("/")[2]) if clickable else address
    return Text(shown, style=Style(color="blue", link=address))
