"""Every regular expression of the code, and texts made to be slow for it.

Run as ``python -m tests.support.patterns CHARACTERS MILLISECONDS GROWTH``, it tries ten texts of
that length on every pattern and prints what is slower than that, and slower than so many times a
quarter of the text, a line of JSON each.
"""

from __future__ import annotations

import ast
import importlib
import json
import math
import pkgutil
import re
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from re import _constants, _parser  # type: ignore[attr-defined]
from types import FrameType
from typing import Any

SOURCE = Path(__file__).parents[2] / "src" / "quoth"
QUESTION = 1_000
ASKING = ("query/", "retrieval/", "prompts.py", "cli/", "evaluation/", "plan.py")
"""What sees a question, which has at most 1,000 characters, or what an operator writes; titles and
names that stand beside it are bounded too (`quoth.ingest.sandbox.limits`)."""
PLAIN = ("a", " ", "0", "\n", "a ", "1.", "A-", "<", "[", "'")
TEXTS = 10
GIVE_UP_S = 10.0
TRIES = 3
ANCHORED = frozenset(("match", "fullmatch"))
METHODS = ANCHORED | {"search", "finditer", "findall", "sub", "subn"}
_SIZED = frozenset(("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"))


def compiled() -> dict[str, re.Pattern[Any]]:
    """Import every module and give the patterns that its code makes, with where they stand."""
    found: dict[str, re.Pattern[Any]] = {}
    make = re.compile

    def noting(pattern: Any, flags: int = 0) -> re.Pattern[Any]:
        made = make(pattern, flags)
        frame = sys._getframe(1)
        file = Path(frame.f_code.co_filename)
        if SOURCE in file.parents:
            place = f"{file.relative_to(SOURCE)}:{frame.f_lineno}"
            # A table makes all of its patterns at one place.
            found[f"{place}#{len(found)}" if place in found else place] = made
        return made

    re.compile = noting
    try:
        import quoth

        for module in pkgutil.walk_packages(quoth.__path__, "quoth."):
            if not module.name.endswith(("__main__", "migrations.env")):
                with suppress(ImportError):  # of an extra that is not installed here
                    importlib.import_module(module.name)
        from quoth.query.filters.patterns import pattern_tables

        for table in pattern_tables():
            for topic in table.rows:
                table.rules(topic)  # compiles them
    finally:
        re.compile = make
    return found | inline()


def inline() -> dict[str, re.Pattern[Any]]:
    """Give the patterns that stand as texts in calls of `re`."""
    found = {}
    for file in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            value, first = node.func.value, node.args[0] if node.args else None
            if isinstance(value, ast.Name) and value.id == "re" and isinstance(first, ast.Constant):
                found[f"{file.relative_to(SOURCE)}:{node.lineno}"] = re.compile(first.value)
    return found


def length(where: str, most: int) -> int:
    """Give how long the texts are that a pattern may be given."""
    return min(QUESTION, most) if where.startswith(ASKING) else most


def slow_texts(pattern: re.Pattern[Any], *, most: int) -> list[str]:
    """Make ten texts of that length: what the repetitions of a pattern repeat, and plain ones."""
    source = pattern.pattern.decode("latin-1") if isinstance(pattern.pattern, bytes) else None
    tree = _parser.parse(source or pattern.pattern, pattern.flags)
    made = []
    for before, body in _repeats(tree, ""):
        pump = (body or "a")[:200]
        for end in ("", "\x01"):
            text = before[:200] + pump * (most // len(pump))
            made.append(text[: most - 1] + end)
            # As many beginnings as there is room for: every one of them may search to the end.
            made.append(((before[:200] + pump) * most)[: most - 1] + end)
    made = sorted(set(made), key=lambda text: (-len(set(text)), text))
    step = max(1, len(made) // (TEXTS - 4))
    plain = [(each * most)[:most] for each in PLAIN]
    return [*made[::step][: TEXTS - 4], *plain][:TEXTS]


def _repeats(tree: Any, before: str) -> Iterator[tuple[str, str]]:
    """Give what stands before each repetition without end, and what it repeats."""
    for operation, argument in tree:
        name = str(operation)
        if name in _SIZED:
            _low, high, body = argument
            if high is _constants.MAXREPEAT or high >= 50:
                yield before, _sample(body)
            yield from _repeats(body, before)
        elif name == "SUBPATTERN":
            yield from _repeats(argument[3], before)
        elif name == "BRANCH":
            for branch in argument[1]:
                yield from _repeats(branch, before)
        before += _sample([(operation, argument)])


def _sample(tree: Any) -> str:
    """Give a short text that a pattern fits, or nearly."""
    text = ""
    for operation, argument in tree:
        match str(operation):
            case "LITERAL":
                text += chr(argument)
            case "NOT_LITERAL":
                text += "a" if argument != ord("a") else "b"
            case "ANY":
                text += "x"
            case "IN":
                text += _one_of(argument)
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                text += _sample(argument[2]) * max(1, min(argument[0], 3))
            case "SUBPATTERN":
                text += _sample(argument[3])
            case "BRANCH":
                text += _sample(argument[1][0])
            case _:
                pass
    return text


def _one_of(members: Any) -> str:
    negated = False
    for kind, value in members:
        match str(kind):
            case "NEGATE":
                negated = True
            case "LITERAL" if not negated:
                return chr(value)
            case "RANGE" if not negated:
                return chr(value[0])
            case "CATEGORY" if not negated:
                by_kind = {"CATEGORY_DIGIT": "0", "CATEGORY_SPACE": " ", "CATEGORY_WORD": "a"}
                return by_kind.get(str(value), ".")
    taken = {chr(value) for kind, value in members if str(kind) == "LITERAL"}
    return next(each for each in "a b.0-" if each not in taken)


def uses() -> dict[str, set[str]]:
    """Give how the pattern made at a place is used: the methods that are called by its name."""
    trees = {file: ast.parse(file.read_text(encoding="utf-8")) for file in SOURCE.rglob("*.py")}
    everywhere = _called([node for tree in trees.values() for node in ast.walk(tree)])
    found: dict[str, set[str]] = {}
    for file, tree in trees.items():
        nodes = list(ast.walk(tree))
        here, handed = _called(nodes), _handed_on(nodes)
        # One that stands in a tuple or a table is used as this file uses those without a name.
        unnamed = _called_unnamed(nodes) or {"search"}
        for node in nodes:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
                name = node.targets[0].id if isinstance(node.targets[0], ast.Name) else ""
                known = here.get(name) or everywhere.get(name) or unnamed
                place = f"{file.relative_to(SOURCE)}:{node.value.lineno}"
                found[place] = unnamed if name in handed else known
            elif isinstance(node, ast.Call) and _of_re(node):
                way = {_of_re(node)} - {"compile"}
                found.setdefault(f"{file.relative_to(SOURCE)}:{node.lineno}", way or unnamed)
    return found


def _called(nodes: list[ast.AST]) -> dict[str, set[str]]:
    called: dict[str, set[str]] = {}
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            called.setdefault(node.value.id, set()).add(node.attr)
    return called


def _called_unnamed(nodes: list[ast.AST]) -> set[str]:
    """Give the methods of patterns that are called on what is no constant of the module."""
    return {
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute) and node.attr in METHODS
        if not (isinstance(node.value, ast.Name) and node.value.id in ("re", node.value.id.upper()))
    }


def _handed_on(nodes: list[ast.AST]) -> set[str]:
    children = ((node, child) for node in nodes for child in ast.iter_child_nodes(node))
    return {
        child.id
        for node, child in children
        if isinstance(child, ast.Name)
        and isinstance(child.ctx, ast.Load)
        and not isinstance(node, ast.Attribute)
    }


def _of_re(node: ast.Call) -> str:
    """Give the function of `re` that is called, or nothing."""
    function = node.func
    named = isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name)
    if not named or function.value.id != "re":
        return ""
    return str(function.attr)


def took(pattern: re.Pattern[Any], text: str, *, ways: set[str]) -> float:
    """Measure how long it takes to find all of a pattern in a text, in seconds, or infinity."""
    subject = text.encode("utf-8", "replace") if isinstance(pattern.pattern, bytes) else text

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise TimeoutError

    signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, GIVE_UP_S)
    began = time.process_time()
    try:
        if ways - ANCHORED:
            for _match in pattern.finditer(subject):
                pass
        for way in ways & ANCHORED:
            getattr(pattern, way)(subject)
    except TimeoutError:
        return math.inf
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return time.process_time() - began


def growth(pattern: re.Pattern[Any], text: str, *, ways: set[str]) -> float:
    """Measure how many times as long a text takes as its first quarter with the same end."""
    quarter = text[: len(text) // 4 - 1] + text[-1:]
    least, whole = (
        min(took(pattern, each, ways=ways) for _try in range(TRIES)) for each in (quarter, text)
    )
    return whole / max(least, 1e-6)


def main() -> None:
    """Print the patterns whose time grows faster than the length of a text."""
    characters, most_ms, most_growth = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
    patterns, ways = compiled(), uses()
    for where, pattern in sorted(patterns.items()):
        used = ways.get(where.partition("#")[0], {"search"})
        for text in slow_texts(pattern, most=length(where, characters)):
            seconds = took(pattern, text, ways=used)
            if 1000 * seconds <= most_ms:
                continue
            times = growth(pattern, text, ways=used) if math.isfinite(seconds) else math.inf
            if times > most_growth:
                found = {"where": where, "seconds": seconds, "times": times, "on": text[:60]}
                sys.stdout.write(json.dumps(found) + "\n")
                sys.stdout.flush()
                break
    sys.stdout.write(json.dumps({"patterns": len(patterns)}) + "\n")


if __name__ == "__main__":
    main()
