"""What the web app is made of: pages without data, files with a version, two catalogues."""

from __future__ import annotations

import gzip
import json
import re
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

import pytest
from fastapi.testclient import TestClient

import quoth.interfaces.web
from quoth.core.settings import Settings
from quoth.interfaces.http.middleware.security_headers import SECURITY
from quoth.interfaces.web.routes import is_public, load_site

STATIC = Path(quoth.interfaces.web.__file__).parent / "static"
MODULES = sorted(STATIC.rglob("*.js"))
PDF_NAMES = ("pdf.js", "pdf-page.js", "pdf-reader.js")
PDF_MODULES = [module for module in MODULES if module.name in PDF_NAMES]
MAX_KB = 150
MAX_LINES = 300


@pytest.fixture(scope="module")
def client() -> TestClient:
    from fastapi import FastAPI

    from quoth.interfaces.web.routes import router

    app = FastAPI()
    app.state.tenants = SimpleNamespace(settings=Settings(public_url="https://quoth.test/library"))
    app.include_router(router)
    return TestClient(app)


def test_only_the_page_of_a_live_session_may_use_the_microphone(client: TestClient) -> None:
    # The middleware adds the policy of all other pages, which allows nothing.
    assert "microphone=()" in SECURITY["permissions-policy"]
    allowed = client.get("/live/x").headers["permissions-policy"]
    assert allowed == "camera=(), geolocation=(), microphone=(self)"
    for path in ("/", "/live", "/library", "/d/d1", "/pdf/x"):
        assert "permissions-policy" not in client.get(path).headers


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/compare",
        "/history",
        "/library",
        "/settings",
        "/q/q_1",
        "/q/q_1/explain",
        "/d/d1",
        "/live",
        "/live/x",
    ],
)
def test_every_address_of_the_app_is_the_same_page(client: TestClient, path: str) -> None:
    response = client.get(path)
    assert response.content == client.get("/").content
    assert f'src="/library/static/{load_site().version}/app.js"' in response.text
    assert "{" not in response.text
    assert response.headers["cache-control"] == "no-cache"
    assert is_public(path)


def test_data_is_not_public() -> None:
    assert not any(map(is_public, ["/v1/query", "/v1/documents", "/openapi.json", "/metrics"]))


def test_the_page_names_files_that_exist_and_never_change(client: TestClient) -> None:
    app, pdf = client.get("/"), client.get("/pdf/d1")
    named = re.findall(r'(?:href|src)="(/library/static/[^"]+)"', app.text + pdf.text)
    preloaded = re.findall("<([^>]+)>", app.headers["link"])
    modules = {each.partition(f"{load_site().version}/")[2] for each in preloaded}
    assert {"app.js", "vendor/lit.js", "components/proof-pane.js"} < modules
    # What another page needs alone is loaded later.
    assert not modules & {"components/library-page.js", "components/live-page.js", "pdf.js"}
    named += preloaded + re.findall("<([^>]+)>", pdf.headers["link"])
    for address in named:
        response = client.get(address.removeprefix("/library"))
        assert response.status_code == 200
        assert "immutable" in response.headers["cache-control"]


def test_the_bundle_is_small() -> None:
    site = load_site().files.items()
    shown = [content for name, content in site if not name.startswith("vendor/pdfjs/")]
    sent = sum(len(gzip.compress(content)) for content in shown)
    assert sent <= MAX_KB * 1000


def test_the_vendored_file_is_what_its_manifest_says() -> None:
    manifest = json.loads((STATIC / "vendor" / "manifest.json").read_text())
    assert sha256((STATIC / "vendor" / "lit.js").read_bytes()).hexdigest() == manifest["lit.js"]
    licences = (STATIC / "vendor" / "LICENSES.txt").read_text()
    pdfjs = manifest["packages"].pop("pdfjs-dist")
    assert all(f"{name} {version}" in licences for name, version in manifest["packages"].items())
    folder = STATIC / "vendor"
    names = [each for each in folder.glob("pdfjs/**/*") if each.suffix != ".mts" and each.is_file()]
    lines = [
        f"{each.relative_to(folder)} {sha256(each.read_bytes()).hexdigest()}\n"
        for each in sorted(names)
    ]
    assert sha256("".join(lines).encode()).hexdigest() == manifest["pdfjs"]
    assert pdfjs in (folder / "pdfjs" / "pdf.min.mjs").read_text(encoding="utf-8")
    assert "Apache License" in (folder / "pdfjs" / "LICENSE").read_text()


def test_modules_are_short_and_hold_no_unsafe_call() -> None:
    unsafe = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|eval\(|document\.write|unsafeHTML")
    for module in MODULES:
        if module.parent.name == "vendor":
            continue
        text = module.read_text(encoding="utf-8")
        assert len(text.splitlines()) <= MAX_LINES, module.name
        assert not unsafe.search(text), module.name


def test_both_languages_have_every_message() -> None:
    english, french = (
        json.loads((STATIC / "locales" / f"{name}.json").read_text(encoding="utf-8"))
        for name in ("en", "fr")
    )
    # The service itself says in English what these say in French.
    groups = ("stage.", "understood.", "question.")
    own = {key for key in french if key.startswith(groups)}
    assert english.keys() == french.keys() - own
    for key, text in english.items():
        assert set(re.findall(r"\{\w+\}", text)) == set(re.findall(r"\{\w+\}", french[key])), key
    used = re.compile(r"""\bt\(\s*"([a-zA-Z.]+)"[,)\s]""")
    for module in MODULES:
        for key in used.findall(module.read_text(encoding="utf-8")):
            assert key in english or f"{key}.other" in english, f"{module.name}: {key}"
