"""Extract the names of a document and their co-occurrences (the entity graph).

Everything comes from the text alone, in one pass over its words, for English and French: names
written with capitals, acronyms, technical terms (``fine-tuning``, ``GPT-2``, ``LangGraph``) and
word pairs that the document mostly uses together ("boundary layer").
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, pairwise

from quoth.core.outline import EntityCooccurrence
from quoth.core.types import Chunk
from quoth.text.analyzer import STOP_WORDS

MAX_LINKS = 50
"""Pairs kept per document."""
LINKS_PER_CHUNK = 10
"""Pairs kept per chunk of a short document, where nothing can repeat."""
NAMES_PER_CHUNK = 10
"""Names of a chunk that are paired; a chunk with more is a list or an index."""
MAX_NAME_LENGTH = 60
"""Characters of a name at most."""
KEPT_TOGETHER = 0.5
"""Share of a word's neighbours that the other word of a pair is, from which the pair is a term."""

_UPPER = "A-ZÀ-ÖØ-ÞŒŠŽ"
# A capitalised word, and those that follow it, with at most one small word of a name between.
_CAPITALISED = re.compile(
    rf"[{_UPPER}][\w&'’+#-]*"
    rf"(?:[ \u00a0\n]"
    rf"(?:(?:of|de|du|des|van|von|d[’'])[ \u00a0]?)?[{_UPPER}][\w&'’+#-]*){{0,4}}"
)
_JOINED = re.compile(r"[^\W\d_]\w*(?:-\w+)+")
_ELIDED = re.compile(r"^(?:[cdjlmnst]|qu)['’](?=\w)|['’](?:s|re|ve|ll|d|t)?$", re.IGNORECASE)
_OWNED = re.compile(r"['’]s\b.*", re.DOTALL)
_WORD = re.compile(r"[^\W_]+(?:\+\+|#(?!\w))?")
_SPELLED_OUT = str.maketrans({"œ": "oe", "Œ": "oe", "æ": "ae", "Æ": "ae", "ß": "ss"})
_SENTENCE_ENDS = frozenset('.!?…:;\n"“«»”)(-–—•*>#|')
_AROUND = ".,;:!?…\"'’“”«»()[]{}<>*_`|/\\"
_STOPS: frozenset[str] = frozenset().union(*STOP_WORDS.values())
# Sentence openings that look like names, and words that form no term with another word.
_OPENINGS = """
    yeah yes okay ok well oh hi hello hey thanks thank right tip tips note example figure table
    chapter section part page exercise question answer oui merci bonjour bref exemple tableau
    chapitre partie exercice astuce remarque attention essayez voir cf monsieur madame mr mrs
    article annexe import none true false"""
_WEAK = """
    even maybe really actually start quite kind sort thing things little pretty much many well
    know think going want make makes made take takes taking using used need needs also still
    around based different whole good better best first second last next able available
    devez doit doivent pouvez peuvent pouvoir permet permettent effectuer faut aussi bien
    toujours premier premiere dernier derniere plusieurs certains certaines"""
_FILLERS = frozenset(f"{_OPENINGS} {_WEAK}".split())


def cooccurrences(chunks: Sequence[Chunk]) -> tuple[EntityCooccurrence, ...]:
    """Return the co-occurring pairs of names of one document, strongest first.

    Strength is ``c · ln(1 + c · N / (a · b))`` for a pair in c of N chunks whose names are in a
    and b of them: often together, and seldom separate (after Church and Hanks, 1990). A pair counts
    from two chunks on; a document of up to three chunks, where little can repeat, gives pairs that
    co-occur once. Both names are normalized (`normalize_name`), in sorted order; names that share a
    word ("language processing", "natural language") make no pair.
    """
    held = _names_by_chunk([chunk.text for chunk in chunks])
    seen = Counter(name for names in held for name in names)
    together: Counter[tuple[str, str]] = Counter()
    for names in held:
        ranked = sorted(names)
        if len(ranked) > NAMES_PER_CHUNK:
            ranked = sorted(sorted(ranked, key=lambda name: -seen[name])[:NAMES_PER_CHUNK])
        together.update(combinations(ranked, 2))
    least = 2 if len(chunks) > 3 else 1
    strong = [
        (count * math.log(1 + count * len(chunks) / (seen[a] * seen[b])), a, b, count)
        for (a, b), count in together.items()
        if count >= least and not _words(a) & _words(b)
    ]
    strong.sort(key=lambda each: (-each[0], each[1], each[2]))
    most = min(MAX_LINKS, LINKS_PER_CHUNK * len(chunks))
    return tuple(EntityCooccurrence(a, b, count) for _strength, a, b, count in strong[:most])


def normalized_names(name: str) -> str:
    """Return the normalized form of a name: lower case, without accents, single spaces.

    So "Fine-Tuning" and "fine tuning" are one name, and a question's words can be looked up.
    """
    if not name.isascii():
        name = unicodedata.normalize("NFD", name.translate(_SPELLED_OUT).lower())
        name = "".join(each for each in name if not "\u0300" <= each <= "\u036f")
    return " ".join(_WORD.findall(name.lower()))


def _words(name: str) -> set[str]:
    return {word.removesuffix("s") for word in name.split()}


def _names_by_chunk(texts: Sequence[str]) -> list[set[str]]:
    """Return the normalized names of each text.

    A single capitalised word that opens a sentence is a name only where the document has it with
    a capital inside a sentence as well; none is that the document mostly writes small; a longer
    run that opens a sentence loses its first word where the rest is known as a name by itself.
    """
    inside: list[set[str]] = []
    opening: list[set[str]] = []
    pairs: list[set[tuple[str, str]]] = []
    small: set[str] = set()
    for text in texts:
        tokens = text.split()
        small.update(tokens)
        within, at_start = _capitalised(text)
        if "-" in text:
            within.update(filter(None, [_joined(token) for token in tokens if "-" in token]))
        inside.append(within)
        opening.append(at_start)
        pairs.append(
            {
                (a, b)
                for a, b in pairwise(tokens)
                if len(a) > 3 and len(b) > 3 and a not in _STOPS and a.isalpha() and a.islower()
            }
        )
    known: set[str] = set().union(*inside)
    terms = _kept_together(pairs)
    fold = lru_cache(maxsize=None)(normalized_names)
    held = []
    for within, at_start, near in zip(inside, opening, pairs, strict=True):
        names = {*within, *_resolve_conflicts(at_start, known, small)}
        telling = (name for name in names if not name.istitle() or name.lower() not in small)
        held.append({*map(fold, telling), *(terms[pair] for pair in near & terms.keys())})
    return held


def _capitalised(text: str) -> tuple[set[str], set[str]]:
    """Return the capitalised names inside sentences, and those that open one."""
    inside: set[str] = set()
    opening: set[str] = set()
    for match in _CAPITALISED.finditer(text):
        start = match.start()
        before = text[start - 1 : start]
        if before.isalnum() or before == "_":
            continue
        name = _trimmed(match.group())
        if name is None:
            continue
        telling = text[start - 2 : start - 1] if before in " \u00a0" else before
        opens = start < 2 or telling in _SENTENCE_ENDS
        (opening if opens and name.partition(" ")[0][1:].islower() else inside).add(name)
    return inside, opening


@lru_cache(maxsize=50_000)
def _trimmed(run: str) -> str | None:
    """Strip function words, elisions and endings from a run; None where no name is left."""
    words = [_ELIDED.sub("", word).strip("-&'’#+") for word in _OWNED.sub("", run).split()]
    while words and (not words[0] or words[0].casefold() in _STOPS):
        words.pop(0)
    while words and (not words[-1] or words[-1].casefold() in _STOPS):
        words.pop()
    name = " ".join(words)
    if not 1 < len(name) <= MAX_NAME_LENGTH or "'" in name or ("’" in name and len(words) == 1):
        return None
    return None if name.casefold() in _FILLERS else name


@lru_cache(maxsize=50_000)
def _joined(token: str) -> str | None:
    """Return the joined word of a token, such as "encoder-decoder"; None where there is none."""
    bare = _ELIDED.sub("", token.strip(_AROUND))
    telling = len(bare) > 3 and not _STOPS.issuperset(bare.casefold().split("-"))
    return bare if telling and len(bare) <= MAX_NAME_LENGTH and _JOINED.fullmatch(bare) else None


def _resolve_conflicts(opening: Iterable[str], known: set[str], small: set[str]) -> Iterator[str]:
    for name in opening:
        first, _, rest = name.partition(" ")
        if name in known:
            yield name
        elif rest in known and (" " in rest or first.lower() in small):
            yield rest
        elif rest and first.lower() not in small:
            yield name


def _kept_together(
    pairs: Sequence[set[tuple[str, str]]],
) -> Mapping[tuple[str, str], str]:
    """Return the pairs of small words that make a term of this document, with their folded form."""
    counts = Counter(pair for each in pairs for pair in each)
    behind: dict[str, int] = defaultdict(int)
    before: dict[str, int] = defaultdict(int)
    for (a, b), count in counts.items():
        behind[a] += count
        before[b] += count
    terms = {}
    for (a, b), count in counts.items():
        if count < 2 or count < KEPT_TOGETHER * min(behind[a], before[b]):
            continue
        bare = b.rstrip(_AROUND)
        weak = {a, bare} & _FILLERS or bare in _STOPS
        if len(bare) > 3 and bare.isalpha() and bare.islower() and not weak:
            terms[a, b] = normalized_names(f"{a} {bare}")
    return terms
