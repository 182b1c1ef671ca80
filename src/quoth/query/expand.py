"""Query expansion: several variants to search with; the question itself weighs most.

Measured in docs/decisions/019: no local form wins on every set, so that the default is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from quoth.core.protocols import Generator
from quoth.core.types import Query, Variant
from quoth.query.decompose import parts_of
from quoth.query.expand_llm import ExpansionRequest, ask_for_wordings
from quoth.query.keywords import Frequency, content_words, keywords

MOST_WEIGHT = 1.0
"""What all other wordings weigh together at most; the question itself weighs 1."""
PART_WEIGHT = 0.5
"""Weight of each question that the question is made of."""
LOCAL_WEIGHT = 0.125
"""Weight of a list of words."""
MOST_RELATED = 5
SHORT_QUESTION = 4
"""Telling words up to which a question is helped by names that stand beside its own."""
LONG_QUESTION = 10
"""Telling words from which on a question's best ones are guessed where no counts are given."""

Related = Sequence[tuple[str, int]]
"""Names that stand beside the question's in the collection, with counts, most frequent first."""


def local_variants(
    query: Query, *, frequency: Frequency | None = None, related: Related = ()
) -> tuple[Variant, ...]:
    """Return the question and the variants that rules and the collection give, without a model.

    They are the questions that it is made of, its most telling words and the names that stand
    beside its own (``related``, see `quoth.query.keywords.sought_names`), the latter two for
    the keyword leg only: a list of words is no sentence to embed.
    """
    others = [
        Variant(text, PART_WEIGHT, f"part {number}")
        for number, text in enumerate(parts_of(query), start=1)
    ]
    content = content_words(query.standalone, language=query.language)
    telling = keywords(query, frequency=frequency)
    if telling and len(content) > (LONG_QUESTION if frequency is None else len(telling)):
        others.append(Variant(" ".join(telling), LOCAL_WEIGHT, "keywords", semantic=False))
    names = " ".join(name for name, _count in related[:MOST_RELATED])
    if names and len(content) <= SHORT_QUESTION:
        others.append(Variant(names, LOCAL_WEIGHT, "related", semantic=False))
    return with_weights(query, others)


async def generated_variants(
    query: Query, *, generator: Generator, hyde: bool = False, languages: Sequence[str] = ()
) -> tuple[Variant, ...]:
    """Return the question and the variants that a language model gives; raises GenerationError.

    One request asks for three other wordings, keywords, the questions it is made of where it
    compares or has several clauses, and with ``hyde`` for a conceptual question an imagined
    answer (Gao et al., 2023), which goes to the semantic leg only. What does not look like an
    answer to that is dropped, so that nothing but the question may come back. ``languages`` are
    the collection's. The caller limits the time.
    """
    wanted = ExpansionRequest(
        passage=hyde and query.kind == "conceptual",
        parts=query.kind == "comparison" or bool(parts_of(query)),
    )
    given = await ask_for_wordings(query, wanted, generator=generator, languages=languages)
    others = [
        *(Variant(text, name=f"wording {n}") for n, text in enumerate(given.wordings, start=1)),
        *(Variant(text, name=f"part {n}") for n, text in enumerate(given.parts, start=1)),
    ]
    if given.keywords:
        others.append(Variant(" ".join(given.keywords), name="keywords", semantic=False))
    if given.passage:
        others.append(Variant(given.passage, name="passage", keyword=False))
    return with_weights(query, others)


def with_weights(query: Query, others: Iterable[Variant]) -> tuple[Variant, ...]:
    """Put the question first, with weight 1, and scale the others to `MOST_WEIGHT` together.

    Wordings that repeat the question or one another are left out.
    """
    seen = {_bare(query.standalone)}
    distinct = []
    for each in others:
        if _bare(each.text) not in seen:
            seen.add(_bare(each.text))
            distinct.append(each)
    whole = sum(each.weight for each in distinct)
    scale = min(1.0, MOST_WEIGHT / whole) if whole > 0 else 1.0
    return (
        Variant(query.standalone),
        *(replace(each, weight=each.weight * scale) for each in distinct),
    )


def _bare(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" ?.!")
