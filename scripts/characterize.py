"""Record what users see of quoth, and compare two recordings.

    python scripts/characterize.py record --quoth .venv/bin/quoth --out before.json
    python scripts/characterize.py compare before.json after.json [--ignore-messages]

Only the command line and HTTP are used, so any two versions can be compared. Each row of
``characterize_questions.jsonl`` is a file or folder of a new library (``material``: a path in the
checkout, skipped where it is missing; or ``text``), or a request (``http``: method, path, body;
``cli``: arguments), in which ``{document:TITLE}`` and ``{query:ROW}`` are replaced by ids.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
ROWS = Path(__file__).with_name("characterize_questions.jsonl")
WORK = Path(tempfile.gettempdir(), "quoth-characterize").resolve()
VOLATILE_KEYS = "created created_at since request_id rss_mb latency_ms".split()
REPLACED = {
    re.escape(str(WORK)): "<work>",
    re.escape(str(Path.home())): "<home>",
    r"\b\d{4}\\?-\d\d\\?-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:\d\d)?": "<time>",
    r"\b(q|c|k|u|chatcmpl)\\?[_-][0-9a-f]{10,}(_[0-9a-f]{12})?(:\d+)?": r"<\1>",
    r"\b[0-9a-f]{32,64}\b": "<hash>",
    r"\b\d+(\.\d+)? (ms|s)\b": "<duration>",
    r"\b[\d,.]+ [MG]B free": "<room> free",
    r"\bquoth \d+\.\d+[\w.]*": "quoth <version>",
}
KINDS = {
    "HTTP status or exit code": r"^\.(code|type|problem\.(code|status|type))\b",
    "messages": r"^\.(problem|stderr|shown)\b|\b(warnings|notes|detail|message|advice)\b",
    "filters changed": r"\b(query|plan|boosts|filters)\b",
    "citations changed": r"\bcitations?\b",
    "hits or their order changed": r"\b(hits|closest|used_chunks|counts|candidates|passages)\b",
    "status changed": r"\b(status|confidence|grounded|degraded|cached|support)\b",
    "text changed": r"\b(text|sentences|choices)\b",
}
"""Kinds of difference by path; the first match counts."""
ABSENT = "(absent)"


class Recorder:
    """A library of one version of the program, and the requests to it."""

    def __init__(self, quoth: Path) -> None:
        self.start = [str(quoth.absolute()), "--home", str(WORK / "home")]
        kept = {key: each for key, each in os.environ.items() if not key.startswith("QUOTH_")}
        self.environment = kept | {"COLUMNS": "120", "TERM": "dumb", "NO_COLOR": "1"}
        self.names, self.ids = dict[str, str](), dict[str, str]()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Serve the library over HTTP, and learn the names behind its ids."""
        words, silent = [*self.start, "serve", "--port", str(self.port)], subprocess.DEVNULL
        with subprocess.Popen(words, stderr=silent, env=self.environment) as child:
            try:
                while child.poll() is None and self.request(["GET", "/readyz"])["code"] != 200:
                    time.sleep(0.2)
                self.learn_names()
                yield
            finally:
                child.terminate()

    def learn_names(self) -> None:
        """Learn the document or passage behind each id."""
        for collection in ("default", "garden"):
            listed = self.request(["GET", f"/v1/documents?collection={collection}&limit=100"])
            for each in listed["body"]["documents"]:
                key, title = each["document_id"], each["title"]
                self.ids[f"{{document:{title}}}"], self.names[key] = key, title
                for skip in range(0, each["chunks"], 100):
                    path = f"/v1/documents/{key}/passages?limit=100&skip={skip}"
                    for at, passage in enumerate(self.request(["GET", path])["body"]["passages"]):
                        self.names[passage["chunk_id"]] = f"{title} #{skip + at}"

    def ask(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return the result of the request in a row."""
        text = json.dumps(row.get("http") or row["cli"])
        words = json.loads(re.sub(r"\{\w+:[^{}\"]+\}", lambda at: self.ids.get(at[0], at[0]), text))
        return self.run(words) if "cli" in row else self.request(words, row["id"])

    def run(self, words: Sequence[str]) -> dict[str, Any]:
        """Return exit code and output of a command."""
        done = subprocess.run(
            [*self.start, *words], capture_output=True, text=True, cwd=WORK, env=self.environment
        )
        content: dict[str, Any] = {"shown": done.stdout}
        with suppress(ValueError):
            content = {"body": [json.loads(each) for each in done.stdout.strip().split("\n")]}
        return {"code": done.returncode, "stderr": done.stderr, **content}

    def request(self, words: Sequence[Any], name: str = "") -> dict[str, Any]:
        """Return status and content of an HTTP response; remember the query id it contains."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=180)
        method, path, *body = words
        payload = json.dumps(body[0]) if body else None
        try:
            connection.request(method, path, payload, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            text = answer.read().decode("utf-8", "replace")
        except OSError:
            return {"code": 0}
        kind = answer.getheader("Content-Type") or ""
        content: Any = json.loads(text) if "json" in kind else None
        if isinstance(content, dict):
            self.ids[f"{{query:{name}}}"] = content.get("query_id", "none")
        elif "event-stream" in kind:
            events = re.findall(r"event: (\w+)\r?\ndata: (.*)", text)
            content = [{event: json.loads(data)} for event, data in events]
        place = "shown" if content is None else "problem" if "problem" in kind else "body"
        return {"code": answer.status, "type": kind, place: text if content is None else content}

    def normal(self, value: Any, key: str = "") -> Any:
        """Return a value without what differs between any two runs."""
        if key in VOLATILE_KEYS or (key.endswith("_ms") and isinstance(value, float)):
            return None if value is None else f"<{key}>"
        if isinstance(value, dict):
            stages = sorted(value) if key == "timings_ms" else None
            return stages or {self.normal(name): self.normal(value[name], name) for name in value}
        if isinstance(value, list):
            return [self.normal(each) for each in value]
        if not isinstance(value, str):
            return round(value, 4) if isinstance(value, float) else value
        value = value.replace(f":{self.port}", ":<port>")
        for pattern, replacement in REPLACED.items():
            value = re.sub(pattern, replacement, value)
        return re.sub(r"\b[0-9a-f]{24}\b", lambda at: f"<{self.names.get(at[0], 'id')}>", value)


def record(given: argparse.Namespace) -> int:
    """Build the library, make all requests, and write the recording."""
    shutil.rmtree(WORK, ignore_errors=True)
    rows = [json.loads(each) for each in ROWS.read_text(encoding="utf-8").strip().split("\n")]
    for row in (each for each in rows if "into" in each):
        source, target = given.root / row.get("material", ""), WORK / row["into"]
        target.parent.mkdir(parents=True, exist_ok=True)
        if "text" in row:
            target.write_text(row["text"], encoding="utf-8")
        elif source.exists():
            (shutil.copytree if source.is_dir() else shutil.copy)(source, target)
    files = sorted(str(each.relative_to(WORK)) for each in WORK.rglob("*"))
    recorder = Recorder(given.quoth)
    answers = {row["id"]: recorder.ask(row) for row in rows if row.get("group") == "add"}
    with recorder.serving():
        answers |= {row["id"]: recorder.ask(row) for row in rows if "http" in row}
    answers |= {row["id"]: recorder.ask(row) for row in rows if row.get("group") == "command"}
    kept = {"files": files, "rows": rows, "answers": recorder.normal(answers)}
    given.out.write_text(json.dumps(kept, ensure_ascii=False, indent=0), encoding="utf-8")
    return 0


def compare(given: argparse.Namespace) -> int:
    """Print where two recordings differ; return 1 if they do."""
    before, after = (json.loads(each.read_text(encoding="utf-8")) for each in given.recordings)
    if any(before[what] != after[what] for what in ("files", "rows")):
        sys.stdout.write("The recordings were made with different files or questions.\n")
    requests = {row["id"]: row.get("http") or row["cli"] for row in before["rows"] if "id" in row}
    kinds, details, differ = Counter[str](), list[str](), 0
    names = sorted(before["answers"].keys() | after["answers"].keys())
    for name in names:
        grouped: dict[str, list[str]] = {}
        answers = [each["answers"].get(name, ABSENT) for each in (before, after)]
        for path, old, new in differences(*answers):
            if (kind := kind_of(path, old, new)) != "messages" or not given.ignore_messages:
                line = f"      {path}: {short(old)}  →  {short(new)}"
                grouped.setdefault(kind, []).append(line)
        if grouped:
            differ += 1
            kinds.update(grouped.keys())
            details.append(f"\n{name}  {short(requests.get(name))}")
            for kind, lines in grouped.items():
                details += [f"  {kind} ({len(lines)})", *lines[:4]]
    summary = [f"{len(names) - differ} of {len(names)} are identical, {differ} differ."]
    summary += [f"{count:6} {kind}" for kind, count in kinds.most_common()]
    sys.stdout.write("\n".join([*summary, *details, ""]))
    return 1 if differ else 0


def differences(old: Any, new: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield path and both values of each difference; lists of other items differ as a whole."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys([*old, *new]):
            yield from differences(old.get(key, ABSENT), new.get(key, ABSENT), f"{path}.{key}")
    elif isinstance(old, list) and isinstance(new, list):
        labels = [label(each) for each in old], [label(each) for each in new]
        if labels[0] != labels[1]:
            yield path, *labels
        for at, pair in enumerate(zip(old, new, strict=True) if labels[0] == labels[1] else ()):
            yield from differences(*pair, f"{path}[{at}]")
    elif old != new and not (type(old) is type(new) is float and abs(old - new) < 3e-4):
        yield path, old, new


def label(value: Any) -> str:
    """Return what identifies an item of a list; items without a name are all alike."""
    if not isinstance(value, dict):
        return value if isinstance(value, str) else "·"
    named = [value[key] for key in ("chunk_id", "snippet_start", "event", "title") if key in value]
    return " @".join(map(str, named)) or next(iter(value), "·")


def kind_of(path: str, old: Any, new: Any) -> str:
    """Return the kind of a difference."""
    if ABSENT in (old, new):
        return "shape changed"
    found = next((kind for kind, pattern in KINDS.items() if re.search(pattern, path)), "other")
    counts = found == "messages" and isinstance(old, list) and len(old) != len(new)
    return "messages added or removed" if counts else found


def short(value: Any) -> str:
    """Return a value on one line."""
    text = " ".join(json.dumps(value, ensure_ascii=False).split())
    return text if len(text) <= 200 else f"{text[:150]} … {text[-45:]}"


def main() -> int:
    """Run the action that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=("record", "compare"))
    parser.add_argument("recordings", type=Path, nargs="*", help="two files to compare")
    parser.add_argument("--quoth", type=Path, help="the program to record")
    parser.add_argument("--out", type=Path, help="file to write")
    parser.add_argument("--root", type=Path, default=ROOT, help="checkout with the files")
    parser.add_argument("--ignore-messages", action="store_true", help="ignore other wording")
    given = parser.parse_args()
    return record(given) if given.action == "record" else compare(given)


if __name__ == "__main__":
    sys.exit(main())
