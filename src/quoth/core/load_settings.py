"""The only reader of the environment and of configuration files.

Sources by precedence: the caller (command line or Python), the environment (``QUOTH_HOME``,
``QUOTH_PROFILE`` …), the files ``quoth.toml`` and ``quoth.yaml`` in the home folder, and the
defaults of `Settings`. An unknown name is an error with its location. Provider keys are also read
from the providers' own variables (`PROVIDER_VARIABLES`), where none of the former gives one; a key
alone enables nothing.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_settings import SettingsError

from quoth.core.errors import ConfigError, InputError
from quoth.core.settings import PREFIX, PROVIDER_VARIABLES, Settings
from quoth.core.settings_aliases import (
    ALIASES,
    KEYS_NOT_USED,
    NOT_USED,
    Aliased,
    read_aliases,
    read_yaml,
    variables_of,
)

OF_KUBERNETES = re.compile(
    r"QUOTH_(\w{1,63}_)?(SERVICE_(HOST|PORT(_\w{1,63})?)=|PORT(_\d{1,5}_(TCP|UDP|SCTP)(_\w{1,63})?)?"
    r"=\w{1,63}://|PORT_\d{1,5}_(TCP|UDP|SCTP)_(PROTO|PORT|ADDR)=).*"
)
"""The variables that Kubernetes sets in every pod for a service whose name begins with quoth; names
have at most 63 characters."""


def load_settings(overrides: Mapping[str, Any] | None = None) -> Settings:
    """Read the settings; raises ConfigError naming the wrong variable or key, and InputError.

    ``overrides`` are the caller's own; a value of None means "not given".
    """
    given = {name: value for name, value in (overrides or {}).items() if value is not None}
    if given.get("home") == "":
        raise InputError("The name of the home folder is empty. Name one, or leave it out.")
    environment = _environment()
    named = {name: value for name, value in environment.items() if value and name not in given}
    home = Path(
        given.get("home")
        or named.get("home")
        or Settings.model_fields["home"].get_default(call_default_factory=True)
    )
    file = home.expanduser() / "quoth.toml"
    written, other = _read_files(home.expanduser())
    set_here = given.keys() | named.keys() | written.keys()
    theirs = {
        name: key
        for name, variables in PROVIDER_VARIABLES.items()
        if name not in set_here and (key := next(filter(None, map(os.environ.get, variables)), ""))
    }
    also = read_aliases(os.environ) if ALIASES & os.environ.keys() else Aliased()
    aliased = {name: value for name, value in also.settings.items() if name not in named}
    below = {**other.settings, **written, **aliased}
    below = {name: value for name, value in below.items() if name not in named}
    tables = (
        other.plan,
        written.get("plan"),
        also.plan,
        _json(environment["plan"]) if environment.get("plan") else None,
        given.get("plan"),
    )
    if all(isinstance(table, dict | None) for table in tables):
        below["plan"] = {name: value for table in tables for name, value in (table or {}).items()}
        given.pop("plan", None)
    try:
        settings = Settings(**{**theirs, **below, **given})
    except SettingsError as error:
        raise ConfigError(f"An environment variable is not valid JSON: {error}.") from None
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        where = f"(variable {PREFIX}{name.upper()} or option)"
        if name in below and name not in given:
            where = f"in {file if name in written else file.with_suffix('.yaml')}"
        if name in aliased and name not in given:
            where = f"(variable {' or '.join(variables_of(name, os.environ))})"
        if first["type"] == "extra_forbidden":
            raise _unknown(name, f" {where}" if name in below else "") from None
        if name in theirs:
            where = f"(variable {' or '.join(PROVIDER_VARIABLES[name])})"
        raise ConfigError(f"The setting '{name}' {where} is wrong: {first['msg']}.") from None
    paths = {
        name: path.expanduser()
        for name in ("home", "models", "llm_tokenizer", "moderation_words")
        if (path := getattr(settings, name)) is not None
    }
    return settings.model_copy(update=paths)


def settings_not_used(home: Path) -> tuple[str, ...]:
    """Return the aliases that are given and set nothing, each with the reason: "NAME: why"."""
    why = {**NOT_USED, **KEYS_NOT_USED}
    given = (*read_aliases(os.environ).not_used, *_read_files(home)[1].not_used)
    return tuple(f"{name}: {why[name]}" for name in given)


def _unknown(name: str, where: str) -> ConfigError:
    """Return the error for a setting that there is not, with the one of the nearest name."""
    near = get_close_matches(name, Settings.model_fields, n=1)
    hint = f"Did you mean '{near[0]}'? " if near else ""
    return ConfigError(
        f"There is no setting '{name}'{where}. {hint}All settings are in docs/settings.md."
    )


def _json(text: str) -> Any:
    """Parse a table from JSON; invalid text is reported when the settings are validated."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _environment() -> dict[str, str]:
    """Return the variables of quoth by the settings' names; raises ConfigError for an unknown."""
    found = {
        name.removeprefix(PREFIX).lower(): value
        for name, value in os.environ.items()
        if name.startswith(PREFIX) and not OF_KUBERNETES.fullmatch(f"{name}={value}")
    }
    unknown = sorted(found.keys() - Settings.model_fields.keys())
    if unknown:
        near = get_close_matches(unknown[0], Settings.model_fields, n=3, cutoff=0.5)
        known = ", ".join(PREFIX + name.upper() for name in near)
        raise ConfigError(
            f"The environment variable {PREFIX}{unknown[0].upper()} is not a setting of quoth. "
            + (f"Did you mean {known}? " if near else "")
            + "Unset it; all settings are in docs/settings.md."
        )
    return found


def _read_files(home: Path) -> tuple[dict[str, Any], Aliased]:
    """Return what ``quoth.toml`` and ``quoth.yaml`` say, nothing where a file is missing."""
    texts = {}
    for file in (home / "quoth.toml", home / "quoth.yaml"):
        try:
            texts[file.suffix] = file.read_text(encoding="utf-8") if file.is_file() else ""
        except UnicodeDecodeError:
            raise ConfigError(f"The settings file {file} is not in UTF-8.") from None
        except OSError as error:
            raise ConfigError(
                f"The settings file {file} cannot be read: {error.strerror}."
            ) from None
    try:
        written = tomllib.loads(texts[".toml"])
    except tomllib.TOMLDecodeError as error:
        file = home / "quoth.toml"
        raise ConfigError(f"The settings file {file} is not valid TOML: {error}.") from None
    return written, read_yaml(texts[".yaml"]) if texts[".yaml"] else Aliased()
