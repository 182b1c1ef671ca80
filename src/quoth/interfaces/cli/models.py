"""`quoth models`: what there is, and building the default model ahead of its first use."""

from __future__ import annotations

from pathlib import Path

from quoth.bootstrap import DEFAULT_EMBEDDER, build_default_model, default_model
from quoth.core.errors import InputError
from quoth.interfaces.cli.session import DONE, CliSession


async def models_command(session: CliSession, action: str, *, weights: Path | None) -> int:
    """Show or build the default model; raises InputError and ConfigError."""
    if action not in ("list", "build"):
        raise InputError(f"'{action}' is not something to do with models. Use list or build.")
    if action == "build":
        build_default_model(session.settings, weights=weights, progress=session.say)
    folder, built = default_model(session.settings)
    if session.json:
        session.put([{"name": DEFAULT_EMBEDDER, "folder": str(folder), "built": built}])
    else:
        state = "ready" if built else "not built yet (quoth models build)"
        session.out.print(f"{DEFAULT_EMBEDDER}: {state}\n  {folder}", highlight=False)
    return DONE
