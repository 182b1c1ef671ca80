"""Request bodies: strict, without unknown fields, in snake_case or camelCase.

Text with lone surrogates or control characters is refused, and so is a number of the wrong kind.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar, get_args

from fastapi import Path, Query
from fastapi.exceptions import RequestValidationError
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic.config import JsonDict
from starlette.exceptions import HTTPException

from quoth.core.plan import ModeName, Policy
from quoth.core.types import DocumentKind
from quoth.interfaces.http.text_rules import QUESTION, Line, NewCollectionName, Text, schema_pattern
from quoth.query.understand import validate

Fields = TypeVar("Fields", bound=BaseModel)
BYTES: Mapping[str, Any] = {"schema": {"type": "string", "format": "binary"}}
"""The schema of a file."""


def text_content(media_types: Iterable[str]) -> dict[str, Any]:
    """Return the description of texts of these media types; JSON is read as an object."""
    return {
        kind.partition(";")[0]: {"schema": {"type": "object" if "json" in kind else "string"}}
        for kind in media_types
    }


def file_content(media_types: Iterable[str]) -> dict[str, Any]:
    """Return the description of files of these media types, by any client to be read as bytes."""
    return dict.fromkeys(("application/octet-stream", *media_types), BYTES)


MAX_TOP_K = 50
MAX_PAGE_SIZE = 100
FilterKey = Literal[
    "document",
    "kind",
    "language",
    "speaker",
    "page",
    "page_number",
    "time",
    "chapter",
    "section",
    "segment",
    "date",
]
METADATA_KEY = r"^meta\..{1,64}$"
MetadataKey = Annotated[str, Field(pattern=METADATA_KEY)]
FILTER_NAME = rf"^(?:{'|'.join(get_args(FilterKey))})$|{METADATA_KEY}"


def require_keys(given: object) -> object:
    """Return filters; raises ValueError for a key that is none."""
    keys = get_args(FilterKey)
    for key in given if isinstance(given, dict) else ():
        if key not in keys and not re.fullmatch(METADATA_KEY, str(key)):
            raise ValueError(
                f"'{str(key)[:60]}' is not a filter. There are: {', '.join(keys)}, and meta.KEY "
                "for your own metadata."
            )
    return given


def _as_text(value: object) -> object:
    return str(value).lower() if isinstance(value, bool | int | float) else value


FilterText = Annotated[Text, Field(min_length=1, max_length=500)]
FilterValue = Annotated[
    FilterText, BeforeValidator(_as_text, json_schema_input_type=FilterText | int | float | bool)
]
"""What a filter is compared with; a number and a boolean are compared as their texts."""


def require_integer(number: object) -> object:
    """Return an integer; raises ValueError for any other value, true and 1.0 included."""
    if type(number) is not int:
        raise ValueError("it is not a whole number")
    return number


Id = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,40}$")]
CollectionName = Annotated[Line, Field(min_length=1, max_length=100, examples=["default"])]
OneId = Annotated[Id, Path(examples=["q_8f3a2b1c4d5e"])]
OneCollection = Annotated[
    Line, Path(min_length=1, max_length=100, examples=["default"], description="Its name.")
]
Skip = Annotated[int, Query(ge=0, le=1_000_000, description="How many to leave out.")]
Limit = Annotated[int, Query(ge=1, le=MAX_PAGE_SIZE, description="Maximum number of results.")]
Words = Annotated[
    Text,
    Query(max_length=200, description="Only what holds each of these words."),
]
InCollection = Annotated[
    Line | None, Query(min_length=1, max_length=100, description="Only of this collection.")
]


def read_json(body: bytes, model: type[Fields]) -> Fields:
    """Parse a JSON body that FastAPI does not parse, with the same errors.

    Raises RequestValidationError, and HTTPException (400) for invalid UTF-8 or too deep nesting.
    """
    try:
        return model.model_validate(json.loads(body))
    except json.JSONDecodeError as error:
        wrong = {"type": "json_invalid", "loc": ("body", error.pos), "msg": error.msg}
        raise RequestValidationError([wrong]) from error
    except ValidationError as error:
        found = error.errors(include_url=False)
        placed = [{**detail, "loc": ("body", *detail["loc"])} for detail in found]
        raise RequestValidationError(placed) from error
    except (ValueError, RecursionError) as error:
        raise HTTPException(400) from error


class Body(BaseModel):
    """A body whose fields may be written in camelCase too."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)
    field_aliases: ClassVar[Mapping[str, str]] = {}
    """Other names of fields, by which they may be given too."""

    @model_validator(mode="before")
    @classmethod
    def _in_snake_case(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        known = {to_camel(name): name for name in cls.model_fields} | dict(cls.field_aliases)
        named: dict[Any, Any] = {}
        for name, value in given.items():
            field = name if name in cls.model_fields else known.get(name, name)
            if field in named:
                raise ValueError(f"'{field}' is given twice, under two names")
            # To JSON, 2.0 is a whole number.
            whole = isinstance(value, float) and value.is_integer()
            named[field] = int(value) if whole else value
        return named


class ScopeRequest(Body):
    """What to search: collections by name, documents and sessions by id, kinds of documents.

    A session stands for the document that it was added as after it ended.
    """

    collections: Annotated[list[CollectionName], Field(max_length=20)] = []
    documents: Annotated[list[Id], Field(max_length=100)] = []
    sessions: Annotated[list[Id], Field(max_length=100)] = []
    kinds: Annotated[list[DocumentKind], Field(max_length=20)] = []


class PreviousTurn(Body):
    """A previous turn of the conversation."""

    question: Annotated[Text, Field(min_length=1, max_length=1000)]
    answer: Annotated[Text, Field(max_length=20_000)] = ""


PLACES: dict[str, JsonDict] = {
    "collection": {"type": "string"},
    "upload_id": {"type": "string"},
    "scope": {"type": "object"},
}
"""What may be named as the place of a search, one of them at most."""


def say_one_place(schema: JsonDict) -> None:
    """Say in the schema of a search that it names one place at most."""
    schema["not"] = {
        "anyOf": [
            {"required": [one, other], "properties": {one: PLACES[one], other: PLACES[other]}}
            for one, other in combinations(PLACES, 2)
        ]
    }


class SearchRequest(Body):
    """A query, what to search, and how."""

    model_config = ConfigDict(json_schema_extra=say_one_place)
    field_aliases: ClassVar[Mapping[str, str]] = {
        "question": "query",
        "rerankerTopK": "rerank_pool",
        "reranker_top_k": "top_k",
        "retrieval_method": "mode",
        "retrievalMethod": "mode",
        "retrievalMode": "mode",
        "searchType": "mode",
        "retrievalK": "candidates_per_leg",
        "contextWindowSize": "context_window",
        "aiRerank": "rerank",
        "hybrid_alpha": "dense_weight",
        "hybridAlpha": "dense_weight",
    }
    query: Annotated[
        str,
        Field(min_length=3, max_length=1000),
        AfterValidator(validate),
        schema_pattern(QUESTION),
    ]
    collection: CollectionName | None = None
    upload_id: Annotated[Id | None, Field(description="Only in the document of this upload.")] = (
        None
    )
    scope: ScopeRequest | None = None
    filters: Annotated[
        dict[FilterKey | MetadataKey, FilterValue],
        Field(
            max_length=20,
            examples=[{"speaker": "Ada", "page": "12-14", "meta.team": "legal"}],
            json_schema_extra={"propertyNames": {"pattern": FILTER_NAME}},
        ),
        BeforeValidator(require_keys),
    ] = {}
    top_k: Annotated[int | None, Field(ge=1, le=MAX_TOP_K)] = None
    mode: ModeName | None = None
    mmr_lambda: Annotated[
        float | None,
        Field(ge=0, le=1, allow_inf_nan=False, description="Weight of relevance; 1 is off."),
    ] = None
    dense_weight: Annotated[float | None, Field(ge=0, le=1, allow_inf_nan=False)] = None
    rerank: bool | None = None
    rerank_pool: Annotated[int | None, Field(ge=1, le=200)] = None
    candidates_per_leg: Annotated[
        int | None, Field(ge=1, le=1000, description="Passages that each retriever finds.")
    ] = None
    context_window: Annotated[
        int | None, Field(ge=0, le=20, description="Passages before and after each one found.")
    ] = None
    max_ms: Annotated[int | None, Field(ge=1, le=600_000)] = None
    history: Annotated[list[PreviousTurn], Field(max_length=20)] = []

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if sum(getattr(self, place) is not None for place in PLACES) > 1:
            raise ValueError("give one of collection, upload_id and scope")
        return self


class AskRequest(SearchRequest):
    """A query to be answered."""

    stream: bool = False
    policy: Policy | None = None
    llm: Annotated[
        Annotated[Text, Field(max_length=200)] | None,
        Field(
            description="`none` answers in the sources' own words; else the model in use, or one "
            "that the setting `request_llms` allows, as PROVIDER:MODEL."
        ),
    ] = None
    profile: Annotated[
        Annotated[Text, Field(max_length=100)] | None,
        Field(description="A profile that the setting `request_profiles` allows."),
    ] = None
    temperature: Annotated[float | None, Field(ge=0, le=2, allow_inf_nan=False)] = None
    max_tokens: Annotated[int | None, Field(ge=1, le=16_384)] = None
    max_context_tokens: Annotated[int | None, Field(ge=50, le=100_000)] = None
    max_usd: Annotated[float | None, Field(ge=0, le=1000, allow_inf_nan=False)] = None
    cache: Literal["none", "exact", "semantic"] | None = None
    store: Annotated[bool, Field(description="False stores nothing of this query.")] = True
    session: Annotated[
        str,
        Field(pattern=r"^[A-Za-z0-9_.:-]{0,100}$", description="Names the conversation."),
    ] = ""


class NewCollection(Body):
    """A new collection."""

    name: Annotated[NewCollectionName, Field(examples=["default"])]


class FeedbackRequest(Body):
    """The rating of an answer, how satisfied its reader is, or both."""

    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": [
                {"required": ["rating"], "properties": {"rating": {"enum": [1, -1]}}},
                {
                    "required": ["satisfaction"],
                    "properties": {"satisfaction": {"type": "integer", "minimum": 1, "maximum": 5}},
                },
            ]
        }
    )

    query_id: Id
    rating: Annotated[
        Annotated[Literal[1, -1], BeforeValidator(require_integer)] | None,
        Field(
            description="1 for good, -1 for bad. Without it, it is 1 for a `satisfaction` above 3, "
            "-1 below 3, and 0 for 3."
        ),
    ] = None
    satisfaction: Annotated[
        Annotated[int, BeforeValidator(require_integer), Field(ge=1, le=5)] | None,
        Field(description="From 1, not satisfied at all, to 5, very satisfied."),
    ] = None
    comment: Annotated[Text, Field(max_length=2000)] = ""

    @model_validator(mode="after")
    def _rates(self) -> Self:
        if self.rating is None and self.satisfaction is None:
            raise ValueError("give a rating, 1 or -1, or a satisfaction from 1 to 5")
        return self
