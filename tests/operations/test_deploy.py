"""The files for operators are read by the formats' own parsers, and say what the product has."""

from __future__ import annotations

import configparser
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from quoth.core.settings import Settings

DEPLOY = Path(__file__).parents[2] / "deploy"
SOURCE = Path(__file__).parents[2] / "src" / "quoth"


def test_the_container_runs_without_root_and_is_probed() -> None:
    steps = re.sub(r"\\\n", " ", (DEPLOY / "Containerfile").read_text()).splitlines()
    last = [line for line in steps if line and not line.startswith("#")]
    words = [line.split()[0] for line in last]
    assert words.count("FROM") == 2
    assert "USER 10001" in last
    assert any(line.startswith("HEALTHCHECK") and "/readyz" in line for line in last)
    for word in ("ENTRYPOINT", "CMD"):
        (line,) = [line for line in last if line.startswith(word)]
        assert json.loads(line.removeprefix(word))


def test_compose_has_service_worker_and_database() -> None:
    found: Any = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    services = found["services"]
    assert set(services) == {"quoth", "worker", "database"}
    for name in ("quoth", "worker"):
        assert services[name]["read_only"] is True
        assert services[name]["cap_drop"] == ["ALL"]
        for variable in services[name]["environment"]:
            assert variable.removeprefix("QUOTH_").lower() in Settings.model_fields
    assert services["worker"]["command"][0] == "worker"


def test_compose_with_storage_shares_the_library_of_service_and_worker() -> None:
    found: Any = yaml.safe_load((DEPLOY / "compose.s3.yaml").read_text())
    services = found["services"]
    assert services["quoth"] == services["worker"]
    for variable in services["quoth"]["environment"]:
        assert variable.removeprefix("QUOTH_").lower() in Settings.model_fields
    assert set(services["quoth"]["depends_on"]) <= set(services)


def test_the_unit_ends_before_it_is_killed() -> None:
    unit = configparser.RawConfigParser(strict=True)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read_string((DEPLOY / "quoth.service").read_text())
    assert int(unit["Service"]["TimeoutStopSec"]) == 10
    assert unit["Service"]["UMask"] == "0077"
    assert "quoth --json serve" in unit["Service"]["ExecStart"]


def test_the_manifests_probe_without_a_secret() -> None:
    found: list[Any] = list(yaml.safe_load_all((DEPLOY / "kubernetes" / "quoth.yaml").read_text()))
    assert [each["kind"] for each in found] == ["PersistentVolumeClaim", "Deployment", "Service"]
    pod = found[1]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    for container_ in (container, *pod["initContainers"]):
        assert container_["securityContext"]["readOnlyRootFilesystem"] is True
    assert container["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": "http"}


@pytest.mark.parametrize("name", ["alerts.yaml", "dashboard.json"])
def test_rules_and_panels_name_metrics_that_there_are(name: str) -> None:
    text = (DEPLOY / "monitoring" / name).read_text()
    found: Any = yaml.safe_load(text)
    assert found
    source = "".join(path.read_text() for path in SOURCE.rglob("*.py"))
    for metric in set(re.findall(r"\bquoth_[a-z_]+\b", text)):
        assert f'"{metric}"' in source, metric


@pytest.mark.parametrize(("name", "opens"), [("nginx.conf", 2), ("Caddyfile", 3)])
def test_a_proxy_names_the_client_and_drops_what_the_client_forwarded(
    name: str, opens: int
) -> None:
    text = "\n".join(
        line for line in (DEPLOY / "proxy" / name).read_text().splitlines() if line[:1] != "#"
    )
    assert text.count("{") == text.count("}") == opens
    assert "127.0.0.1:8765" in text
    if name == "nginx.conf":
        statements = re.sub(r"[{}]", ";", text).split(";")
        directives = [words for words in (part.split() for part in statements) if words]
        assert ["proxy_set_header", "X-Forwarded-For", "$proxy_add_x_forwarded_for"] in directives
        assert ["proxy_set_header", "Forwarded", '""'] in directives
        assert ["proxy_set_header", "Host", "$host"] in directives
    else:
        assert "header_up -Forwarded" in text


def test_fail2ban_reads_the_access_log() -> None:
    unit = configparser.RawConfigParser()
    unit.read(DEPLOY / "proxy" / "fail2ban.conf")
    pattern = unit["Definition"]["failregex"].replace("<HOST>", r"(?P<host>[\d.:a-f]+)")
    line = {"event": "request", "client": "203.0.113.9", "method": "GET", "status": 401}
    line["ms"] = 2.9
    match = re.search(pattern, json.dumps(line))
    assert match is not None
    assert match["host"] == "203.0.113.9"
    line = {"event": "request", "client": "203.0.113.9", "method": "POST", "status": 429}
    limited = {**line, "tenant": "alpha", "key_id": "Xk3mPq9a", "ms": 0.8}
    assert re.search(pattern, json.dumps({**line, "ms": 0.8})) is not None
    assert re.search(pattern, json.dumps(limited)) is None


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not there")
def test_systemd_reads_the_unit(tmp_path: Path) -> None:
    unit = (DEPLOY / "quoth.service").read_text()
    (tmp_path / "quoth.service").write_text(unit.replace("/opt/quoth/bin/quoth", sys.executable))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(tmp_path / "quoth.service")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_the_container_has_the_packages_that_its_compose_file_and_language_models_need() -> None:
    text = (DEPLOY / "Containerfile").read_text()
    (lock,) = re.findall(r"--requirement (\S+)", text)
    root = DEPLOY.parent
    assert f"!{lock}" in (root / ".dockerignore").read_text().splitlines()
    held = [
        set(re.findall(r"^[\w.-]+(?=\[|==)", (root / each).read_text(), re.MULTILINE))
        for each in (lock, "requirements.lock")
    ]
    assert held[0] > held[1]
    assert {"psycopg-binary", "anthropic", "openai", "google-genai"} <= held[0]


@pytest.mark.parametrize("files", [("compose.yaml",), ("compose.yaml", "compose.s3.yaml")])
def test_compose_reads_its_files(files: tuple[str, ...]) -> None:
    program = shutil.which("docker-compose")
    if program is None:
        pytest.skip("docker-compose is not there")
    secrets = {"QUOTH_DATABASE_PASSWORD": "secret", "QUOTH_S3_SECRET_KEY": "secret"}
    done = subprocess.run(
        [program, *(word for name in files for word in ("-f", str(DEPLOY / name))), "config", "-q"],
        env={**os.environ, **secrets},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
