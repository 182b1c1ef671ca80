"""Write the vendored files of the web app, Lit and pdf.js, from pinned npm packages.

Run it to change a version; the result is committed, so that nothing is built at install or run
time. Needs node and npm. ``--check`` builds again and fails where a committed file differs.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path

VENDOR = Path(__file__).parents[1] / "src/quoth/interfaces/web/static/vendor"
PACKAGES = {
    "lit": "3.3.3",
    "lit-element": "4.2.2",
    "lit-html": "3.3.3",
    "@lit/reactive-element": "2.1.2",
}
"""Versions of what goes into the bundle."""
ESBUILD = "0.28.2"
ENTRY = """
export { LitElement, html, svg, nothing } from "lit";
export { repeat } from "lit/directives/repeat.js";
export { live } from "lit/directives/live.js";
"""


PDFJS = "5.6.205"
PDFJS_FILES = (
    "build/pdf.min.mjs",
    "build/pdf.worker.min.mjs",
    "cmaps/*",
    "iccs/*",
    "standard_fonts/*",
    "wasm/*.wasm",
    "wasm/LICENSE*",
    "LICENSE",
)
"""What is taken of pdf.js: its library, its worker, and the data that they load when needed."""


def build(folder: Path) -> dict[str, bytes]:
    """Return the files by their place in the vendor folder."""
    dependencies = {**PACKAGES, "esbuild": ESBUILD, "pdfjs-dist": PDFJS}
    (folder / "package.json").write_text(
        json.dumps({"private": True, "dependencies": dependencies, "overrides": PACKAGES})
    )
    (folder / "entry.js").write_text(ENTRY)
    run = {"cwd": folder, "check": True, "stdout": subprocess.DEVNULL}
    subprocess.run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund"], **run)
    options = ["--bundle", "--minify", "--format=esm", "--legal-comments=none", "--target=es2022"]
    program = folder / "node_modules/.bin/esbuild"
    subprocess.run([program, "entry.js", *options, "--outfile=lit.js", "--log-level=error"], **run)
    licences = [
        f"{name} {version}\n\n{(folder / 'node_modules' / name / 'LICENSE').read_text()}"
        for name, version in PACKAGES.items()
        if (folder / "node_modules" / name / "LICENSE").exists()
    ]
    library = folder / "node_modules/pdfjs-dist"
    names = (path for pattern in PDFJS_FILES for path in sorted(library.glob(pattern)))
    return {
        "lit.js": (folder / "lit.js").read_bytes(),
        "LICENSES.txt": "\n".join(licences).encode(),
        **{
            f"pdfjs/{str(path.relative_to(library)).removeprefix('build/')}": path.read_bytes()
            for path in names
        },
    }


def checksum(files: dict[str, bytes]) -> str:
    """Return one checksum of files, which changes with any name or content."""
    digest = sha256()
    for name, content in sorted(files.items()):
        digest.update(f"{name} {sha256(content).hexdigest()}\n".encode())
    return digest.hexdigest()


def main() -> None:
    """Build the files; write them, or compare them with the committed ones."""
    with tempfile.TemporaryDirectory() as folder:
        made = build(Path(folder))
    if "--check" in sys.argv:
        different = [
            name
            for name, content in made.items()
            if not (VENDOR / name).is_file() or (VENDOR / name).read_bytes() != content
        ]
        if different:
            sys.exit(f"Not what the pinned packages give: {', '.join(different)}.")
        print("The vendored files are what the pinned packages give.")
        return
    for path in [*VENDOR.glob("pdfjs/**/*")]:
        if path.is_file() and not path.name.endswith(".d.mts"):  # our own types stay
            path.unlink()
    for name, content in made.items():
        (VENDOR / name).parent.mkdir(parents=True, exist_ok=True)
        (VENDOR / name).write_bytes(content)
    pdfjs = {name: content for name, content in made.items() if name.startswith("pdfjs/")}
    manifest = {
        "packages": PACKAGES | {"pdfjs-dist": PDFJS},
        "esbuild": ESBUILD,
        "lit.js": sha256(made["lit.js"]).hexdigest(),
        "pdfjs": checksum(pdfjs),
    }
    (VENDOR / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")
    print(f"Wrote {len(made)} files, {sum(map(len, made.values())):,} bytes.")


if __name__ == "__main__":
    main()
