"""Opens a judge by name or folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from quoth.backends.registry import backend
from quoth.core.errors import ConfigError
from quoth.core.protocols import EntailmentModel, Generator

if TYPE_CHECKING:
    from quoth.core.settings import Settings


def open_judge(settings: Settings, generator: Generator | None) -> EntailmentModel:
    """Open the judge: ``llm`` is the generator, any other name a folder, or one of the models.

    Raises ConfigError naming what is missing.
    """
    name = settings.judge or ""
    if name == "llm":
        if generator is None:
            raise ConfigError(
                "The judge 'llm' asks the language model, and none is configured. Name one by "
                "--llm, or the folder of a judge in ONNX form."
            )
        asking: EntailmentModel = backend("judge", "llm")(generator)
        return asking
    folder = Path(name).expanduser()
    if not folder.is_dir() and "/" not in name:
        folder = settings.models / name
    model: EntailmentModel = backend("judge", "onnx")(folder, threads=settings.threads)
    return model
