"""What a client says of a file that it sends."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from quoth.ingest.readers.metadata import SIDECAR, normalize_language, normalize_url, parse_sidecar
from quoth.interfaces.http.schemas import CollectionName, require_path_segment, require_plain_text
from quoth.interfaces.links import is_web


class UploadMetadata(BaseModel):
    """Metadata of a file; it takes precedence over the metadata in the file."""

    model_config = ConfigDict(extra="forbid")

    name: str | None = Field(default=None, max_length=4096, examples=["lecture-3.pdf"])
    collection: CollectionName | None = None
    title: Annotated[str | None, Field(max_length=500)] = None
    url: Annotated[str | None, Field(max_length=2000)] = None
    speaker: Annotated[str | None, Field(max_length=200)] = None
    language: Annotated[str | None, Field(max_length=20, examples=["en"])] = None
    sidecar: Annotated[str | None, Field(max_length=8000)] = None
    """The text of the file's ``.meta.json``: it gives what the other fields do not."""

    @model_validator(mode="after")
    def _read_sidecar(self) -> Self:
        if self.sidecar is not None:
            said, _ = parse_sidecar(self.sidecar, name=SIDECAR)
            self.title = self.title or (said.title and said.title[:500])
            self.speaker = self.speaker or (said.speaker and said.speaker[:200])
            self.url = self.url or said.url
            self.language = self.language or said.language
        return self

    @field_validator("collection")
    @classmethod
    def _check_collection(cls, name: str | None) -> str | None:
        return None if name is None else require_path_segment(name)

    @field_validator("title", "speaker")
    @classmethod
    def _check_text(cls, text: str | None) -> str | None:
        return None if text is None else require_plain_text(text)

    @field_validator("url")
    @classmethod
    def _check_url(cls, text: str | None) -> str | None:
        if text is not None and not (is_web(require_plain_text(text)) and normalize_url(text)):
            raise ValueError("it is not a web address: write https://…")
        return text

    @field_validator("language")
    @classmethod
    def _check_language(cls, name: str | None) -> str | None:
        if name is not None and normalize_language(name) is None:
            raise ValueError("it is not a language: write en, fr or pt-BR")
        return name
