"""`quoth show` and `quoth open`: the text around a citation, page or time, and its address."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from quoth.interfaces.cli.session import DONE, FAILED, CliSession, catalogue_of, command
from quoth.text.place_name import place_name

if TYPE_CHECKING:
    from quoth.pipeline.excerpt import Excerpt

MARKS = (">>> ", " <<<")
"""What stands around a cited span where there are no colours."""

Reference = Annotated[
    list[str],
    typer.Argument(
        metavar="REF",
        help="QUERY_ID:NUMBER, the id or link of a citation, or DOCUMENT[:PLACE]: a document by "
        "id, title or file name, a place as page (12, pdf 14), time (1:41), line or row (120, "
        "12-20, 'Staff row 3'), section title or 'chapter 3', or 'characters 100-250'.",
    ),
]


@command
def show(
    session: CliSession,
    reference: Reference,
    window: Annotated[
        int, typer.Option(min=0, max=50, help="Passages on either side of a citation or time.")
    ] = 1,
) -> None:
    """Show the text around a citation, a page, a time or a section, what is cited marked."""
    found = find(session, reference, window=window)
    warn_of_change(session, found)
    session.show(found, show_excerpt)


@command
def open_reference(
    session: CliSession,
    reference: Reference,
    only_print: Annotated[
        bool, typer.Option("--print", help="Print the address instead of opening it.")
    ] = False,
) -> int:
    """Open a citation, page, time or section: the video at its second, the PDF at its page."""
    return open_excerpt(session, find(session, reference), only_print=only_print)


def find(session: CliSession, words: list[str], *, window: int = 1) -> Excerpt:
    """Return the text that a reference leads to, in the collections named, else in all."""
    from quoth.pipeline.excerpt import find_excerpt

    with catalogue_of(session) as catalogue:
        names = session.collections or [each.name for each in catalogue.collections()]
        there = [
            document
            for name in names
            for document in catalogue.documents(catalogue.collection(name))
        ]
        return find_excerpt(catalogue, " ".join(words), documents=there, window=window)


def show_excerpt(session: CliSession, found: Excerpt) -> None:
    """Show where a text stands, and the text, what is cited marked."""
    where = place_name(found.document, found.locator, found.section)
    head = " · ".join(filter(None, (f"{found.document}{where}", found.link)))
    session.out.print_line(Text(head, style="bold"))
    low, high = found.marked or (found.end, found.end)
    low, high = (min(max(at, found.start), found.end) - found.start for at in (low, high))
    before, after = ("", "") if session.out.is_terminal or low == high else MARKS
    inserted = [(at, Text(f"{name}: ", "dim")) for at, name in found.turns]
    inserted += [(low, Text(before)), (high, Text(after))]
    inserted.sort(key=lambda pair: pair[0])
    told = Text(found.text)
    told.stylize("bold yellow", low, high)
    first, *parts = told.divide(at for at, _words in inserted)
    text = Text.assemble("\n", first)
    for (_at, words), part in zip(inserted, parts, strict=True):
        text.append_text(words).append_text(part)
    session.out.print_line(text)


def warn_of_change(session: CliSession, found: Excerpt) -> None:
    """Say that a citation shows what was there before, where it does."""
    if found.is_replaced:
        session.warn(f"'{found.document}' was updated or removed since; this is what was cited.")


def open_excerpt(session: CliSession, found: Excerpt, *, only_print: bool) -> int:
    """Open the address of a text in the browser, or print it; return the exit code."""
    import webbrowser

    warn_of_change(session, found)
    if found.link is None:
        session.warn(f"'{found.document}' has no address to open. See it with: quoth show")
        return FAILED
    if session.json:
        session.put({"link": found.link})
    opened = not only_print and webbrowser.open(found.link)
    if not session.json and not opened:
        session.out.print_line(Text(found.link))
    return DONE if opened or only_print else FAILED
