"""Opens the query transformer of the settings, which another package brings."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from quoth.backends.registry import open_plugin, require
from quoth.core.protocols import QueryTransformer

if TYPE_CHECKING:
    from quoth.core.settings import Settings


def transformer_name(settings: Settings) -> str:
    """Return the name in the setting, empty where there is none."""
    name = settings.query_transformer.strip()
    return "" if name == "none" else name


def open_transformer(settings: Settings) -> QueryTransformer | None:
    """Open the query transformer, None where none is named; raises ConfigError."""
    if not (name := transformer_name(settings)):
        return None
    require("query_transformer", name)
    opened = open_plugin("query_transformer", name, settings, protocol=QueryTransformer)
    return cast(QueryTransformer, opened)
