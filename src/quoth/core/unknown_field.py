"""The error for a name that is no field of a plan, with the name that was probably meant."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from difflib import get_close_matches

from quoth.core.errors import InputError
from quoth.core.settings import Settings

OTHER_NAMES: Mapping[str, str] = {"k": "final_k", "top_k": "final_k", "max_ms": "deadline_ms"}
"""What the service and the command line call a field, and the field."""


def unknown_field(name: str, *, known: Collection[str]) -> InputError:
    """Return the error for a name that is not among the ``known`` fields of a plan."""
    if name in Settings.model_fields:
        return InputError(
            f"'{name}' is a setting and no field of the plan: it holds for every question. "
            f"Give it where the library is opened, such as quoth.open({name}=…)."
        )
    near = [OTHER_NAMES[name]] if name in OTHER_NAMES else get_close_matches(name, known, n=1)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    return InputError(f"'{name}' is not a field of the plan.{hint} All fields are in docs/plan.md.")
