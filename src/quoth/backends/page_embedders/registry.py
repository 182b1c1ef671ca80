"""Opens the model for pictures of pages that the settings name; there is none by default."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from quoth.backends.registry import backend, open_plugin, plugin
from quoth.core.errors import ConfigError
from quoth.core.page_images import PageEmbedder

if TYPE_CHECKING:
    from quoth.core.settings import Settings


def page_model_folder(settings: Settings) -> Path | None:
    """Return the model's folder; None where there is none, or another package brings the model.

    Raises ConfigError where the folder is missing.
    """
    name = settings.page_embedder
    if name is None or name == "none" or plugin("page_embedder", name) is not None:
        return None
    for folder in (Path(name).expanduser(), settings.models / name):
        if folder.is_dir():
            return folder
    raise ConfigError(
        f"There is no folder {name} with a model for pictures of pages. Name one with "
        "text_model.onnx, vision_model.onnx, tokenizer.json and preprocessor_config.json, by its "
        f"path or by its name in {settings.models}, or none."
    )


def open_page_embedder(settings: Settings) -> PageEmbedder | None:
    """Open the model, None where none is named; raises ConfigError."""
    name, folder = settings.page_embedder, page_model_folder(settings)
    opened: PageEmbedder | None = None
    if folder is not None:
        opened = backend("page_embedder", "onnx")(folder, threads=settings.threads)
    elif name is not None and name != "none":
        opened = open_plugin("page_embedder", name, settings, protocol=PageEmbedder)
    return opened
