"""Read sound and video files: transcribed in a child process, minute by minute.

What was transcribed is kept beside the library after every minute, so that work which was broken
off goes on there.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from quoth.core.errors import DocumentError
from quoth.core.replace_file import replacing
from quoth.core.types import Json, ParsedDocument
from quoth.ingest.readers.media import MEDIA_SUFFIXES, captions_beside
from quoth.ingest.readers.metadata import EMPTY, Metadata, file_title, read_beside
from quoth.ingest.readers.page_links import PageLinks
from quoth.ingest.sandbox.parent import ParserPool

VERSION = 3
"""Of what is kept: transcripts of version 1 may be nonsense, as one thread did the work of two;
sentences of version 2 begin in the pause before them."""
STRETCH_S = 60.0
"""Seconds of sound that are transcribed at once."""


@dataclass(frozen=True, slots=True)
class SpeechSettings:
    """Which module transcribes, with which weights, and where its work is kept.

    ``problem`` is why there is no speech to text here, if so.
    """

    module: str
    folder: Path
    work: Path
    threads: int = 2
    problem: str = ""


class SpeechReader:
    """Reads files by the parsers of a pool, and recordings by their transcript.

    ``progress`` receives a line for every minute that was transcribed.
    """

    def __init__(
        self,
        files: ParserPool,
        speech: ParserPool,
        settings: SpeechSettings,
        *,
        progress: Callable[[str], None] = lambda _line: None,
    ) -> None:
        self.files = files
        self._speech = speech
        self._settings = settings
        self._progress = progress

    async def read(self, path: Path, given: Metadata = EMPTY) -> ParsedDocument:
        """Read a file as `ParserPool.read` does; captions beside a recording are its transcript."""
        if path.suffix.lower() not in MEDIA_SUFFIXES:
            return await self.files.read(path, given)
        beside, warnings = await asyncio.to_thread(read_beside, path)
        about = given.merged_with(beside)
        captions = captions_beside(path)
        if captions is not None:
            return await self.files.read(captions, about)
        transcript = await self._transcribe(path, language=about.language)
        reading = await self.files.read(transcript, about)
        title = about.title or file_title(path.name)
        return replace(reading, title=title, warnings=(*warnings, *reading.warnings))

    async def links(self, path: Path, address: str) -> PageLinks:
        """Read the links of a page as `ParserPool.links` does."""
        return await self.files.links(path, address)

    async def close(self) -> None:
        """End the processes."""
        await self._speech.close()
        await self.files.close()

    async def _transcribe(self, path: Path, *, language: str | None) -> Path:
        """Return the file of the transcript, made of what is there and of the minutes after it."""
        if self._settings.problem:
            raise DocumentError("unsupported", f"{path.name}: {self._settings.problem}")
        key = await asyncio.to_thread(self._key, path, language)
        done = self._settings.work / f"{key}.json"
        if done.is_file():
            return done
        partial = done.with_suffix(".part.json")
        work = await asyncio.to_thread(_load, partial)
        while work["next"] is not None:
            answer = await self._speech.run(
                "transcribe",
                path,
                decode=lambda answer: answer,
                module=self._settings.module,
                folder=str(self._settings.folder),
                threads=self._settings.threads,
                language=language or work["language"],
                start=work["next"],
                length=STRETCH_S,
            )
            if answer["next"] is not None and answer["next"] <= work["next"]:
                raise DocumentError("damaged", f"{path.name} has sound whose times go backwards.")
            work = _extended(work, answer)
            await asyncio.to_thread(_store, partial, work)
            at = work["next"] if work["next"] is not None else answer["seconds"]
            self._progress(
                f"{path.name}: {at / 60:.0f} of {answer['seconds'] / 60:.0f} minutes transcribed"
            )
        if not work["segments"]:
            raise DocumentError("empty", f"Nobody speaks in {path.name}; there is nothing to read.")
        await asyncio.to_thread(_store, done, work)
        partial.unlink(missing_ok=True)
        return done

    def _key(self, path: Path, language: str | None) -> str:
        """Return a name that depends on the sound, the weights and the language."""
        known = sha256(f"{VERSION}\n{self._settings.folder.name}\n{language}\n".encode())
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                known.update(block)
        return known.hexdigest()[:32]


def _extended(work: Json, answer: Json) -> Json:
    segments = [
        {"start": each["start"], "end": each["end"], "text": each["text"]}
        for each in answer["segments"]
    ]
    return {
        "language": work["language"] or (answer["language"] if segments else None),
        "next": answer["next"],
        "segments": [*work["segments"], *segments],
    }


def _load(path: Path) -> dict[str, Any]:
    try:
        work = json.loads(path.read_text(encoding="utf-8"))
        return {key: work[key] for key in ("language", "next", "segments")}
    except (OSError, ValueError, KeyError, TypeError):
        return {"language": None, "next": 0.0, "segments": []}


def _store(path: Path, work: Json) -> None:
    with replacing(path) as draft:
        draft.write_text(json.dumps(work, ensure_ascii=False), encoding="utf-8")
