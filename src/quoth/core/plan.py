"""The plan of a request: all per-request choices, and the profiles with their defaults.

`make_plan` makes the plan of a request, `plan_for_kind` adapts it to the kind of the query. An
ablation is ``replace(plan, …)``.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, get_args

from quoth.core.errors import ConfigError, InputError
from quoth.core.types import Filter, FilterField, Mode, QueryKind
from quoth.core.unknown_field import unknown_field

Fusion = Literal["convex", "rrf"]
ContextOrder = Literal["best_first", "edges", "document"]
Strategy = Literal["rank", "look_up", "cover"]
"""Retrieval strategy: ranking, structural lookup, or coverage of a document."""
Expansion = Literal["none", "generated"]
Policy = Literal["mark", "drop", "strict"]
Caching = Literal["none", "exact", "semantic"]

RANGES: tuple[FilterField, ...] = ("page", "seconds", "date")
"""Fields whose filters are numeric ranges."""

ModeName = Literal["hybrid", "semantic", "keyword", "dense", "vector", "bm25", "fts"]
MODE_SPELLINGS: Mapping[ModeName, Mode] = {
    "hybrid": "hybrid",
    "semantic": "semantic",
    "dense": "semantic",
    "vector": "semantic",
    "keyword": "keyword",
    "bm25": "keyword",
    "fts": "keyword",
}
"""What a caller may call a mode, and the mode."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How one query is answered; the defaults are the measured ones (docs/decisions)."""

    profile: str = "default"
    mode: Mode = "hybrid"
    """Which retrievers search: vector search (semantic), keyword search, or both (hybrid)."""
    candidates_per_leg: int = 100
    """Passages that each retriever returns; a leg is the ranking of one retriever."""
    fusion: Fusion = "convex"
    """How the rankings of the retrievers become one: by their scores (convex) or by their ranks
    (rrf, reciprocal rank fusion)."""
    dense_weight: float = 0.55
    """Weight of vector search in a convex combination; keyword search has the rest."""
    sparse_weight: float = 0.2
    """Weight of the list by lexical weights, where the embedder gives them (BGE-M3); the two other
    lists share the rest. It follows the model's paper and was not measured."""
    page_weight: float = 0.2
    """Weight of the list by pictures of pages, where a model for them is set; the other lists share
    the rest. It was not measured."""
    rrf_k: int = 60
    """The constant of reciprocal rank fusion: the larger, the less the first ranks count."""
    rerank_pool: int = 30
    """Candidates kept after fusion for reranking and diversity."""
    final_k: int = 8
    """Passages that the answer is made from, without their neighbours; `top_k` of the service."""
    mmr_lambda: float = 1.0
    """Weight of relevance against novelty; 1 turns diversity off."""
    max_per_document: int | None = None
    """Maximum passages of one document; None for no limit."""
    context_window: int = 1
    """Neighbouring chunks added on either side of a hit."""
    max_context_tokens: int = 8000
    """Maximum tokens of the passages, with their neighbours, that the answer is made from."""
    context_order: ContextOrder = "best_first"
    """Order of the passages in a prompt: by score (best_first), the best at both ends (edges), or
    as in their documents (document)."""
    max_sentences: int = 16
    """Sentences of an extractive answer, over all its quotations."""
    deadline_ms: float | None = None
    """Milliseconds that the answer may take; None for no limit. Stages that do not fit are skipped.
    `max_ms` of the service and the command line."""
    filters: tuple[Filter, ...] = ()
    """Conditions that every passage must meet, beside those that the query states."""
    classify: bool = False
    """Whether a language model, the small one where there is one, may correct the query
    analysis."""
    strategy: Strategy = "rank"
    """How passages are found: by ranking, by the place that the query names (look_up), or by a
    sample of all of a document (cover). The kind of the query chooses it where it is not given."""
    expansion: Expansion = "none"
    """Query variants to search with: none, or by a language model, the small one where there is
    one (generated)."""
    hyde: bool = False
    """Search also with a hypothetical answer, in vector search only."""
    expansion_ms: float = 3000.0
    """Milliseconds that a language model has to analyse or expand the query; a later reply is
    ignored."""
    rerank: bool = True
    """Whether the reranker, where there is one, reorders the pool."""
    rerank_weight: float = 0.5
    """Weight of the reranker against the first stage."""
    read_doubtful: bool = True
    """Whether the sentence scorer, where there is one, reads what a doubtful answer is made of."""
    duplicate_cosine: float = 0.95
    """Passages with at least this cosine similarity count as duplicates; 1 turns it off."""
    prune: bool = False
    """Whether sentences irrelevant to the query are left out of the context."""
    generate: bool = True
    """Whether the language model, where there is one, writes the answer."""
    prompt: str | None = None
    """The name of the prompt; None for the profile's own."""
    temperature: float = 0.1
    """Sampling temperature of the language model."""
    max_tokens: int = 1024
    """Maximum tokens of a generated answer."""
    history_turns: int = 3
    """Conversation turns passed to the language model."""
    policy: Policy = "mark"
    """What happens to an unsupported sentence: it is marked, or left out (drop and strict). Every
    sentence is verified before it is shown."""
    judge: bool = True
    """Whether the entailment judge, where there is one, takes part in verification."""
    max_usd: float | None = None
    """Maximum cost of the answer in dollars; steps that would exceed it run without a language
    model."""
    cache: Caching = "exact"
    """Which answers may be reused: none, those to an equal query, or (semantic) those to a
    paraphrase, too."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A named set of components and defaults (values of `Plan` fields by name)."""

    embedder: str = "multilingual-e5-small-int8"
    store: str = "lancedb"
    reranker: str | None = None
    generator: str = "extractive"
    small_llm: str | None = None
    plan: Mapping[str, Any] = field(default_factory=dict)
    by_kind: Mapping[QueryKind, Mapping[str, Any]] = field(default_factory=dict)


STRATEGIES: Mapping[QueryKind, Strategy] = {
    "page_specific": "look_up",
    "summary": "cover",
}
"""Retrieval strategy by kind of query, in every profile; ranking where none is named."""

PROFILES: Mapping[str, Profile] = {
    "default": Profile(
        by_kind={
            "exploratory": {"final_k": 12},
            "summary": {"max_sentences": 6, "final_k": 12},
        },
    ),
    "talks": Profile(
        embedder="bge-m3",
        store="sqlite-vec",
        reranker="bge-reranker-v2-m3",
        generator="anthropic",
        plan={
            "mode": "semantic",
            "candidates_per_leg": 20,
            "rerank_pool": 10,
            "final_k": 5,
            "mmr_lambda": 0.8,
            "context_window": 1,
            "max_context_tokens": 4000,
            "temperature": 0.3,
        },
        by_kind={
            "conceptual": {"hyde": True},
            "summary": {"final_k": 10, "rerank_pool": 20, "mmr_lambda": 0.9},
            "comparison": {"final_k": 8, "rerank_pool": 16, "mmr_lambda": 0.6},
            "exploratory": {"final_k": 8, "rerank_pool": 16, "mmr_lambda": 0.5},
        },
    ),
    "local": Profile(
        embedder="qwen3-embedding-0.6b",
        store="lancedb",
        reranker="answerai-colbert-small-v1",
        generator="ollama",
        small_llm="ollama:qwen3:0.6b",
        plan={
            "candidates_per_leg": 20,
            "dense_weight": 0.7,
            "rerank_pool": 20,
            "final_k": 10,
            "context_window": 5,
            "max_context_tokens": 4000,
        },
    ),
    "documents": Profile(
        store="pinecone",
        reranker="none",
        generator="openai",
        plan={
            "candidates_per_leg": 20,
            "fusion": "rrf",
            "rerank_pool": 10,
            "final_k": 10,
            "mmr_lambda": 0.5,
            "context_window": 0,
            "max_context_tokens": 6000,
            "max_tokens": 2048,
        },
    ),
    "book": Profile(
        embedder="voyage",
        store="chroma",
        reranker="cohere",
        generator="gemini",
        plan={
            "candidates_per_leg": 50,
            "fusion": "rrf",
            "rerank_pool": 50,
            "final_k": 5,
            "context_window": 0,
            "max_context_tokens": 4000,
            "expansion": "generated",
        },
        by_kind={"conceptual": {"hyde": True}},
    ),
    "lecture": Profile(
        embedder="text-embedding-3-large",
        store="chroma",
        reranker="ms-marco-minilm-l-6-v2",
        generator="openrouter",
        plan={
            "mode": "semantic",
            "candidates_per_leg": 10,
            "rerank_pool": 10,
            "final_k": 3,
            "context_window": 0,
        },
    ),
}

BOUNDS: Mapping[str, tuple[float, float]] = {
    "candidates_per_leg": (1, 1000),
    "dense_weight": (0, 1),
    "sparse_weight": (0, 1),
    "page_weight": (0, 1),
    "rrf_k": (1, 1000),
    "rerank_pool": (1, 2000),
    "final_k": (1, 100),
    "mmr_lambda": (0, 1),
    "max_per_document": (1, 100),
    "context_window": (0, 20),
    "max_context_tokens": (50, 1_000_000),
    "max_sentences": (1, 20),
    "deadline_ms": (1, 3_600_000),
    "expansion_ms": (1, 60_000),
    "rerank_weight": (0, 1),
    "duplicate_cosine": (0, 1),
    "temperature": (0, 2),
    "max_tokens": (1, 100_000),
    "history_turns": (0, 20),
    "max_usd": (0, 1000),
}
WHOLE = frozenset(
    name for name in BOUNDS if isinstance(getattr(Plan(), name), int) or name == "max_per_document"
)
CHOICES: Mapping[str, tuple[str, ...]] = {
    "fusion": get_args(Fusion),
    "context_order": get_args(ContextOrder),
    "strategy": get_args(Strategy),
    "expansion": get_args(Expansion),
    "policy": get_args(Policy),
    "cache": get_args(Caching),
}
RETIRED: Mapping[str, Mapping[Any, Any] | None] = {
    "smoothing": None,
    "expansion": {"local": "none"},
    "strategy": {"aspects": "rank"},
}
"""Fields that have no effect any more (None), and values with what replaces them."""
SWITCHES = ("classify", "hyde", "rerank", "read_doubtful", "prune", "generate", "judge")


def profile(name: str) -> Profile:
    """Return the profile of that name; raises ConfigError listing the available ones."""
    try:
        return PROFILES[name]
    except KeyError:
        names = ", ".join(PROFILES)
        raise ConfigError(f"There is no profile '{name}'. The profiles are: {names}.") from None


def make_plan(profile_name: str, *, overrides: Mapping[str, Any] | None = None) -> Plan:
    """Return the plan of a request; raises InputError for an unknown or invalid value.

    Later values override earlier ones: the defaults of `Plan`, the profile, ``overrides`` (where
    None means "not given"). The kind of the query changes it once more: `plan_for_kind`.
    """
    given = _known_fields(overrides or {})
    values = {**profile(profile_name).plan, **given}
    if "mode" in values:
        values["mode"] = _mode(str(values["mode"]))
    if "filters" in values:
        values["filters"] = _filters(values["filters"])
    for name, value in values.items():
        _check(name, value)
    return _within_limits(replace(Plan(profile=profile_name), **values))


def plan_for_kind(
    plan: Plan, kind: QueryKind, *, overrides: Mapping[str, Any] | None = None
) -> Plan:
    """Return the plan with the profile's values for a kind of query; ``overrides`` stay."""
    values = {
        "strategy": STRATEGIES.get(kind, "rank"),
        **PROFILES[plan.profile].by_kind.get(kind, {}),
    }
    given = {name for name, value in (overrides or {}).items() if value is not None}
    return _within_limits(
        replace(plan, **{name: value for name, value in values.items() if name not in given})
    )


def _within_limits(plan: Plan) -> Plan:
    """Bound the pool by the retrievers' limit, and the number of hits by the pool."""
    limit = 2 * plan.candidates_per_leg
    final_k = min(plan.final_k, limit)
    return replace(plan, rerank_pool=max(final_k, min(plan.rerank_pool, limit)), final_k=final_k)


def _mode(spelling: str) -> Mode:
    named = {str(name): mode for name, mode in MODE_SPELLINGS.items()}.get(spelling.casefold())
    if named is None:
        raise InputError(f"'{spelling}' is not a search mode. Use hybrid, semantic or keyword.")
    return named


def _filters(given: Any) -> tuple[Filter, ...]:
    if not isinstance(given, (tuple, list)) or not all(isinstance(each, Filter) for each in given):
        raise InputError(
            f"'filters' is a sequence of quoth.Filter, not {given!r}. Write filters in words as "
            "ask(…, filters={'kind': 'pdf'}) or Request(…, filters=('kind=pdf',))."
        )
    for each in given:
        if each.field not in get_args(FilterField):
            known = ", ".join(get_args(FilterField))
            raise InputError(f"'{each.field}' is no field of a filter. Use one of: {known}.")
        is_range = each.field in RANGES
        kinds = (int, float) if is_range else str
        if (
            each.operator != ("overlaps" if is_range else "in")
            or not isinstance(each.values, (tuple, list))
            or not (len(each.values) == 2 if is_range else each.values)
            or not all(isinstance(value, kinds) for value in each.values)
            or (is_range and not each.values[0] <= each.values[1])
        ):
            raise InputError(
                f"{each!r} is not a filter: {', '.join(RANGES)} take 'overlaps' and two numbers, "
                "the lower one first; every other field takes 'in' and a sequence of texts."
            )
    return tuple(given)


def _known_fields(overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given values; raises InputError for an unknown field.

    A field or value of `RETIRED` is warned of and left out or replaced.
    """
    given = {name: value for name, value in overrides.items() if value is not None}
    for name, replaced in RETIRED.items():
        if name not in given or (replaced is not None and given[name] not in replaced):
            continue
        warnings.warn(
            f"'{name}={given[name]}' has no effect any more and will be refused later.",
            DeprecationWarning,
            stacklevel=3,
        )
        if replaced is None:
            del given[name]
        else:
            given[name] = replaced[given[name]]
    known = {each.name for each in fields(Plan)} - {"profile"}
    for name in given:
        if name not in known:
            raise unknown_field(name, known=known)
    return given


def _check(name: str, value: Any) -> None:
    if name in CHOICES and value not in CHOICES[name]:
        raise InputError(f"'{name}' is one of {', '.join(CHOICES[name])}, not '{value}'.")
    if name in SWITCHES and not isinstance(value, bool):
        raise InputError(f"'{name}' is true or false, not {value!r}.")
    if value is None or name not in BOUNDS:
        return
    low, high = BOUNDS[name]
    kinds = (int,) if name in WHOLE else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds) or not low <= value <= high:
        number = "a whole number" if name in WHOLE else "a number"
        raise InputError(f"'{name}' must be {number} from {low:g} to {high:g}, not {value!r}.")
