"""Write the vendored bundle of the web app from pinned npm packages.

Run it to change a version; the result is committed, so that nothing is built at install or run
time. Needs node and npm. ``--check`` builds again and fails where the committed file differs.
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


def build(folder: Path) -> tuple[bytes, str]:
    """Return the bundle and the licences of its packages."""
    dependencies = {**PACKAGES, "esbuild": ESBUILD}
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
    return (folder / "lit.js").read_bytes(), "\n".join(licences)


def main() -> None:
    """Build the bundle; write it, or compare it with the committed one."""
    with tempfile.TemporaryDirectory() as folder:
        bundle, licences = build(Path(folder))
    if "--check" in sys.argv:
        if (VENDOR / "lit.js").read_bytes() != bundle:
            sys.exit("vendor/lit.js is not what its pinned packages give.")
        print("vendor/lit.js is what its pinned packages give.")
        return
    VENDOR.mkdir(parents=True, exist_ok=True)
    (VENDOR / "lit.js").write_bytes(bundle)
    (VENDOR / "LICENSES.txt").write_text(licences)
    made = {"packages": PACKAGES, "esbuild": ESBUILD, "lit.js": sha256(bundle).hexdigest()}
    (VENDOR / "manifest.json").write_text(json.dumps(made, indent=2) + "\n")
    print(f"Wrote lit.js, {len(bundle):,} bytes.")


if __name__ == "__main__":
    main()
