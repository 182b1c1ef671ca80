"""Optional packages, checked before they are imported."""

from __future__ import annotations

from importlib.util import find_spec

from quoth.core.errors import MissingExtra


def is_installed(module: str) -> bool:
    """Return whether a module can be imported; imports its parent packages."""
    above, _, _ = module.rpartition(".")
    return (not above or is_installed(above)) and find_spec(module) is not None


def require_extra(extra: str, *, module: str, what: str) -> None:
    """Raise MissingExtra with the install command, unless the module exists."""
    if not is_installed(module):
        raise MissingExtra(
            f"{what} needs packages that are not installed. Install them with: "
            f"pip install 'quoth[{extra}]'"
        )
