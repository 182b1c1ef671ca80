"""What a client says of a file that it sends."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from quoth.ingest.readers.metadata import SIDECAR, parse_sidecar
from quoth.interfaces.http.text_rules import Language, PathSegment, Text, WebAddress


class UploadMetadata(BaseModel):
    """Metadata of a file; it takes precedence over the metadata in the file."""

    model_config = ConfigDict(extra="forbid")

    name: str | None = Field(default=None, max_length=4096, examples=["lecture-3.pdf"])
    collection: Annotated[PathSegment, Field(min_length=1, max_length=100)] | None = None
    title: Annotated[Text, Field(max_length=500)] | None = None
    url: Annotated[WebAddress, Field(max_length=2000)] | None = None
    speaker: Annotated[Text, Field(max_length=200)] | None = None
    language: Annotated[Language, Field(max_length=20, examples=["en"])] | None = None
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
