"""Fetch a known model from a hub into the models folder: what `quoth models get` does."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

from filelock import AsyncFileLock, Timeout

from quoth.backends.onnx.model_folder import MODEL
from quoth.core.errors import ConfigError, DocumentError, InputError, StorageFull
from quoth.ingest.sources.download import Server, download
from quoth_models.hub import HubFile, HubRepository, read_repository
from quoth_models.table import MODELS, NEEDED, SMALL_FILES, HubModel

ORIGIN = "quoth-hub.json"
"""Where the files of a folder came from: repository, commit, licence, sizes and checksums."""
PROMPTS = "config_sentence_transformers.json"
USE = {
    "embedder": "--embedder ",
    "reranker": "--reranker ",
    "speech": "QUOTH_SPEECH_MODEL=",
    "live English": "QUOTH_SPEECH_MODEL_ENGLISH=",
}
"""What a setting is called that takes a model."""
MB = 1_000_000
SPARE_BYTES = 50 * MB
STEPS = 10
"""Reports of a large file."""


async def get_model(
    name: str, *, models: Path, server: Server, progress: Callable[[str], None]
) -> Path:
    """Fetch a model of the table and return its folder; one that is there is left as it is.

    ``progress`` receives sentences: before the download the licence, and the size and SHA-256 of
    each file. What has arrived is kept in ``.NAME.part`` and used by the next call. Raises
    InputError for an unknown name, ConfigError and StorageFull.
    """
    known = MODELS.get(name.casefold())
    if known is None:
        raise InputError(f"There is no model '{name}'. The known ones are: {', '.join(MODELS)}.")
    name = name.casefold()
    folder, draft = models / name, models / f".{name}.part"
    if folder.exists():
        progress(f"{name} is there already, in {folder}. Remove the folder to fetch it again.")
        return folder
    lock = _lock(models, name)
    await _turn(lock, name, progress=progress)
    try:
        if folder.exists():
            progress(f"{name} is ready in {folder}: another process has fetched it.")
            return folder
        repository = await read_repository(server, known.repository)
        files = _choose(known, repository)
        _announce(name, known, repository, files, server=server, progress=progress)
        _check_space(models, draft, files)
        for file in files:
            await _fetch(server, repository, file, draft=draft, progress=progress)
        _finish(known, repository, files, draft=draft, progress=progress)
        draft.rename(folder)
    except (DocumentError, InputError) as error:
        raise ConfigError(f"{error} {how_to_bring(name, models=models, hub=server.url)}") from error
    finally:
        await lock.release()
    progress(f"{name} is ready in {folder}. Use it with {USE[known.used_as]}{name}.")
    return folder


def how_to_bring(name: str, *, models: Path, hub: str) -> str:
    """Return how a known model gets into the models folder without a network here."""
    known = MODELS[name]
    folder = models / name
    last = f"and put them into {folder}"
    if known.used_as in ("embedder", "reranker"):
        last = f"put them into {folder}, and run: quoth models convert {folder}"
    return f"Without a network, download the files of {hub}/{known.repository} elsewhere, {last}"


def _lock(models: Path, name: str) -> AsyncFileLock:
    models.mkdir(parents=True, exist_ok=True)
    return AsyncFileLock(models / f".{name}.lock", run_in_executor=False)


async def _turn(lock: AsyncFileLock, name: str, *, progress: Callable[[str], None]) -> None:
    """Wait until no other process fetches the model, and hold its lock."""
    try:
        await lock.acquire(blocking=False)
    except Timeout:
        progress(f"Another process is fetching {name}; waiting for it.")
        await lock.acquire()


def _choose(known: HubModel, repository: HubRepository) -> list[HubFile]:
    """Return the files to fetch: the small ones and one set of weights; raises ConfigError."""
    there = repository.files
    sets = [files for files in known.weights if files[0] in there]
    missing = [file for file in NEEDED if file not in there]
    if missing or not sets:
        wanted = " and ".join(missing) or " or ".join(files[0] for files in known.weights)
        raise ConfigError(
            f"The repository {repository.name} has no {wanted}, so it cannot be used as it is. "
            "Name another hub with QUOTH_MODELS_HUB."
        )
    chosen = [there[file] for file in (*SMALL_FILES, *sets[0]) if file in there]
    unchecked = [file.name for file in chosen if file.sha256 is None and file.blob is None]
    if unchecked:
        raise ConfigError(
            f"The hub names no checksum of {unchecked[0]}, so it is not fetched. Name another hub "
            "with QUOTH_MODELS_HUB."
        )
    return chosen


def _announce(
    name: str,
    known: HubModel,
    repository: HubRepository,
    files: list[HubFile],
    *,
    server: Server,
    progress: Callable[[str], None],
) -> None:
    total = sum(file.size for file in files)
    licence = repository.licence or known.licence
    progress(
        f"{name}: {total / MB:,.1f} MB from {server.url}/{repository.name}, commit "
        f"{repository.commit[:12]}, licence {licence}."
    )
    for file in files:
        checksum = f"SHA-256 {file.sha256}" if file.sha256 else f"git blob {file.blob}"
        progress(f"  {file.name}: {file.size:,} bytes, {checksum}")


def _check_space(models: Path, draft: Path, files: list[HubFile]) -> None:
    have = sum(path.stat().st_size for path in draft.rglob("*") if path.is_file())
    # A conversion writes the weights a second time, half precision as single.
    grows = any(file.name.endswith(".safetensors") for file in files)
    needed = sum(file.size for file in files) * (3 if grows else 1) - have + SPARE_BYTES
    if shutil.disk_usage(models).free < needed:
        raise StorageFull(
            f"The folder {models} has too little space: {needed / MB:,.0f} MB are needed. Free "
            "some, or name another folder with QUOTH_MODELS."
        )


async def _fetch(
    server: Server,
    repository: HubRepository,
    file: HubFile,
    *,
    draft: Path,
    progress: Callable[[str], None],
) -> None:
    """Bring one file; raises ConfigError for one that is not what the hub said."""
    path = draft / file.name
    path.parent.mkdir(parents=True, exist_ok=True)
    said = 0

    def tell(have: int) -> None:
        nonlocal said
        done = have * STEPS // max(1, file.size)
        if done > said and file.size > MB:
            said = done
            progress(f"  {file.name}: {have / MB:,.0f} of {file.size / MB:,.0f} MB")

    if path.exists() and path.stat().st_size > file.size:
        path.unlink()
    await download(server, repository.path(file.name), file=path, size=file.size, progress=tell)
    if file.size == 0:
        path.touch()
    if not file.matches(path):
        path.unlink()
        raise ConfigError(
            f"The file {file.name} that arrived is not the one that {server.url} announced: its "
            "checksum differs. It was removed; try again, and distrust the hub if it stays so."
        )


def _finish(
    known: HubModel,
    repository: HubRepository,
    files: list[HubFile],
    *,
    draft: Path,
    progress: Callable[[str], None],
) -> None:
    """Complete a folder whose files have all arrived: prompts, origin, conversion."""
    if known.prompts and not (draft / PROMPTS).exists():
        (draft / PROMPTS).write_text(json.dumps({"prompts": dict(known.prompts)}, indent=2))
    if any(file.name.endswith(".safetensors") for file in files):
        # Imported here: the converter loads onnx, which takes a second.
        from quoth_models.convert import convert_folder

        (draft / MODEL).unlink(missing_ok=True)
        progress("Converting the weights to ONNX.")
        convert_folder(draft, progress=lambda _: None)
        for weights in draft.glob("*.safetensors"):
            weights.unlink()
    origin = {
        "repository": repository.name,
        "commit": repository.commit,
        "licence": repository.licence or known.licence,
        "files": {
            file.name: {"size": file.size, "sha256": file.sha256, "blob": file.blob}
            for file in files
        },
    }
    (draft / ORIGIN).write_text(json.dumps(origin, indent=2) + "\n", encoding="utf-8")
