"""The page that explains an answer: what was understood, a timeline, every candidate's way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from quoth.core.types import LegScore
from quoth.history.explain import (
    CandidateExplanation,
    Explanation,
    SearchExplanation,
    SettingUsed,
    Stage,
    foremost,
)
from quoth.history.export import pieces, set_piece, source_words
from quoth.history.why_not import MissedPassage, WhyNot
from quoth.text.html_page import (
    anchor,
    escaped,
    facts,
    page,
    table,
)

FIRST = 30
"""Candidates shown before the rest is folded away."""
THIN = 0.4
"""The least width of a bar, in percent."""

_STYLE = """
.times { display: grid; grid-template-columns: max-content 1fr max-content; gap: .2rem .75rem;
  align-items: center; font-size: .9rem; margin: 0; padding: 0; list-style: none; }
.times li { display: contents; }
.track { position: relative; height: 1rem; background: var(--shade); border-radius: 3px; }
.track span { position: absolute; top: 0; bottom: 0; background: var(--bar); border-radius: 3px;
  min-width: 2px; }
.track .moment { background: var(--mark); }
.fate-cited { color: var(--good); font-weight: 600; }
td .said { display: block; color: var(--soft); max-width: 30rem; }
td.why { min-width: 12rem; }
details { margin: .5rem 0; } summary { cursor: pointer; padding: .3rem 0; color: var(--mark); }
.ways td:nth-child(2) { min-width: 18rem; } .ways td:last-child { min-width: 14rem; }
"""
_COLUMNS = (
    "rank",
    "passage",
    "keyword",
    "semantic",
    "fused",
    "reranker",
    "pool",
    "probability",
    "what became of it",
)


def explanation_page(found: Explanation, *, asked: WhyNot | None = None) -> str:
    """Make the page of an explanation, with the passages that were asked for where there are."""
    sections = [
        f"<h1>{escaped(found.question or 'A question of which only a hash is stored')}</h1>",
        f'<p class="soft">{escaped(_about(found))}</p>',
        _answer(found),
        *_notes(found.notes),
        *_why_not(asked),
        "<h2>How the question was understood</h2>",
        facts(found.understood),
        *_choices(found.choices),
        "<h2>Where the time went</h2>",
        timeline(found.stages, total_ms=found.total_ms),
        *(part for each in found.searched for part in _searched(each)),
        "<h2>Who took part</h2>" if found.makers else "",
        facts(found.makers),
    ]
    body = "\n".join(each for each in sections if each)
    return page(f"Explained: {found.question or found.query_id}", body, style=_STYLE)


def timeline(stages: Sequence[Stage], *, total_ms: float) -> str:
    """Draw a bar for every stage from its beginning to its end, over the time of the whole.

    Where that is not known they stand one behind the other.
    """
    whole = max([total_ms, 0.001, *(each.end_ms or 0.0 for each in stages)])
    rows: list[str] = []
    at = 0.0
    for each in stages:
        start = at if each.start_ms is None else each.start_ms
        at = start + each.spent_ms if each.end_ms is None else each.end_ms
        whole = max(whole, at)
        rows.append(_bar(each, start, at, whole=whole))
    return f'<ol class="times">{"".join(rows)}</ol><p class="soft">{total_ms:.1f} ms in all</p>'


def _bar(each: Stage, start: float, end: float, *, whole: float) -> str:
    left = min(100 - THIN, 100 * start / whole)
    width = min(100 - left, max(THIN, 100 * (end - start) / whole))
    kind = ' class="moment"' if each.is_moment else ""
    took = f"{end - start:.1f} ms"
    if each.is_moment:
        took = f"at {start:.1f} ms"
    elif each.end_ms is not None and each.spent_ms > 1.05 * (end - start) + 0.1:
        took = f"{took}, several at once"
    return (
        f'<li><span>{escaped(each.name)}</span><span class="track">'
        f'<span{kind} style="left:{left:.2f}%;width:{width:.2f}%"></span></span>'
        f'<span class="n">{took}</span></li>'
    )


def _about(found: Explanation) -> str:
    when = found.created_at[:19].replace("T", " ")
    return " · ".join(
        each for each in (when and f"{when} UTC", found.answer.status, found.query_id) if each
    )


def _answer(found: Explanation) -> str:
    text = "".join(set_piece(*each, target="cited") for each in pieces(found.answer))
    cited = "\n".join(
        f'<li id="cited-{each.number}" value="{each.number}">'
        f"{anchor(each.link, source_words(each))}"
        f"<blockquote>“{escaped(each.snippet)}”</blockquote></li>"
        for each in found.answer.citations
    )
    return f"<p>{text}</p>" + (f"<ol>{cited}</ol>" if cited else "")


def _notes(notes: Sequence[str]) -> Iterator[str]:
    yield from (f'<p class="soft">{escaped(each)}</p>' for each in notes)


def _choices(choices: Sequence[SettingUsed]) -> Iterator[str]:
    if choices:
        yield "<h2>What was chosen otherwise than by default</h2>"
        rows = [
            (
                escaped(each.name),
                escaped(each.chosen),
                escaped(each.default),
                "the asker"
                if each.asked
                else "the profile, the kind of question or the collection",
            )
            for each in choices
        ]
        yield table(("field", "chosen", "default", "by"), rows, label="Choices")


def _searched(each: SearchExplanation) -> Iterator[str]:
    yield f"<h2>What was found in “{escaped(each.collection)}”</h2>"
    yield f'<p class="soft">{escaped(counted(each))}</p>'
    ways = foremost(each.ways, most=len(each.ways))
    yield f'<div class="ways">{_ways(ways[:FIRST])}</div>' if ways else ""
    if len(ways) > FIRST:
        yield (
            f"<details><summary>{len(ways) - FIRST} more that were found</summary>"
            f'<div class="ways">{_ways(ways[FIRST:])}</div></details>'
        )


def counted(each: SearchExplanation) -> str:
    """Say how many candidates there were, and of which version of the collection."""
    what = "looked up" if each.whole else "found"
    said = f"{each.found} passages {what} · index {each.version}"
    if not each.now:
        return f"{said} · the collection is no longer there"
    return said if each.now == each.version else f"{said} · now it is {each.now}"


def _ways(ways: Sequence[CandidateExplanation]) -> str:
    rows = [
        (
            str(each.shown or ""),
            _passage(each),
            scored(each.legs.get("keyword")),
            scored(each.legs.get("semantic")),
            scored(each.fused),
            scored(each.legs.get("rerank")),
            str(each.pool.rank) if each.pool else "",
            "" if each.probability is None else f"{each.probability:.2f}",
            f'<span class="fate-{each.fate}">{escaped(each.why)}</span>{_other_legs(each)}',
        )
        for each in ways
    ]
    return table(_COLUMNS, rows, numbers=(0, 2, 3, 4, 5, 6, 7), label="Passages that were found")


def scored(leg: LegScore | None) -> str:
    """Write a rank and a score: ``3 · 0.871``; nothing where there is none."""
    return "" if leg is None else f"{leg.rank} · {leg.score:.3g}"


def _other_legs(each: CandidateExplanation) -> str:
    known = ("keyword", "semantic", "rerank")
    others = [f"{leg}: {scored(one)}" for leg, one in each.legs.items() if leg not in known]
    return f'<span class="said">{escaped("; ".join(others))}</span>' if others else ""


def _passage(each: CandidateExplanation | MissedPassage) -> str:
    at = each.at
    if not at.document:
        return f'<span class="said">no longer in the library ({escaped(each.chunk_id)})</span>'
    return f'{anchor(at.link, at.name)}<span class="said">{escaped(at.text)}</span>'


def _why_not(asked: WhyNot | None) -> Iterator[str]:
    if asked is None:
        return
    yield f"<h2>Why not “{escaped(asked.text)}”?</h2>"
    yield from _notes(asked.notes)
    rows = [
        (
            _passage(each),
            escaped(each.why),
            f"<code>{escaped(each.advice)}</code>" if each.advice else "",
        )
        for each in asked.passages
    ]
    if rows:
        yield table(("passage", "why it was not cited", "try"), rows, label="Passages asked for")
