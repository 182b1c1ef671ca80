"""Where in the home folder the files of one tenant lie."""

from __future__ import annotations

from pathlib import Path

from quoth.core.settings import Settings
from quoth.store.rows import folder_name


def index_folder(settings: Settings) -> Path:
    """The folder of the tenant's indexes; what belongs to a table begins with its name."""
    return settings.home / "index" / folder_name(settings.tenant)


def tokens_folder(settings: Settings) -> Path:
    """The folder of the tenant's token vectors."""
    return settings.home / "tokens" / folder_name(settings.tenant)
