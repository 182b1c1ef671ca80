"""Where in the home folder the files of one tenant lie."""

from __future__ import annotations

from pathlib import Path

from quoth.catalogue.rows import digest
from quoth.settings import Settings


def own(settings: Settings) -> str:
    """The name of a tenant's own folder among those of its kind."""
    return digest(settings.tenant)[:12]


def index_folder(settings: Settings) -> Path:
    """The folder of the tenant's indexes; what belongs to a table begins with its name."""
    return settings.home / "index" / own(settings)


def tokens_folder(settings: Settings) -> Path:
    """The folder of the tenant's token vectors."""
    return settings.home / "tokens" / own(settings)
