"""Opens a judge by name or folder."""

from __future__ import annotations

from pathlib import Path

from quoth.backends.registry import backend
from quoth.core.errors import ConfigError
from quoth.core.protocols import EntailmentModel, Generator


def open_judge(
    name: str, *, models: Path, threads: int, generator: Generator | None
) -> EntailmentModel:
    """Open a judge: ``llm`` is the generator, any other name a folder, or one in ``models``.

    Raises ConfigError naming what is missing.
    """
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
        folder = models / name
    model: EntailmentModel = backend("judge", "onnx")(folder, threads=threads)
    return model
