"""Settings with their defaults and bounds; `load_settings` reads them from where they are set."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from platformdirs import user_cache_path, user_data_path
from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from quoth.core.settings_values import (
    check_database,
    check_hub,
    check_key,
    check_networks,
    check_public_url,
    check_text,
)

PREFIX = "QUOTH_"
PROVIDER_VARIABLES: Mapping[str, tuple[str, ...]] = {
    "anthropic_api_key": ("ANTHROPIC_API_KEY",),
    "openai_api_key": ("OPENAI_API_KEY",),
    "gemini_api_key": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "openrouter_api_key": ("OPENROUTER_API_KEY",),
    "cohere_api_key": ("COHERE_API_KEY", "CO_API_KEY"),
    "voyage_api_key": ("VOYAGE_API_KEY",),
    "chroma_api_key": ("CHROMA_API_KEY",),
    "milvus_token": ("MILVUS_TOKEN",),
    "pinecone_api_key": ("PINECONE_API_KEY",),
    "s3_access_key": ("AWS_ACCESS_KEY_ID",),
    "s3_secret_key": ("AWS_SECRET_ACCESS_KEY",),
    "qdrant_api_key": ("QDRANT_API_KEY",),
}
"""The environment variables that providers define for their own API keys."""


class Settings(BaseSettings):
    """Everything that is set once for a process; per-request choices are in `Plan`."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_ignore_empty=True,
        extra="forbid",
        frozen=True,
        validate_default=False,
    )

    home: Path = Field(default_factory=lambda: user_data_path("quoth"))
    """The folder that holds the catalogue, the indexes and ``quoth.toml``."""
    models: Path = Field(default_factory=lambda: user_cache_path("quoth") / "models")
    """The folder in which models are built once."""
    models_hub: str = Field(default="https://huggingface.co", max_length=500)
    """The hub that `quoth models get` fetches from, or a mirror of it."""
    collection: str = Field(default="default", min_length=1, max_length=100)
    """The default collection."""
    profile: str = "default"
    """The named set of defaults: default, talks, local, documents, book or lecture."""
    embedder: str | None = None
    """An embedder by name, a folder with an ONNX model, or a provider's model as
    PROVIDER:MODEL[@ADDRESS]; None for the profile's own. Providers: openai, openrouter, voyage,
    cohere, gemini, ollama, openai-compatible."""
    embedder_dimensions: int | None = Field(default=None, ge=8, le=65_536)
    """Numbers of a vector of a provider's embedder: fewer than the model's own where it can, or
    those of a model that quoth does not know."""
    documents_may_leave: bool = False
    """Whether documents, passages or their vectors may be sent to an embedder, a reranker or a
    store on another machine; without it such a component is refused at the start."""
    store: str | None = None
    """The vector store as NAME or NAME@ADDRESS; None for the profile's own. In the home folder:
    lancedb, sqlite-vec, chroma, qdrant, milvus; on a server: chroma, qdrant, milvus, pgvector,
    pinecone; in a bucket: lancedb@s3://BUCKET/FOLDER."""
    files: str | None = Field(default=None, max_length=500)
    """Where uploaded files are kept, as s3://BUCKET/FOLDER; None for the home folder."""
    s3_endpoint: str | None = Field(default=None, pattern="^https?://[^/@]+/?$")
    """The address of S3-compatible storage, as in https://s3.example.org; None for AWS."""
    s3_region: str = Field(default="us-east-1", max_length=50)
    """The region of the buckets."""
    s3_access_key: SecretStr | None = None
    """The id of the key for the buckets; also found as AWS_ACCESS_KEY_ID."""
    s3_secret_key: SecretStr | None = None
    """The secret of that key; also found as AWS_SECRET_ACCESS_KEY."""
    store_seconds: float = Field(default=5, gt=0, le=3600)
    """Time limit of one search in a store other than LanceDB; after it keywords alone decide."""
    reranker: str | None = None
    """Rerankers by name, folder or PROVIDER:MODEL[@ADDRESS] (cohere, voyage), separated by commas,
    each a fallback of the one before; none for no reranking; None for the profile's own."""
    generator: str | None = None
    """Language models as PROVIDER, PROVIDER:MODEL or PROVIDER:MODEL@ADDRESS, separated by commas,
    each a fallback of the one before; none for extractive answers; None for the profile's own.
    Providers: anthropic, openai, gemini, openrouter, ollama, openai-compatible."""
    small_llm: str | None = None
    """A smaller language model for reading queries, rewording them and hypothetical answers, named
    as in ``generator``; None for the generator itself, or the profile's own."""
    request_llms: str = Field(default="", max_length=2000)
    """Further language models, named as in ``generator`` and separated by commas, of which a
    request to the service may name one (``llm``)."""
    request_profiles: str = Field(default="", max_length=500)
    """Profiles, separated by commas, of which a request to the service may name one; it takes their
    defaults of a query, and keeps the components that are in use."""
    moderation: str = Field(default="off", max_length=2000)
    """What checks questions, and what a language model wrote before it is shown: off, rules (the
    list in ``moderation_words``), openai[:MODEL][@ADDRESS], or several separated by commas."""
    moderation_words: Path | None = None
    """A file with the words and phrases that the moderation by rules flags, one on each line."""
    page_embedder: str | None = None
    """A model for pictures of pages (CLIP or SigLIP): a folder with its ONNX files, by path or by
    its name in the models folder; none or None for none."""
    rerank_seconds: float = Field(default=2, gt=0, le=3600)
    """Time limit of one reranker call; after it the passages keep the order of the search."""
    gpu: bool = True
    """Whether a reranker of this machine runs on a graphics processor where the package onnxruntime
    has a provider for it (CUDA, ROCm), with the model_fp16.onnx of its folder if that is there."""
    query_transformer: str = Field(default="", max_length=200)
    """What rewords a query before it is searched: the name of one that another package brings
    (entry point quoth.query_transformers); empty for none."""
    transform_seconds: float = Field(default=2, gt=0, le=3600)
    """Time limit of the query transformer; after it the query is searched as it was."""
    judge: str | None = None
    """The entailment judge for verification: llm (the language model itself) or a folder with an
    ONNX model for entailment, by path or by its name in the models folder; None for none."""
    llm_base_url: str | None = None
    """The address of the one language model that is named, or of the openai-compatible one."""
    llm_api_key: SecretStr | None = None
    """The key of an openai-compatible server or of Ollama, if it needs one."""
    anthropic_api_key: SecretStr | None = None
    """The key of Anthropic; also found as ANTHROPIC_API_KEY."""
    openai_api_key: SecretStr | None = None
    """The key of OpenAI; also found as OPENAI_API_KEY."""
    gemini_api_key: SecretStr | None = None
    """The key of the Gemini API; also found as GEMINI_API_KEY or GOOGLE_API_KEY."""
    openrouter_api_key: SecretStr | None = None
    """The key of OpenRouter; also found as OPENROUTER_API_KEY."""
    cohere_api_key: SecretStr | None = None
    """The key of Cohere; also found as COHERE_API_KEY or CO_API_KEY."""
    voyage_api_key: SecretStr | None = None
    """The key of Voyage; also found as VOYAGE_API_KEY."""
    chroma_api_key: SecretStr | None = None
    """The key of a Chroma server; also found as CHROMA_API_KEY."""
    milvus_token: SecretStr | None = None
    """The token of a Milvus server; also found as MILVUS_TOKEN."""
    pinecone_api_key: SecretStr | None = None
    """The key of Pinecone; also found as PINECONE_API_KEY."""
    qdrant_api_key: SecretStr | None = None
    """The key of a Qdrant server; also found as QDRANT_API_KEY."""
    llm_window: int | None = Field(default=None, ge=512, le=100_000_000)
    """Context length of the language model in tokens, input and output; None for the provider's
    usual."""
    llm_tokenizer: Path | None = None
    """The language model's tokenizer.json, for exact token counts; None for an over-estimate."""
    llm_first_seconds: float = Field(default=10, gt=0, le=3600)
    """Time limit of a language model for its first word, and between words. Unless it is set, a
    local model has a second more for its first word for every 50 tokens of the prompt."""
    llm_seconds: float = Field(default=30, gt=0, le=3600)
    """Time limit of a language model for a whole answer; unless it is set, a local model has the
    same addition."""
    llm_retries: int = Field(default=2, ge=0, le=10)
    """Retries of a call to a language model after a transient failure."""
    llm_proxy: SecretStr | None = None
    """The proxy for language models; those of the environment are not used."""
    prompts: dict[str, str] = {}
    """The operator's wordings of prompts by name, and under corpus_description a description of the
    documents: a table of the file."""
    plan: dict[str, Any] = {}
    """Defaults for every query that override the profile's, by the names of the plan's fields: a
    table of the file."""
    token_vectors: bool = True
    """Whether adding also stores token vectors, so that late interaction is fast."""
    tenant: str = Field(default="local", min_length=1, max_length=100)
    """The owner of the data; one built-in tenant serves local use."""
    database: SecretStr | None = None
    """The PostgreSQL server that holds the catalogue, as postgresql://USER:PASSWORD@HOST/DATABASE;
    None for a file in the home folder."""
    tokens_per_day: int | None = Field(default=None, ge=0)
    """Language model tokens, input and output, that one tenant may use per day (UTC); beyond that
    its answers are extractive. None for no limit."""
    history: Literal["off", "hash", "full"] = "full"
    """What is stored of a query: everything (full), a hash with ids and scores but no texts (hash),
    or nothing (off)."""
    threads: int = Field(default_factory=lambda: os.cpu_count() or 1, ge=1, le=256)
    """Threads for embedding; two of them compute one text."""
    on: str = Field(default="", pattern="^(|ray|ray://[^/@]+)$")
    """Where documents are read and embedded: ray for a cluster on this machine, ray://HOST:PORT for
    another one; nothing for this process."""
    vector_index_rows: int | None = None
    """Deprecated and without effect: an index of any size is searched by segments."""
    chunk_tokens: int = Field(default=200, ge=32, le=2000)
    """Target length of a chunk, in tokens of the embedder; documents that are there keep their
    chunks until they are added again."""
    youtube_player: bool = False
    """Whether the web app offers YouTube's player beside the transcript of a talk, which then loads
    from YouTube; without it the talk is a link."""
    max_file_mb: int = Field(default=500, ge=1)
    """Maximum size of a file."""
    allow_urls: bool = False
    """Whether the service fetches web addresses that its users add, from the public internet only;
    the command line does unless this is set to false."""
    watched: dict[str, Path] = {}
    """Folders that the service keeps collections of its own tenant equal to, by collection: a table
    of the file. `quoth serve --watch FOLDER` names one for the default collection."""
    parser_seconds: float = Field(default=120, gt=0)
    """Time limit for parsing one file, in CPU seconds; the limit in wall time is four times as
    long."""
    parser_memory_mb: int = Field(default=2048, ge=256)
    """Memory limit for parsing one file."""
    speech_model: str = "whisper-base"
    """The folder with the weights for speech to text (whisper for CTranslate2), by path or by its
    name in the models folder."""
    speech_model_small: str = "whisper-tiny"
    """The folder with smaller weights, which live speech takes when recognition lags."""
    speech_model_english: str = "moonshine-base"
    """The folder with weights of Moonshine; live speech in English takes them where they are."""
    live_keywords: bool = False
    """Whether a language model names keywords of what is said in a live session, before a window
    ends, with which it is looked up too."""
    speech_at_once: int = Field(default=2, ge=0)
    """Number of microphones that the service transcribes at once; 0 offers none."""
    speech_memory_mb: int = Field(default=4096, ge=512)
    """Memory limit for transcribing a recording, or one microphone."""
    hosts: str = Field(default="", max_length=2000)
    """Host names, separated by commas, under which the service is reached, in addition to those of
    this machine, as in the address line of its users' browsers."""
    public_url: str | None = Field(default=None, max_length=500)
    """The address under which users reach the service, with its base path where it has one, as in
    https://quoth.example.org/library: links begin with it, and its host name is accepted."""
    link_minutes: float = Field(default=15, gt=0, le=1440)
    """How long a signed link of a citation opens its document."""
    trusted_proxies: str = Field(default="127.0.0.1,::1", max_length=2000)
    """Addresses or networks of reverse proxies, separated by commas, whose X-Forwarded-For or
    Forwarded header names the client."""
    cors_origins: str = Field(default="", max_length=2000)
    """Origins of web apps elsewhere that may use the service from a browser, separated by commas,
    as in https://app.example.org, or * for all; they send a key, never a session's cookie."""
    keys_needed: Literal["auto", "always", "never"] = "auto"
    """Whether callers of the service need a key: not on this machine before the first key was made
    (auto), always, or never on this machine (never)."""
    key_questions_per_minute: int = Field(default=60, ge=1, le=1_000_000)
    """Queries and other expensive requests of one key per minute."""
    key_questions_burst: int = Field(default=20, ge=1, le=1_000_000)
    """Queries that one key may send in a burst."""
    key_questions_at_once: int = Field(default=4, ge=1, le=100_000)
    """Concurrent queries of one key."""
    key_requests_per_minute: int = Field(default=1200, ge=1, le=10_000_000)
    """Other requests of one key per minute: reading, parts of files."""
    key_requests_at_once: int = Field(default=32, ge=1, le=100_000)
    """Other concurrent requests of one key."""
    key_waiting: int = Field(default=32, ge=0, le=100_000)
    """Requests of one key that wait while so many are in flight; more are refused at once (429)."""
    wrong_keys_per_minute: int = Field(default=10, ge=1, le=1_000_000)
    """Wrong keys that one address may try per minute."""
    tenant_documents: int | None = Field(default=None, ge=1)
    """Documents that one tenant may store; None for no limit, as for the next four."""
    tenant_chunks: int | None = Field(default=None, ge=1)
    """Chunks of documents after which a tenant may add no more."""
    tenant_mb: int | None = Field(default=None, ge=1)
    """Megabytes of uploaded files that one tenant may store."""
    tenant_uploads: int | None = Field(default=None, ge=1)
    """Uploads of one tenant that may be unfinished at once."""
    tenant_questions_per_day: int | None = Field(default=None, ge=1)
    """Queries that one tenant may send per day (UTC), over all processes within seconds."""
    max_body_kb: int = Field(default=1024, ge=1, le=1_048_576)
    """Maximum size of a request body, except files."""
    max_upload_mb: int = Field(default=100, ge=1, le=1_048_576)
    """Maximum size of an uploaded file."""
    body_seconds: float = Field(default=30, gt=0, le=3600)
    """Time limit for receiving a request body, or one part of a file."""
    tenants_open: int = Field(default=256, ge=1, le=100_000)
    """Tenants whose files the service keeps open."""
    questions_at_once: int | None = Field(default=None, ge=1, le=10_000)
    """Concurrent queries of the service; None for two per processor, and more where it waits for a
    language model."""
    questions_waiting: int = Field(default=1024, ge=0, le=100_000)
    """Maximum queries in the queue; more are refused at once (503)."""
    wait_seconds: float = Field(default=10, ge=0, le=600)
    """Maximum time of a request in a queue before it is refused (503, or 429 in its key's)."""
    stop_seconds: float = Field(default=4, ge=0, le=600)
    """Time for requests to finish when the service stops; container runtimes kill after 10 s."""
    crash_at: int | None = Field(default=None, ge=1)
    """For crash tests: the process kills itself at this store operation."""

    _database = field_validator("database")(check_database)
    _proxies = field_validator("trusted_proxies")(check_networks)
    _public_url = field_validator("public_url")(check_public_url)
    _models_hub = field_validator("models_hub")(check_hub)
    _names = field_validator("collection", "tenant")(check_text)
    _keys = field_validator("llm_api_key", *PROVIDER_VARIABLES)(check_key)

    @field_validator("watched")
    @classmethod
    def _be_whole_paths(cls, folders: dict[str, Path]) -> dict[str, Path]:
        return {name: folder.expanduser().absolute() for name, folder in folders.items()}

    @property
    def catalogue(self) -> Path | str:
        """Return the catalogue's file, or the URL of its server, which is a secret."""
        if self.database is None:
            return self.home / "catalogue.sqlite"
        return self.database.get_secret_value()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Order the sources: caller, then environment; `load_settings` adds the file below both."""
        return (init_settings, env_settings)
