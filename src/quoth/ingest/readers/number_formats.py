"""Numbers of a sheet as its program shows them: "12.5 %", "1,234.00", "€ 3.50"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

_BUILT_IN = {
    1: "0",
    2: "0.00",
    3: "#,##0",
    4: "#,##0.00",
    9: "0%",
    10: "0.00%",
    37: "#,##0",
    38: "#,##0",
    39: "#,##0.00",
    40: "#,##0.00",
}
"""The formats of Office Open XML that have a number and no code."""
_CURRENCY = re.compile(r"\[\$([^\]-]{0,255})(?:-[^\]]{0,255})?\]")
_NOT_SHOWN = re.compile(r"\[[^\]]{0,255}\]|_.|\*.|\\")
_QUOTED = re.compile(r'"[^"]*"')
_SPLIT = re.compile(r"[#0?][^#0?.,]+[#0?]|[#0?],+(?![#0?,])")
"""Digits in groups, as of a telephone number, or commas that divide by a thousand."""
_DIGITS = re.compile(r"[#0?][#0?,]*(?:\.([#0?]+))?")
CellValue = str | float | int | bool | date | datetime | time | timedelta | None


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """How a number is shown: what stands around it with its blanks, its decimals, its thousands."""

    before: str = ""
    after: str = ""
    decimals: int | None = None
    thousands: bool = False
    percent: bool = False


def parse_format(number: int, codes: Mapping[int, str]) -> NumberFormat | None:
    """Return the format with this number, None for one that shows a number as it is."""
    code = codes.get(number) or _BUILT_IN.get(number)
    if code is None or code.lower() == "general":
        return None
    code = _NOT_SHOWN.sub("", _CURRENCY.sub(lambda match: match[1], code.split(";")[0]))
    split = _SPLIT.search(_QUOTED.sub("", code))
    code = code.replace('"', "")
    digits = _DIGITS.search(code)
    if split or digits is None or "E+" in code or "/" in code:
        return None
    after = code[digits.end() :]
    return NumberFormat(
        before=code[: digits.start()].lstrip(),
        after=after.rstrip(),
        decimals=len((digits[1] or "").replace("#", "")),
        thousands="," in digits[0],
        percent="%" in after,
    )


def show_value(value: CellValue, form: NumberFormat | None = None) -> str:
    """Return a cell as people see it."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, datetime):
        return value.isoformat(sep=" ").removesuffix(" 00:00:00").removesuffix(":00")
    if isinstance(value, date | time | timedelta):
        return str(value)
    return show_number(value, form)


def show_number(value: float, form: NumberFormat | None) -> str:
    """Return a number in its format; without one with as many digits as it has."""
    if form is None:
        return f"{value:.15g}"
    shown = value * 100 if form.percent else value
    sign = "," if form.thousands else ""
    # A word has a blank beside it, a sign only where the format has one.
    before = f"{form.before.rstrip()} " if len(form.before) > 1 else form.before
    after = f" {form.after.lstrip()}" if len(form.after) > 1 else form.after
    return f"{before}{shown:{sign}.{form.decimals}f}{after}"
