"""A sentence is supported by what its sources say, at the right place, and by nothing else."""

from __future__ import annotations

import asyncio
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quoth.answering.citations import make_citation
from quoth.answering.context import ContextBlock
from quoth.answering.extractive.candidates import quotable_sentences
from quoth.answering.verification import (
    Sources,
    StatementCheck,
    cache_embeddings,
    describe_reasons,
    read_sources,
    verify,
)
from quoth.answering.verification.tokens import concatenate, tokens
from quoth.core.protocols import Matrix
from quoth.core.types import (
    Chars,
    Chunk,
    Document,
    ParsedDocument,
    Passage,
)
from tests.answering.test_span_invariant import passages_of, readings

TOWER = (
    "The tower was built in 1889 for the fair in Paris. It is 330 metres tall and weighs 10,100 "
    "tonnes. We did not find that iron rusts faster in Paris."
)
BREAD = (
    "Berlin is the capital of Germany. The wall fell on 9 November 1989. Sourdough needs about "
    "24 hours, while yeast bread needs 3 hours. The Yellow Bakery opened in 2004."
)
PAIN = "Le levain demande 24 heures. La levure n'agit pas au froid. Le boulanger attend."


def block(text: str, number: int, *, language: str = "en", title: str = "A title") -> ContextBlock:
    chunk = Chunk(
        f"c{number}", f"d{number}", 0, 0, len(text), text, Chars(0, len(text)), "text",
        language=language,
    )  # fmt: skip
    document = Document(f"d{number}", title, "text", "ready")
    passage = Passage(number, document, (chunk,), (chunk.chunk_id,), 1.0)
    return ContextBlock(passage, 0, len(text), text, 0)


BLOCKS = [block(TOWER, 1), block(BREAD, 2, title="The baker's handbook")]
SOURCES = read_sources(BLOCKS)


async def check(
    statement: str,
    cited: Sequence[int] = (1, 2),
    *,
    sources: Sources = SOURCES,
    language: str = "en",
) -> StatementCheck:
    return await verify(statement, sources, cited=cited, language=language)


def proved(verdict: StatementCheck, blocks: Sequence[ContextBlock] = BLOCKS) -> list[str]:
    texts = {each.number: each.passage.text for each in blocks}
    return [texts[proof.number][proof.start : proof.end] for proof in verdict.proofs]


async def test_a_quotation_is_proved_by_its_whole_sentence() -> None:
    verdict = await check("the tower was built in 1889", [1])
    assert (verdict.support, verdict.score) == ("supported", 1.0)
    assert proved(verdict) == ["The tower was built in 1889 for the fair in Paris."]


async def test_an_opening_is_no_part_of_a_quotation() -> None:
    assert (await check("In the text, the tower was built in 1889")).score == 1.0
    assert (await check("If not, the tower was built in 1889")).score < 1.0


async def test_a_quotation_over_two_sentences_has_two_proofs() -> None:
    verdict = await check("Berlin is the capital of Germany. The wall fell on 9 November 1989.")
    assert [proof.number for proof in verdict.proofs] == [2, 2]


@pytest.mark.parametrize(
    "statement",
    [
        "The tower is 330 meters tall.",
        "According to the source, sourdough needs about twenty-four hours.",
        "The wall fell on 9 november 1989, while Berlin is the capital of Germany.",
        "Yeast bread needs 3 hours.",
    ],
)
async def test_the_same_in_other_words_is_supported(statement: str) -> None:
    verdict = await check(statement)
    assert verdict.support == "supported"


@pytest.mark.parametrize(
    ("statement", "fault"),
    [
        ("The tower was built in 1989 for the fair in Paris.", "elsewhere number 1989"),
        ("It is 330 kilometres tall and weighs 10,100 tonnes.", "unit 330 km"),
        ("It is 10,100 metres tall and weighs 330 tonnes.", "unit 10,100 m"),
        ("The tower was not built in 1889 for the fair in Paris.", "negation not"),
        ("Paris is the capital of Germany.", "elsewhere name Paris"),
        ("The wall fell on 9 December 1989.", "date December"),
        ("Yeast bread needs 24 hours, while sourdough needs 3 hours.", "elsewhere number 24"),
        ("Iron rusts faster in Paris.", "omitted negation not"),
        ("The tower is 330 metres tall and weighs 10,100 tonnes, 12 of them paint.", "number 12"),
    ],
)
async def test_one_wrong_thing_is_not_supported(statement: str, fault: str) -> None:
    verdict = await check(statement)
    assert (verdict.support, verdict.proofs) == ("unsupported", ())
    assert fault in verdict.faults


async def test_words_far_from_each_other_are_no_value_of_another_place() -> None:
    texts = ("The bridge cost a lot.", "The bus needs 45 minutes. One million people came.")
    sources = read_sources([block(text, number) for number, text in enumerate(texts, start=1)])
    verdict = await check("The bridge cost 45 million dollars.", sources=sources, cited=(1,))
    assert "number 45 million" in verdict.faults


@pytest.mark.parametrize(
    "source",
    [
        "The vaccine was not tested on children before the spring of 1955.",
        "The bridge was never opened to heavy lorries during the war.",
        "The colony survives the winter without any honey from the keeper.",
    ],
)
async def test_a_quotation_that_drops_the_negation_is_unsupported(source: str) -> None:
    statement = source.replace(" not", "").replace(" never", "").replace("without", "with")
    found = await check(statement, sources=read_sources([block(source, 1)]), cited=(1,))
    assert found.support == "unsupported"


async def test_a_name_that_no_source_knows_leaves_a_doubt() -> None:
    verdict = await check("The Yellow Bakery of Smith opened in 2004.")
    assert verdict.support != "supported"


async def test_a_source_may_be_called_by_its_title() -> None:
    verdict = await check("In the Baker's Handbook, sourdough needs about 24 hours.")
    assert verdict.support == "supported"


@pytest.mark.parametrize("statement", ["Bananas are yellow.", "🙂", "", " . ", "[1]", "\x1f"])
async def test_what_nobody_says_has_no_proof(statement: str) -> None:
    verdict = await check(statement)
    assert (verdict.support, verdict.proofs) == ("unsupported", ())


async def test_a_wrong_number_of_a_source_is_repaired() -> None:
    verdict = await check("The tower was built in 1889.", [2])
    assert verdict.support == "supported"
    assert {proof.number for proof in verdict.proofs} == {1}


@pytest.mark.parametrize("cited", [(), (99,)])
async def test_without_a_known_source_all_are_searched(cited: Sequence[int]) -> None:
    verdict = await check("The tower was built in 1889.", cited)
    assert verdict.support == "supported"


async def test_what_was_left_out_of_the_context_proves_nothing() -> None:
    end = TOWER.index(" It is")
    cut = read_sources(BLOCKS, kept={1: [(0, end)]})
    verdict = await check("It is 330 metres tall", sources=cut)
    assert verdict.support == "unsupported"


async def test_what_stands_behind_a_cut_proves_nothing() -> None:
    """A block that is too long is cut, and what pruning kept of it may lie behind the cut."""
    cut, end = TOWER.index(" It is"), len(TOWER)
    sources = read_sources([replace(BLOCKS[0], end=cut)], kept={1: [(cut + 1, end)]})
    unseen = await check("It is 330 metres tall and weighs 10,100 tonnes.", sources=sources)
    seen = await check("The tower was built in 1889 for the fair in Paris.", sources=sources)
    assert (unseen.support, seen.support) == ("unsupported", "supported")


async def test_a_whole_sentence_outranks_a_fragment_that_is_denied() -> None:
    sources = read_sources([block("It is not true that bees sleep. Bees sleep.", 1)])
    verdict = await check("Bees sleep.", sources=sources)
    assert [(proof.start, proof.end) for proof in verdict.proofs] == [(32, 43)]


async def test_what_is_only_asked_or_supposed_is_not_supported() -> None:
    sources = read_sources([block("We asked whether bees sleep through the coldest nights.", 1)])
    verdict = await check("Bees sleep through the coldest nights.", sources=sources)
    assert verdict.support != "supported"


# --- other languages --------------------------------------------------------------------------


async def alike(texts: Sequence[str]) -> Matrix:
    """Vectors by what a text is about, in any language."""
    topics = [("sourdough", "levain"), ("yeast", "levure"), ("wait", "attend"), ("zebra",)]
    rows = [
        [float(any(word in text.casefold() for word in topic)) for topic in topics]
        for text in texts
    ]
    spread = np.array(
        [[*row, 0.3 + 0.05 * (len(text) % 3)] for row, text in zip(rows, texts, strict=True)]
    )
    unit: Matrix = (spread / np.linalg.norm(spread, axis=1, keepdims=True)).astype(np.float32)
    return unit


SEA = "La mer est calme. Le vent souffle. Les bateaux rentrent tard."
FRENCH = read_sources(
    [block(PAIN, 1, language="fr"), *(block(SEA, at, language="fr") for at in (2, 3))]
)


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("Sourdough takes 24 hours.", ("unverified", "Le levain demande 24 heures.")),
        ("Sourdough is forbidden.", ("unverified", "Le levain demande 24 heures.")),
        ("Sourdough takes 48 hours.", ("unsupported", "")),
        ("Yeast works in the cold.", ("unverified", "")),
        ("A zebra has stripes.", ("unsupported", "")),
    ],
)
async def test_another_language_proves_nothing_and_its_nearest_sentence_is_named(
    statement: str, expected: tuple[str, str]
) -> None:
    verdict = await verify(
        statement, FRENCH, cited=[1], language="en", embed=cache_embeddings(alike)
    )
    named = "".join(PAIN[proof.start : proof.end] for proof in verdict.proofs)
    assert (verdict.support, named) == expected
    assert verdict.score <= 0.5


async def test_another_language_without_vectors_is_not_judged() -> None:
    verdict = await check("Sourdough takes 24 hours.", [1], sources=FRENCH)
    assert (verdict.support, verdict.proofs) == ("unverified", ())


async def test_a_sentence_is_embedded_once() -> None:
    asked: list[str] = []

    async def embed(texts: Sequence[str]) -> Matrix:
        asked.extend(texts)
        return await alike(texts)

    once = cache_embeddings(embed)
    for statement in ("Sourdough takes long.", "Yeast takes long."):
        await verify(statement, FRENCH, cited=[1], language="en", embed=once)
    assert len(asked) == len(set(asked))


# --- judges -----------------------------------------------------------------------------------


class Opinion:
    """A judge of one mind."""

    name = "opinion"

    def __init__(self, probability: float) -> None:
        self.probability = probability
        self.read: list[tuple[str, str]] = []

    async def judge(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        self.read += pairs
        return [self.probability for _ in pairs]

    async def close(self) -> None: ...


@pytest.mark.parametrize(
    ("statement", "probability", "support"),
    [
        ("The tower stood at the fair in Paris.", 0.97, "supported"),
        ("The tower is 330 meters tall.", 0.01, "unsupported"),
        ("The tower was built in 1989 for the fair in Paris.", 0.99, "unsupported"),
        ("The tower was not built in 1889 for the fair in Paris.", 0.99, "unsupported"),
    ],
)
async def test_a_judge_has_a_say_but_not_over_numbers_and_negation(
    statement: str, probability: float, support: str
) -> None:
    verdict = await verify(statement, SOURCES, cited=[1], language="en", judge=Opinion(probability))
    assert verdict.support == support


async def test_a_judge_is_not_asked_about_quotations() -> None:
    judge = Opinion(0.0)
    await verify("The tower was built in 1889.", SOURCES, cited=[1], language="en", judge=judge)
    assert judge.read == []


# --- whatever the text ------------------------------------------------------------------------

QUOTATIONS = 10_000
MANNERS = {
    "as it is": lambda text: text,
    "decomposed": lambda text: unicodedata.normalize("NFD", text),
    "composed": lambda text: unicodedata.normalize("NFC", text),
    "ligatures": lambda text: text.replace("ffi", "\ufb03").replace("fi", "\ufb01"),
    "curly": lambda text: text.replace("'", "\u2019").replace('"', "\u201d"),
    "spaced": lambda text: re.sub(r"(?<=[a-z]) (?=[a-z])", " \u00a0 \n", text),
    "hyphenated": lambda text: re.sub(r"(?<=[a-z]{3})(?=[a-z]{3})", "-\n", text, count=1),
    "soft hyphens": lambda text: re.sub(r"(?<=[a-z]{2})(?=[a-z]{2})", "\u00ad", text),
    "shouted": lambda text: text.upper() if text.isascii() else text,
}


@given(readings(), st.sampled_from(sorted(MANNERS)), st.integers(1, 3))
async def test_every_sentence_is_found_however_it_is_printed(
    reading: ParsedDocument, manner: str, width: int
) -> None:
    wrong, _ = await unproved(reading, manner, width=width)
    assert wrong == []


def words(texts: Sequence[str]) -> list[str]:
    """What the texts say, however they are printed: the same sentence may stand there twice."""
    return [concatenate(tokens(text, language="en")) for text in texts]


@pytest.mark.soak
def test_ten_thousand_quotations_are_proved() -> None:
    quoted = 0

    @settings(
        max_examples=1200,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(readings(), st.integers(1, 3))
    def quote(reading: ParsedDocument, width: int) -> None:
        nonlocal quoted
        for manner in sorted(MANNERS):
            wrong, number = asyncio.run(unproved(reading, manner, width=width))
            assert wrong == []
            quoted += number

    quote()
    assert quoted >= QUOTATIONS


async def unproved(reading: ParsedDocument, manner: str, *, width: int) -> tuple[list[str], int]:
    """Quote every sentence in a manner; give those whose proof is another, and how many there are.

    The citations are made as answers make them, and hold the stored text.
    """
    passages = passages_of(reading, target=30, width=width)
    blocks = [
        ContextBlock(each, each.start, each.start + len(each.text), each.text, 0)
        for each in passages
    ]
    sources = read_sources(blocks)
    wrong = []
    quotable = quotable_sentences(passages)
    for each in quotable:
        passage = passages[each.passage]
        verdict = await verify(
            MANNERS[manner](each.text), sources, cited=[passage.number], language="en"
        )
        spans = [reading.text[proof.start : proof.end] for proof in verdict.proofs]
        citations = [
            make_citation(
                passage, start=proof.start, end=proof.end, number=1, retrieval_method="hybrid",
                created_at="2026-01-01T00:00:00Z",
            )
            for proof in verdict.proofs
        ]  # fmt: skip
        right = all(
            made.snippet == span[: len(made.snippet)]
            for made, span in zip(citations, spans, strict=True)
        )
        if verdict.support != "supported" or words(spans) != words([each.text]) or not right:
            wrong.append(each.text)
    return wrong, len(quotable)


TEXTS = st.text(
    alphabet=st.one_of(
        st.sampled_from("0123456789.,:-%$ \n'’[]()<>«»"),
        st.characters(exclude_categories=("Cs",)),
    ),
    max_size=120,
)


@given(TEXTS, TEXTS, st.sampled_from(["en", "fr", "zh", "xx"]))
async def test_any_text_can_be_checked(statement: str, source: str, language: str) -> None:
    sources = read_sources([block(source, 1, language="en"), block(TOWER, 2)])
    verdict = await verify(statement, sources, cited=[1], language=language)
    assert 0 <= verdict.score <= 1
    assert all(proof.start < proof.end for proof in verdict.proofs)


WORDS = st.sampled_from(
    "the tower bakery opened in needs about hours 24 3 330 1889 2004 metres not tall and Paris "
    "Berlin 17 wall fell November 1989 tonnes 10,100 while yeast bread".split()
)


@given(st.lists(WORDS, min_size=2, max_size=14).map(" ".join))
async def test_no_supported_sentence_has_a_number_that_its_proofs_lack(statement: str) -> None:
    verdict = await check(statement)
    if verdict.support == "supported":
        held = " ".join(proved(verdict)).replace(",", "")
        numbers = set(re.findall(r"\d+", statement.replace(",", "")))
        assert numbers <= set(re.findall(r"\d+", held))


@pytest.mark.parametrize(
    ("language", "told"),
    [
        (
            "en",
            "Not in the sources: number 45. In another place of the sources: number 1974. "
            "Left out of what the source says: condition if.",
        ),
        (
            "fr",
            "Pas dans les sources\u202f: number 45. Ailleurs dans les sources\u202f: number 1974. "
            "Omis de ce que dit la source\u202f: condition if.",
        ),
    ],
)
def test_a_value_in_another_place_is_not_called_missing(language: str, told: str) -> None:
    reasons = ("number 45", "elsewhere number 1974", "omitted condition if")
    assert describe_reasons(reasons, language=language) == told
    assert describe_reasons((), language=language) == ""
