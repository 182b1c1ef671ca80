"""What came in, seen as a whole: what tells one upload from another, and what is cleared up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from quoth.pipeline.add import PIPELINE, Given
from quoth.pipeline.components import Parts
from quoth.store.blobs import Blobs, stored_name
from quoth.store.database import Database
from quoth.store.rows import digest
from quoth.store.uploads import Arrivals, Needs

KEPT_HOURS = 24.0
"""Time after which an upload that nobody went on with is given up."""


def blobs_of(parts: Parts) -> Blobs:
    """The files of the tenant."""
    return Blobs(parts.settings.home, tenant=parts.settings.tenant)


def arrivals_of(parts: Parts) -> Arrivals:
    """The tasks of the tenant, for whoever sends files."""
    return Arrivals.of(parts.catalogue)


def content_key(parts: Parts, *, collection: str, sha256: str, given: Given) -> str:
    """Give the id of a whole upload: the same for all that would make the same document."""
    said = ["" if each is None else f"={each}" for each in given.cleaned().values()]
    version = PIPELINE, str(parts.settings.chunk_tokens)
    return digest("upload", parts.settings.tenant, collection, sha256, *version, *said)


def given_of(said: Mapping[str, str], *, name: str | None = None) -> Given:
    """What was said about a file that came in under this name."""
    return Given(
        title=said.get("title"),
        url=said.get("url"),
        speaker=said.get("speaker"),
        language=said.get("language"),
        name=name,
    )


def forget_documents(parts: Parts, ids: Sequence[str]) -> None:
    """Forget how removed documents came in, and delete the files that nothing else uses."""
    arrivals_of(parts).forget(ids)
    settings = parts.settings
    clear_up(parts.catalogue.database, home=settings.home, tenant=settings.tenant)


def clear_up(database: Database, *, home: Path, tenant: str, hours: float = KEPT_HOURS) -> int:
    """Give up uploads that stand still and delete files that nothing uses; gives their number."""
    blobs = Blobs(home, tenant=tenant)

    def unused(needs: Needs) -> int:
        used = {blobs.path(sha256, name=name).name for sha256, name in needs.tasks}
        used |= {name for name in map(stored_name, needs.sources) if name}
        blobs.clear_parts(needs.uploads, older_s=hours * 3600)
        return blobs.clear(used)

    given_up = datetime.now(UTC) - timedelta(hours=hours)
    before = given_up.isoformat(timespec="milliseconds")
    return Arrivals(database, tenant=tenant).clear(unused, before=before)
