"""`quoth models`: what there is, and building the default model ahead of its first use."""

from __future__ import annotations

from pathlib import Path

from quoth.cli.run import DONE, Session
from quoth.errors import InputError
from quoth.wiring import DEFAULT_EMBEDDER


async def models_command(session: Session, action: str, *, weights: Path | None) -> int:
    """Show or build the default model; raises InputError and ConfigError."""
    from quoth.backends.e5_build import build_e5, is_built

    folder = session.settings.models / DEFAULT_EMBEDDER
    if action not in ("list", "build"):
        raise InputError(f"'{action}' is not something to do with models. Use list or build.")
    if action == "build" and not is_built(folder):
        build_e5(folder, weights=weights, progress=session.say)
    there = is_built(folder)
    if session.json:
        session.put([{"name": DEFAULT_EMBEDDER, "folder": str(folder), "built": there}])
    else:
        state = "ready" if there else "not built yet (quoth models build)"
        session.out.print(f"{DEFAULT_EMBEDDER}: {state}\n  {folder}", highlight=False)
    return DONE
