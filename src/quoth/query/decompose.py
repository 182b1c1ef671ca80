"""Query decomposition into sub-questions that are searched separately."""

from __future__ import annotations

import re

from quoth.core.types import Query
from quoth.query.keywords import content_words

MAX_PARTS = 4
MAX_ASPECTS = 3
"""Maximum aspects searched separately."""

_ASKING_EN = (
    r"what|how|why|when|who|whom|whose|where|which|is|are|was|were|does|do|did|can|could|should"
)
_ASKING_FR = (
    r"qu['’]est|que|quel(?:le)?s?|comment|pourquoi|quand|qui|o[uù]|combien|est-ce|à quoi|a quoi"
    r"|de quoi|en quoi|lequel|laquelle|lesquel(?:le)?s"
)
_AUXILIARY = r"is|are|was|were|does|do|did|can|could|should|will"
# After "and" a word such as "who" may belong to the preceding clause, so only a word that
# cannot, or one followed by a verb, begins a new sub-question. "Or" offers a choice.
_BEGINS_EN = rf"what|how|why|{_AUXILIARY}|(?:who|where|when|which\s+\w+)\s+(?:{_AUXILIARY})"
_BEGINS_FR = r"qu['’]est|quel(?:le)?s?|comment|pourquoi|combien|est-ce|[àa] quoi|de quoi|en quoi"
_SPLIT = re.compile(
    rf"[?;]\s*(?:(?:and|et|or|ou|also|aussi)\s+)?(?=(?:{_ASKING_EN}|{_ASKING_FR})\b)"
    rf"|,? (?:and|et|puis|then) (?=(?:{_BEGINS_EN}|{_BEGINS_FR})\b)",
    re.IGNORECASE,
)
_OPENS = re.compile(rf"\W*(?:{_ASKING_EN}|{_ASKING_FR})\b", re.IGNORECASE)
_REFERS = re.compile(
    r"\b(?:it|its|he|she|him|her|his|they|them|their|this|that|these|those|one|il|ils|elle|elles"
    r"|le|la|les|lui|leur"
    r"|cela|ça|celui-ci|celle-ci|son|sa|ses)\b(?!['’])",
    re.IGNORECASE,
)
_COMPARING = re.compile(
    r"\b(?:differences?|différences?|compar\w+|contrast\w*|similarit\w+|versus|vs|better|worse"
    r"|best|faster|slower|meilleure?s?|mieux|pire|plus|moins|differ\w*|différ\w*|distingu\w+"
    r"|points? communs?|rapport|advantages?|avantages?|pros|cons|between|entre|prefer\w*"
    r"|préf\w+|rather|plutôt|instead|choose|choisir)\b",
    re.IGNORECASE,
)


def sub_questions(query: Query) -> tuple[str, ...]:
    """Return the two to four sub-questions of a query; empty if it is a single question.

    A comparison gives one for each of its aspects, each with the part shared by all; a query of
    several clauses gives its clauses, and one that refers to the first by a pronoun takes over the
    first one's subject.
    """
    if len(query.aspects) > 1:
        return aspect_questions(query, limit=MAX_PARTS)
    return _clauses(query)


def aspect_questions(query: Query, *, limit: int = MAX_ASPECTS) -> tuple[str, ...]:
    """Return a query for each of the first ``limit`` aspects, with the shared part.

    "What is the difference between BERT and GPT in training?" gives "BERT training" and "GPT
    training". Empty for a query without aspects.
    """
    shared = query.standalone
    for aspect in sorted(query.aspects, key=len, reverse=True):
        shared = re.sub(rf"(?<!\w){re.escape(aspect)}(?!\w)", " ", shared, flags=re.IGNORECASE)
    predicate = content_words(_COMPARING.sub(" ", shared), language=query.language)
    distinct = dict.fromkeys(aspect.strip() for aspect in query.aspects if aspect.strip())
    return tuple(" ".join((aspect, *predicate)) for aspect in list(distinct)[:limit])


def _clauses(query: Query) -> tuple[str, ...]:
    text = " ".join(query.standalone.split())
    clauses = [clause.strip(" ,;?\t\n\u00a0\u202f") for clause in _SPLIT.split(text)]
    clauses = [clause for clause in clauses if clause]
    if not 2 <= len(clauses) <= MAX_PARTS or not _OPENS.match(clauses[0]):
        return ()
    subject = content_words(clauses[0], language=query.language)
    if not subject:
        return ()
    whole = [f"{clauses[0]}?"]
    for clause in clauses[1:]:
        own = content_words(clause, language=query.language)
        if _REFERS.search(clause) or not own:
            whole.append(f"{clause} {' '.join(subject)}?")
        else:
            whole.append(f"{clause}?")
    return tuple(whole)
