"""Self-contained HTML pages from jinja2 templates: every value escaped, no script, no request."""

from __future__ import annotations

import re
from functools import cache
from urllib.parse import urlsplit

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


def render_page(template: str, *, package: str, **values: object) -> str:
    """Render ``templates/{template}`` of a package; it may extend ``page.html`` of this one."""
    return _environment(package).get_template(template).render(values)


def is_safe(address: str | None) -> bool:
    """Return whether an address opens a page or a file, and runs nothing."""
    try:
        return address is not None and urlsplit(address).scheme in ("http", "https", "file")
    except ValueError:
        return False


@cache
def _environment(package: str) -> Environment:
    environment = Environment(
        autoescape=True,
        finalize=_printable,
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("quoth.text")]),
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=StrictUndefined,
    )
    environment.tests["safe_link"] = is_safe
    return environment


def _printable(value: object) -> object:
    """Replace the characters that HTML does not allow; HTML itself passes."""
    if isinstance(value, str) and not hasattr(value, "__html__"):
        return _UNPRINTABLE.sub("\ufffd", value)
    return value
