"""The commands that messages name, with the options for their collection and their store."""

from __future__ import annotations

import shlex
from functools import partial
from typing import TYPE_CHECKING

from quoth.core.plan import profile

if TYPE_CHECKING:
    from quoth.core.settings import Settings

DEFAULT = "default"
"""The collection and the profile that are used where none is named."""


def command_line(words: str, settings: Settings | None = None, *, collection: str = "") -> str:
    """Return a command of quoth with the options for its collection and its store.

    Without ``collection`` it is that of the settings, which is left out where they do not name it.
    The store is left out where it is the one that is used by default, or there are no settings;
    without them the collection "default" is left out, too. The home folder is not named here, as
    clients of the service read such messages, too; the command line adds it (`Screen.in_home`).
    """
    options = []
    if settings is None:
        collection = "" if collection == DEFAULT else collection
    elif not collection and "collection" in settings.model_fields_set:
        collection = settings.collection
    if collection:
        options += ["--collection", collection]
    if settings is not None:
        store = settings.store or profile(settings.profile).store
        if store != profile(DEFAULT).store:
            options += ["--store", store]
    return " ".join(["quoth", *map(shlex.quote, options), words])


REINDEX = partial(command_line, "reindex")
"""Returns the command that rebuilds the index of the default collection."""
