"""Writes the pages that are made from the code; with --check it says which are stale."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

import typer.main
from pydantic_core import PydanticUndefined

from quoth.core import errors, plan, settings
from quoth.core import settings_aliases as aliases
from quoth.interfaces.cli.app import app
from quoth.interfaces.http.app import make_app
from quoth.query.filters.parse import KEYS
from quoth.tenants import Tenants

HERE = Path(__file__).parent
HEAD = "<!-- Made by docs/generate.py; change the code, then run `make docs`. -->\n\n"


def commands() -> str:
    """Every command with its arguments and options."""
    group = typer.main.get_command(app)
    parts = ["# Commands\n", *_command("quoth", group)]
    parts.append("## Filters\n")
    parts.append(
        "`--filter KEY=VALUE` takes these keys: "
        + ", ".join(f"`{key}`" for key in KEYS)
        + ", and `meta.KEY` for metadata of your own.\n"
    )
    return "\n".join(parts)


def _command(name: str, command: object) -> Iterator[str]:
    yield f"## {name}\n"
    yield f"{(getattr(command, 'help', '') or '').strip()}\n"
    rows = [row for row in map(_parameter, getattr(command, "params", [])) if row]
    if rows:
        yield "| option | what |\n|---|---|\n" + "\n".join(rows) + "\n"
    for child, found in sorted(getattr(command, "commands", {}).items()):
        if not found.hidden:
            yield from _command(f"{name} {child}", found)


def _parameter(parameter: object) -> str:
    names = [*getattr(parameter, "opts", []), *getattr(parameter, "secondary_opts", [])]
    if {"--help", "--install-completion", "--show-completion"} & set(names):
        return ""
    is_argument = getattr(parameter, "param_type_name", "") == "argument"
    shown = str(getattr(parameter, "name", "")).upper() if is_argument else ", ".join(names)
    return f"| `{shown}` | {getattr(parameter, 'help', '') or ''} |"


def settings_page() -> str:
    """Every setting with its default and what it means."""
    rows = []
    for name, field in settings.Settings.model_fields.items():
        default = "" if field.default is PydanticUndefined else f"`{field.default}`"
        if field.default_factory is not None:
            default = FACTORIES[name]
        text = _field_docs(settings.Settings).get(name, "")
        rows.append(f"| `QUOTH_{name.upper()}` | {default} | {text} |")
    return (
        "# Settings\n\nRead from the environment, or without the prefix and in lower case from "
        "`quoth.toml` in the home folder.\nThe command line outranks the environment, which "
        "outranks the file.\n\n| variable | default | what |\n|---|---|---|\n"
        + "\n".join(rows)
        + "\n"
        + _aliases()
    )


def _aliases() -> str:
    """The variables that other designs have, and what they set."""
    rows = [
        *((name, f"`{field}` of the [plan](plan.md)") for name, (field, _) in aliases.PLAN.items()),
        *((name, f"`QUOTH_{field.upper()}`") for name, field in aliases.SETTINGS.items()),
        *((name, f"nothing: {why}") for name, why in aliases.NOT_USED.items()),
    ]
    return (
        "\n## Other names\n\nThese variables of other designs count as the environment does, below "
        "the names above; `plan` is a table\n(`[plan]`) of the file. Both outrank the profile, and "
        "a request outranks them.\n\n| variable | sets |\n|---|---|\n"
        + "\n".join(f"| `{name}` | {what} |" for name, what in rows)
        + "\n\nThe file `quoth.yaml` in the home folder counts below `quoth.toml`. It has sections "
        "of keys with one value\neach, and any other key is refused by its path.\n\n"
        "| key | sets |\n|---|---|\n"
        + "\n".join(f"| `{name}` | {what} |" for name, what in _yaml_rows())
        + "\n"
    )


def _yaml_rows() -> Iterator[tuple[str, str]]:
    """The keys of `quoth.yaml`, and what they set."""
    for name, knob in aliases.KNOBS.items():
        place, _, field = knob.place.rpartition(".")
        plain = f"`{field}` of the [plan](plan.md)" if place else f"`QUOTH_{field.upper()}`"
        yield name, plain
    for name, why in aliases.KEYS_NOT_USED.items():
        yield name, f"nothing: {why}"


FACTORIES: Mapping[str, str] = {
    "home": "the platform's data folder",
    "models": "the platform's cache folder",
    "threads": "the number of processors",
}


def plan_page() -> str:
    """Every field of the plan, and what the profiles change."""
    notes = _field_docs(plan.Plan)
    rows = [
        f"| `{field.name}` | `{field.default}` | {notes.get(field.name, '')} |"
        for field in dataclasses.fields(plan.Plan)
        if field.name != "profile"  # a setting, and no choice of a query
    ]
    parts = ["# Plan and profiles\n", "| field | default | what |\n|---|---|---|"]
    parts += [*rows, ""]
    for name, profile in plan.PROFILES.items():
        parts.append(f"## Profile {name}\n")
        parts.append(
            f"embedder `{profile.embedder}`, store `{profile.store}`, "
            f"reranker `{profile.reranker or 'late'}`, generator `{profile.generator}`\n"
        )
        if profile.plan:
            parts.append("- always: " + _values(profile.plan))
        parts += [f"- {kind}: {_values(values)}" for kind, values in profile.by_kind.items()]
        parts.append("")
    return "\n".join(parts)


def errors_page() -> str:
    """The error tree with codes."""
    tree = (errors.__doc__ or "").split("\n\n")[1]
    rows = [
        f"| `{name}` | `{value.code}` | {value.status} | {(value.__doc__ or '').splitlines()[0]} |"
        for name, value in vars(errors).items()
        if inspect.isclass(value) and issubclass(value, errors.QuothError)
    ]
    codes = ", ".join(f"`{code}`" for code in errors.DocumentCode.__args__)  # type: ignore[attr-defined]
    return (
        f"# Errors\n\n```\n{inspect.cleandoc(tree)}\n```\n\n"
        "| error | code | status | when |\n|---|---|---|---|\n"
        + "\n".join(rows)
        + f"\n\nCodes of a document that cannot be read: {codes}.\n"
    )


def openapi() -> str:
    """The service as OpenAPI describes it."""
    # What a route is needs no tenant; what it gives does.
    app = make_app(cast(Tenants, None))
    return json.dumps(app.openapi(), ensure_ascii=False, indent=1)


def _values(values: Mapping[str, object]) -> str:
    return ", ".join(f"`{name}` {value}" for name, value in values.items())


def _field_docs(kind: type) -> dict[str, str]:
    """The strings that stand below the fields of a class."""
    body = ast.parse(inspect.cleandoc("\n" + inspect.getsource(kind))).body[0]
    assert isinstance(body, ast.ClassDef)
    docs: dict[str, str] = {}
    for field, text in zip(body.body, body.body[1:], strict=False):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(text, ast.Expr)
            and isinstance(text.value, ast.Constant)
        ):
            docs[field.target.id] = " ".join(str(text.value.value).split())
    return docs


PAGES = {
    "commands.md": commands,
    "settings.md": settings_page,
    "plan.md": plan_page,
    "errors.md": errors_page,
    "service/openapi.json": openapi,
}


def main() -> int:
    """Write the pages, or compare them."""
    stale = []
    for name, make in PAGES.items():
        file = HERE / name
        page = (HEAD if file.suffix == ".md" else "") + make().rstrip() + "\n"
        if file.is_file() and file.read_text(encoding="utf-8") == page:
            continue
        stale.append(name)
        if "--check" not in sys.argv:
            file.write_text(page, encoding="utf-8")
    if stale and "--check" in sys.argv:
        sys.stderr.write(f"Stale: {', '.join(stale)}. Run: make docs\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
