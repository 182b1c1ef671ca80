"""Folders of one tenant in the data directory."""

from __future__ import annotations

from pathlib import Path

from quoth.core.settings import Settings
from quoth.store.rows import folder_name


def index_folder(settings: Settings) -> Path:
    """Return the folder of the tenant's indexes; file names begin with their table's name."""
    return settings.home / "index" / folder_name(settings.tenant)


def tokens_folder(settings: Settings) -> Path:
    """Return the folder of the tenant's token vectors."""
    return settings.home / "tokens" / folder_name(settings.tenant)


def mirrors_folder(settings: Settings) -> Path:
    """Return the folder of what was fetched for the tenant, a folder for each collection."""
    return settings.home / "mirrors" / folder_name(settings.tenant)
