"""One HTML page that needs nothing from anywhere, and runs nothing."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from urllib.parse import urlsplit

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --line: #d5dae0;
  --paper: #fff; --shade: #f3f5f7; --mark: #1f6feb; --good: #1a7f37; --bar: #6ea8fe; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ec; --soft: #a3adb8; --line: #3a424c;
  --paper: #14181d; --shade: #1d232a; --mark: #7ab1ff; --good: #5bc77a; --bar: #3f7fd6; } }
* { box-sizing: border-box; }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 72rem; margin: 0 auto;
  padding: 1.5rem 1rem 4rem; color: var(--ink); background: var(--paper); }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
p, blockquote { max-width: 46rem; overflow-wrap: anywhere; }
.soft { color: var(--soft); font-size: .9rem; }
a { color: var(--mark); }
a:focus-visible, summary:focus-visible, [tabindex]:focus-visible {
  outline: 3px solid var(--mark); outline-offset: 2px; border-radius: 3px; }
blockquote { margin: .25rem 0 1rem; padding: .1rem 0 .1rem .9rem;
  border-left: 3px solid var(--line); color: var(--soft); }
.unsure { color: var(--soft); }
li:target { background: var(--shade); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; }
th, td { padding: .3rem .75rem .3rem 0; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: top; }
thead th { color: var(--soft); font-weight: 600; white-space: nowrap; }
tbody th { font-weight: 600; white-space: nowrap; padding-right: 1.5rem; }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_BARE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


def page(title: str, body: str, *, style: str = "", language: str = "en") -> str:
    """Make a page; ``body`` and ``style`` stand as they are, so their texts must be escaped."""
    return (
        f'<!doctype html>\n<html lang="{escaped(language)}"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{escaped(title)}</title><style>{STYLE}{style}</style></head>\n"
        f"<body><main>\n{body}\n</main></body></html>\n"
    )


def escaped(text: str) -> str:
    """Write a text so that it is nothing but text in HTML, in an element or an attribute."""
    return html.escape(_BARE.sub("\ufffd", text), quote=True)


def anchor(address: str | None, words: str) -> str:
    """Link words to an address of the web or of a file; to any other they are plain words."""
    if address is None or not is_safe(address):
        return escaped(words)
    return f'<a href="{escaped(address)}" rel="noreferrer">{escaped(words)}</a>'


def is_safe(address: str) -> bool:
    """Whether an address opens something and runs nothing."""
    try:
        return urlsplit(address).scheme in ("http", "https", "file")
    except ValueError:
        return False


def table(
    head: Sequence[str], rows: Sequence[Sequence[str]], *, label: str, numbers: Sequence[int] = ()
) -> str:
    """Make a table of cells that are HTML already; ``numbers`` are columns set to the right.

    A table that is too wide is scrolled by itself, with the keyboard too; ``label`` names it.
    """
    classes = ['class="n"' if at in numbers else "" for at in range(len(head))]
    top = "".join(
        f'<th scope="col" {kind}>{escaped(each)}</th>'
        for each, kind in zip(head, classes, strict=True)
    )
    body = "\n".join(
        f"<tr>{''.join(f'<td {k}>{c}</td>' for c, k in zip(row, classes, strict=True))}</tr>"
        for row in rows
    )
    return (
        f'<div class="wide" tabindex="0" role="group" aria-label="{escaped(label)}">'
        f"<table><thead><tr>{top}</tr></thead>"
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def facts(rows: Sequence[tuple[str, str]]) -> str:
    """Make a table of names and values, both plain text."""
    body = "\n".join(
        f'<tr><th scope="row">{escaped(name)}</th><td>{escaped(value)}</td></tr>'
        for name, value in rows
    )
    return f"<table><tbody>\n{body}\n</tbody></table>" if rows else ""
